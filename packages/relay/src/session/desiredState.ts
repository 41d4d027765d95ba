import { emptyOutputSet, equalJson, kindKeyOf, type OutputSet, type Resource, type ResourceRef, refOf, SortedMap } from "@isthmus/core";
import type { DeleteRequest, DeletionCause } from "./link.ts";
import type { Outgoing } from "./outbox.ts";
import { tracesField } from "./traces.ts";
import { refBytes, removalBytes } from "./wire.ts";

/** What the server wants in one cluster, kept whether an agent is connected or not. Immutable. */
export interface DesiredState {
  readonly desired: OutputSet;
  /** What is no longer desired and has not been seen to be gone. */
  readonly deletions: SortedMap<DesiredChange>;
  /** Whether a complete set that is sent now says nothing against objects that it lacks. */
  readonly holdsSurplus: () => boolean;
}

/** One object to put, or to remove. */
export interface DesiredChange extends Outgoing {
  readonly removal?: DeleteRequest;
}

export interface DesiredStep {
  readonly state: DesiredState;
  readonly changes: readonly DesiredChange[];
  /** Objects that stay though they are not desired, as nobody can say why they should go. */
  readonly unexplained: readonly ResourceRef[];
  /** Ids of the changes that led to it. */
  readonly traces?: readonly string[];
}

/**
 * Goes from what was desired to what is desired now, at the cost of what differs; equal content is no change. Evidence is asked
 * for once, when an object ceases to be desired. `before`: undefined when nothing has been desired yet.
 */
export function updateDesired(
  before: DesiredState | undefined,
  wanted: OutputSet,
  { evidenceOf, holdsSurplus = () => false, traces = [] }: DeletionCause,
): DesiredStep {
  const changes: DesiredChange[] = [];
  const unexplained: ResourceRef[] = [];
  for (const change of wanted.changesSince(before?.desired ?? emptyOutputSet(wanted.owner))) {
    const { key } = change;
    const [known, resource] = [change.before?.resource, change.after?.resource];
    if (resource !== undefined) {
      if (!equalJson(known, resource)) changes.push(putOf(key, resource));
    } else if (known !== undefined) {
      const ref = refOf(known);
      const evidence = evidenceOf(ref);
      if (evidence.inputs.length === 0) unexplained.push(ref);
      else changes.push(removalOf(key, { ref, evidence }));
    }
  }
  const removals = (before?.deletions ?? SortedMap.empty<DesiredChange>()).update(
    changes.map((change) => [change.key, change.removal === undefined ? undefined : change] as const),
  );
  return { state: { desired: wanted, deletions: removals, holdsSurplus }, changes, unexplained, ...tracesField(traces) };
}

/** The removals that were carried out need not be said again. */
export function withoutDeletions(want: DesiredState, removed: readonly DesiredChange[]): DesiredState {
  // A removal that has been desired again since, with other evidence, stays.
  const done = removed.filter((change) => want.deletions.get(change.key) === change);
  return done.length === 0 ? want : { ...want, deletions: want.deletions.update(done.map(({ key }) => [key, undefined])) };
}

/** Everything that a complete set says. */
export function completeSetOf({ desired: wanted, deletions: removals }: DesiredState): SortedMap<DesiredChange> {
  return removals.update([...wanted.entries()].map(([key, { resource }]) => [key, putOf(key, resource)] as const));
}

function removalOf(key: string, removal: DeleteRequest): DesiredChange {
  return { key, kind: kindKeyOf(removal.ref), removal, bytes: removalBytes(removal) };
}

function putOf(key: string, resource: Resource): DesiredChange {
  return { key, kind: kindKeyOf(resource), resource, bytes: refBytes(refOf(resource)) };
}
