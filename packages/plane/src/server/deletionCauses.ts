import { type Index, type Kind, kindKeyOf, type Resource, type ResourceRef, refOf, resourceKeyOf, type Snapshot } from "@isthmus/core";
import type { DeletionEvidence } from "@isthmus/ports";
import { deletionCausesOf, exclusionsOf, type Translation } from "@isthmus/translators";
import { DISCOVERED_IN } from "./lastKnownObjects.ts";

/**
 * Why an output of an earlier translation is no longer desired: which of the objects that it was made of are gone, or else which
 * changed. A Destination that is gone because its cluster's registration was deleted, or because somebody edited where discovery looks,
 * went on purpose: that is reported too.
 */
export function deletionCausesFor(ref: ResourceRef, { before, now, registration }: DeletionCauseSources): DeletionEvidence {
  const causes = before === undefined ? [] : deletionCausesOf(before, ref);
  const gone = causes.filter((cause) => known(cause, now.attached) === undefined);
  if (gone.length > 0)
    return { reason: "InputRemoved", inputs: [...gone, ...withdrawn(gone, before, now, registration), ...edited(gone, before, now)] };
  const changed = before === undefined ? [] : causes.filter((cause) => known(cause, before.attached) !== known(cause, now.attached));
  const inputs = changed.length > 0 ? changed : causes;
  // Without causes the object itself stands for them: nothing in the whole input asks for it.
  return { reason: "InputChanged", inputs: inputs.length > 0 ? inputs : [ref] };
}

export interface DeletionCauseSources {
  readonly before: Translation | undefined;
  readonly now: Translation;
  /** The kind whose objects register clusters. */
  readonly registration: Kind;
}

/** The registrations that were deleted, of the clusters in which `gone` had been discovered. */
function withdrawn(
  gone: readonly ResourceRef[],
  before: Translation | undefined,
  now: Translation,
  registration: Kind,
): readonly ResourceRef[] {
  if (before === undefined) return [];
  const clusters = gone.map((ref) => known(ref, before.attached)?.metadata.labels?.[DISCOVERED_IN]).filter((name) => name !== undefined);
  return [...new Set(clusters)]
    .flatMap((name) => before.attached.of(registration).where(byName, name).map(refOf))
    .filter((ref) => known(ref, now.attached) === undefined);
}

/** The edits by which `gone` is not discovered any more. */
function edited(gone: readonly ResourceRef[], before: Translation | undefined, now: Translation): readonly ResourceRef[] {
  if (before === undefined) return [];
  const edits = gone.flatMap((ref) => exclusionsOf(ref, before, now));
  return [...new Map(edits.map((ref) => [resourceKeyOf(ref), ref])).values()];
}

const byName: Index<Resource> = ({ metadata }) => [metadata.name];

function known(ref: ResourceRef, snapshot: Snapshot): Resource | undefined {
  return snapshot.collections().get(kindKeyOf(ref))?.get(ref);
}
