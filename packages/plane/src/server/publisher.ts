import { type OutputSet, type Resource, refOf, resourceKeyOf } from "@isthmus/core";
import type { Applier } from "../applier.ts";
import type { Evidence } from "../ports.ts";
import { changesBetween } from "./wanted.ts";

/** Writes outputs into the management cluster itself, through the same applier that agents use. */
export interface Publisher {
  /**
   * Publishes what is wanted now. To be called only when every kind of the management cluster is known: what else bears our
   * label is pruned at the first call.
   */
  publish(wanted: ReadonlyMap<string, Resource>, evidenceOf: (resource: Resource) => Evidence): void;
}

export function publisher(applier: Applier): Publisher {
  let published: ReadonlyMap<string, Resource> | undefined;
  return {
    publish(wanted, evidenceOf) {
      const before = published;
      const { put, remove } = changesBetween(before ?? new Map(), wanted);
      for (const resource of put) applier.put(resource);
      for (const ref of remove) {
        const resource = before?.get(resourceKeyOf(ref));
        if (resource !== undefined) applier.remove({ ref, evidence: evidenceOf(resource) });
      }
      if (before === undefined) {
        for (const ref of applier.surplus(new Set(wanted.keys()))) applier.prune(ref, "nothing that is known asks for it");
      }
      // A copy: the map may change under its owner's hands.
      published = new Map(wanted);
    },
  };
}

/** All outputs of a set by `resourceKeyOf`. */
export function byKey(outputs: OutputSet): ReadonlyMap<string, Resource> {
  return new Map([...outputs].map(({ resource }) => [resourceKeyOf(refOf(resource)), resource]));
}
