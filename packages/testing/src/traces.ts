import { type AnyResource, type Delta, refOf } from "@isthmus/core";
import fc from "fast-check";

/** One change of the world. */
export type Step = Delta;

/** Changes of a world that starts with `start`: some of its objects go, some of `others` come or take the place of their like. */
export function stepsOver(start: readonly AnyResource[], others: readonly AnyResource[]): fc.Arbitrary<readonly Step[]> {
  const known = [...start, ...others];
  if (known.length === 0) return fc.constant([]);
  const removal = fc.constantFrom(...known).map((resource): Step => ({ put: [], remove: [refOf(resource)] }));
  const arrival = fc
    .subarray([...known], { maxLength: Math.min(4, known.length) })
    .map((resources): Step => ({ put: resources, remove: [] }));
  return fc.array(fc.oneof(removal, arrival), { maxLength: 6 });
}
