import { isSame } from "./incremental/rows.ts";

/**
 * A list, or one of the same objects that came before: the policies and meshes of one Destination are those of many. One list is
 * known of each `origin` (by default what lists begin with; else what they were made of, say), and one of each end.
 */
export function sharedList<T extends object>(list: readonly T[], origin: object | undefined = list[0]): readonly T[] {
  const last = list[list.length - 1];
  if (origin === undefined || last === undefined) return list;
  for (const known of [byOrigin.get(origin), byEnd.get(last)]) {
    // Of the same objects, and so of the same type. What is found one way leaves the other to another list.
    if (known !== undefined && isSame(known, list)) return known as readonly T[];
  }
  byOrigin.set(origin, list);
  byEnd.set(last, list);
  return list;
}

const byOrigin = new WeakMap<object, readonly object[]>();
const byEnd = new WeakMap<object, readonly object[]>();
