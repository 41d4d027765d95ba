import {
  type Clock,
  type CooperativeTask,
  type Delta,
  kindKeyOf,
  type Owner,
  type Resource,
  type ResourceRef,
  refOf,
  resourceKeyOf,
  type Snapshot,
  SortedMap,
} from "@isthmus/core";
import type { DeletionEvidence } from "@isthmus/ports";
import type { Applier } from "../apply/applier.ts";
import { type Orphan, orphans } from "../apply/orphans.ts";
import { bearsLabelOf } from "../apply/ownership.ts";

/** Writes outputs into the management cluster itself, through the same applier that agents use. */
export interface Publisher {
  /**
   * In steps, publishes what is desired now, by `resourceKeyOf`, at the cost of what differs from what was desired before. To be called
   * only when every kind of the management cluster is known: what else bears our label is pruned at the first call.
   */
  publish(wanted: SortedMap<Resource>, basis: PublicationBasis): CooperativeTask<void>;
  /**
   * The management cluster has changed: what bears our label and comes to be though it is not desired is pruned, after a while, once
   * something was published by a state of the cluster that is younger.
   */
  observed(delta: Delta): void;
}

/** What a publication follows from. */
export interface PublicationBasis {
  /** The management cluster: what stood there for clusters of which nothing is known is desired. */
  readonly management: Snapshot;
  /** When that state of the management cluster was taken, by `uptimeOf`. */
  readonly takenAt: number;
  readonly evidenceOf: (resource: Resource) => DeletionEvidence;
}

export interface PublisherOptions {
  readonly applier: Applier;
  readonly owners: readonly Owner[];
  /** The kinds that may be published, by `kindKeyOf`. */
  readonly isPublished: (resource: Resource) => boolean;
  readonly clock: Clock;
  /** Called when something has returned: it has to be decided, by publishing once more, whether it is desired. */
  readonly undecided: () => void;
}

/**
 * Publishes by `applier`: everything at the first `publish`, which prunes the surplus, and then what changed. `signal` ends the wait for
 * objects that came back.
 */
export function publisher({ applier, owners, isPublished, clock, undecided }: PublisherOptions, signal: AbortSignal): Publisher {
  let published: SortedMap<Resource> | undefined;
  let decidedAt = Number.NEGATIVE_INFINITY;
  const returned = orphans({ clock, due: pruneReturned }, signal);

  function prune(refs: readonly ResourceRef[], reason: string): void {
    for (const ref of refs) applier.prune(ref, reason);
  }

  /** A state that was taken before may hold what an object of the same name was before it was deleted: that decides nothing. */
  function pruneReturned(found: readonly Orphan[]): void {
    const isDecided = ({ since }: Orphan) => decidedAt > since;
    prune(
      found.filter(isDecided).map(({ ref }) => ref),
      "it was restored, and is not in the desired state",
    );
    for (const orphan of found) if (!isDecided(orphan)) waitFor(orphan.ref);
  }

  function waitFor(ref: ResourceRef): void {
    returned.seen(ref);
    undecided();
  }

  /** What came while the first state was translated was not looked at. */
  function pruneSurplus(wanted: SortedMap<Resource>, management: Snapshot): void {
    const collections = management.collections();
    for (const ref of applier.surplus(new Set(keysOf(wanted)))) {
      if (collections.get(kindKeyOf(ref))?.get(ref) === undefined) waitFor(ref);
      else applier.prune(ref, "not in the desired state");
    }
  }

  return {
    *publish(wanted, basis) {
      const isFirst = published === undefined;
      for (const { key, before, after } of wanted.changesSince(published ?? SortedMap.empty<Resource>())) {
        if (after !== undefined) applier.put(after, key);
        else if (before !== undefined) applier.remove({ ref: refOf(before), evidence: basis.evidenceOf(before) });
        yield;
      }
      published = wanted;
      decidedAt = basis.takenAt;
      if (isFirst) pruneSurplus(wanted, basis.management);
    },
    observed({ put, remove }) {
      if (published === undefined) return;
      for (const resource of put) {
        const ref = refOf(resource);
        if (!isPublished(resource)) continue;
        if (bearsLabelOf(resource, owners) && !applier.desired.has(resourceKeyOf(ref))) waitFor(ref);
        else returned.remove(ref);
      }
      for (const ref of remove) returned.remove(ref);
    },
  };
}

function* keysOf(wanted: SortedMap<Resource>): Iterable<string> {
  for (const [key] of wanted) yield key;
}
