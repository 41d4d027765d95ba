import {
  type Clock,
  type CooperativeTask,
  type Delta,
  emptySnapshot,
  kindKeyOf,
  type Owner,
  type Resource,
  type ResourceRef,
  refOf,
  resourceKeyOf,
  type Snapshot,
  SortedMap,
} from "@isthmus/core";
import type { Applier } from "../apply/applier.ts";
import { orphans } from "../apply/orphans.ts";
import { bearsLabelOf } from "../apply/ownership.ts";
import type { DeletionEvidence } from "../ports/clusterPort.ts";

/** Writes outputs into the management cluster itself, through the same applier that agents use. */
export interface Publisher {
  /**
   * In steps, publishes what is wanted now, by `resourceKeyOf`, at the cost of what differs from what was wanted before. To be called
   * only when every kind of the management cluster is known: what else bears our label is pruned at the first call.
   */
  publish(wanted: SortedMap<Resource>, basis: PublicationBasis): CooperativeTask<void>;
  /**
   * The management cluster has changed: what bears our label and comes to be though it is not wanted is pruned, after a while, if by then
   * something was published by a state of the cluster in which it was.
   */
  observed(delta: Delta): void;
}

/** What a publication follows from. */
export interface PublicationBasis {
  /** The management cluster: what stood there for clusters of which nothing is known is wanted. */
  readonly management: Snapshot;
  readonly evidenceOf: (resource: Resource) => DeletionEvidence;
}

export interface PublisherOptions {
  readonly applier: Applier;
  readonly owners: readonly Owner[];
  /** The kinds that may be published, by `kindKeyOf`. */
  readonly isPublished: (resource: Resource) => boolean;
  readonly clock: Clock;
  /** Called when something has returned: it has to be decided, by publishing once more, whether it is wanted. */
  readonly undecided: () => void;
}

export function publisher({ applier, owners, isPublished, clock, undecided }: PublisherOptions, signal: AbortSignal): Publisher {
  let published: SortedMap<Resource> | undefined;
  let management = emptySnapshot();
  const returned = orphans({ clock, due: pruneReturned }, signal);

  function prune(refs: readonly ResourceRef[], reason: string): void {
    for (const ref of refs) applier.prune(ref, reason);
  }

  function pruneReturned(refs: readonly ResourceRef[]): void {
    const collections = management.collections();
    const isDecided = (ref: ResourceRef) => collections.get(kindKeyOf(ref))?.get(ref) !== undefined;
    prune(refs.filter(isDecided), "it was restored, and is not in the desired state");
    for (const ref of refs) if (!isDecided(ref)) waitFor(ref);
  }

  function waitFor(ref: ResourceRef): void {
    returned.seen(ref);
    undecided();
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
      management = basis.management;
      if (isFirst) prune(applier.surplus(new Set(keysOf(wanted))), "not in the desired state");
    },
    observed({ put, remove }) {
      if (published === undefined) return;
      for (const resource of put) {
        const ref = refOf(resource);
        if (!isPublished(resource)) continue;
        if (bearsLabelOf(resource, owners) && !applier.wanted.has(resourceKeyOf(ref))) waitFor(ref);
        else returned.settled(ref);
      }
      for (const ref of remove) returned.settled(ref);
    },
  };
}

function* keysOf(wanted: SortedMap<Resource>): Iterable<string> {
  for (const [key] of wanted) yield key;
}
