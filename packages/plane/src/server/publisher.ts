import { type CooperativeTask, type Resource, refOf, SortedMap } from "@isthmus/core";
import type { Applier } from "../apply/applier.ts";
import type { DeletionEvidence } from "../ports/clusterPort.ts";

/** Writes outputs into the management cluster itself, through the same applier that agents use. */
export interface Publisher {
  /**
   * In steps, publishes what is wanted now, by `resourceKeyOf`, at the cost of what differs from what was wanted before. To be called
   * only when every kind of the management cluster is known: what else bears our label is pruned at the first call.
   */
  publish(wanted: SortedMap<Resource>, evidenceOf: (resource: Resource) => DeletionEvidence): CooperativeTask<void>;
}

export function publisher(applier: Applier): Publisher {
  let published: SortedMap<Resource> | undefined;
  return {
    *publish(wanted, evidenceOf) {
      const isFirst = published === undefined;
      for (const { key, before, after } of wanted.changesSince(published ?? SortedMap.empty<Resource>())) {
        if (after !== undefined) applier.put(after, key);
        else if (before !== undefined) applier.remove({ ref: refOf(before), evidence: evidenceOf(before) });
        yield;
      }
      published = wanted;
      if (!isFirst) return;
      for (const ref of applier.surplus(new Set(keysOf(wanted)))) applier.prune(ref, "not in the desired state");
    },
  };
}

function* keysOf(wanted: SortedMap<Resource>): Iterable<string> {
  for (const [key] of wanted) yield key;
}
