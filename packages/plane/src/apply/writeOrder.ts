import { type Kind, kindKeyOf, type Resource, type ResourceRef, refOf } from "@isthmus/core";
import type { WorkOrder } from "../runtime/workOrder.ts";

/** What is written or deleted. */
type Write = { readonly put: Resource } | { readonly remove: ResourceRef };

/**
 * In which order objects are written that refer to each other: what others refer to first, and it is deleted last. So no object names
 * what is not there yet, or not any more. `refersTo`: the kinds to whose objects those of a kind refer, per `kindKeyOf`.
 */
export function writeOrder(refersTo: ReadonlyMap<string, readonly Kind[]>): WorkOrder<Write> {
  const putsBefore = new Map<string, readonly string[]>();
  const writesBeforeDelete = new Map<string, readonly string[]>();
  for (const [kindKey, referred] of refersTo) {
    putsBefore.set(
      kindKey,
      referred.map((kind) => putOf(kindKeyOf(kind))),
    );
    for (const kind of referred) {
      const before = writesBeforeDelete.get(kindKeyOf(kind)) ?? [];
      writesBeforeDelete.set(kindKeyOf(kind), [...before, putOf(kindKey), removeOf(kindKey)]);
    }
  }
  return {
    groupOf: (write) => ("put" in write ? putOf(kindKeyOf(refOf(write.put))) : removeOf(kindKeyOf(write.remove))),
    waitsFor: (write) =>
      ("put" in write ? putsBefore.get(kindKeyOf(refOf(write.put))) : writesBeforeDelete.get(kindKeyOf(write.remove))) ?? [],
  };
}

const putOf = (kindKey: string): string => `put ${kindKey}`;
const removeOf = (kindKey: string): string => `remove ${kindKey}`;
