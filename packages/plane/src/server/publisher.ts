import { type OutputSet, type Resource, refOf, resourceKeyOf } from "@isthmus/core";
import type { Applier } from "../applier.ts";
import type { Evidence } from "../ports.ts";
import { changesBetween } from "./wanted.ts";

/** Writes outputs into the management cluster itself, through the same applier that agents use. */
export interface Publisher {
  /**
   * Publishes what is wanted now. `kept` are objects of ours that are to stay though nothing derives them now.
   * To be called only when every kind of the management cluster is known: what else bears our label is pruned at the first call.
   */
  publish(wanted: ReadonlyMap<string, Resource>, kept: ReadonlyMap<string, Resource>, evidenceOf: (resource: Resource) => Evidence): void;
}

export function publisher(applier: Applier): Publisher {
  let published: ReadonlyMap<string, Resource> | undefined;
  return {
    publish(wanted, kept, evidenceOf) {
      const all = new Map([...kept, ...wanted]);
      const { put, remove } = changesBetween(published ?? new Map(), all);
      for (const resource of put) if (wanted.has(resourceKeyOf(refOf(resource)))) applier.put(resource);
      const before = published;
      for (const ref of remove) {
        const resource = before?.get(resourceKeyOf(ref));
        if (resource !== undefined) applier.remove({ ref, evidence: evidenceOf(resource) });
      }
      if (before === undefined) applier.retainOnly(new Set(all.keys()));
      published = all;
    },
  };
}

/** All outputs of a set by `resourceKeyOf`. */
export function byKey(outputs: OutputSet): ReadonlyMap<string, Resource> {
  return new Map([...outputs].map(({ resource }) => [resourceKeyOf(refOf(resource)), resource]));
}
