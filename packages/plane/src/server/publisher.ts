import { type Clock, type CooperativeTask, type Delta, type Owner, type Resource, refOf, resourceKeyOf, SortedMap } from "@isthmus/core";
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
  publish(wanted: SortedMap<Resource>, evidenceOf: (resource: Resource) => DeletionEvidence): CooperativeTask<void>;
  /** The management cluster has changed: what bears our label and comes to be though it is not wanted is pruned, after a while. */
  observed(delta: Delta): void;
}

export interface PublisherOptions {
  readonly applier: Applier;
  readonly owners: readonly Owner[];
  /** The kinds that may be published, by `kindKeyOf`. */
  readonly isPublished: (resource: Resource) => boolean;
  readonly clock: Clock;
}

export function publisher({ applier, owners, isPublished, clock }: PublisherOptions, signal: AbortSignal): Publisher {
  let published: SortedMap<Resource> | undefined;
  const returned = orphans({ clock, due: (refs) => prune(refs, "it was restored, and is not in the desired state") }, signal);

  function prune(refs: readonly ReturnType<typeof refOf>[], reason: string): void {
    for (const ref of refs) applier.prune(ref, reason);
  }

  return {
    *publish(wanted, evidenceOf) {
      const isFirst = published === undefined;
      for (const { key, before, after } of wanted.changesSince(published ?? SortedMap.empty<Resource>())) {
        if (after !== undefined) applier.put(after, key);
        else if (before !== undefined) applier.remove({ ref: refOf(before), evidence: evidenceOf(before) });
        yield;
      }
      published = wanted;
      if (isFirst) prune(applier.surplus(new Set(keysOf(wanted))), "not in the desired state");
    },
    observed({ put, remove }) {
      if (published === undefined) return;
      for (const resource of put) {
        const ref = refOf(resource);
        if (!isPublished(resource)) continue;
        if (bearsLabelOf(resource, owners) && !applier.wanted.has(resourceKeyOf(ref))) returned.seen(ref);
        else returned.settled(ref);
      }
      for (const ref of remove) returned.settled(ref);
    },
  };
}

function* keysOf(wanted: SortedMap<Resource>): Iterable<string> {
  for (const [key] of wanted) yield key;
}
