import { isSame } from "./incremental/rows.ts";

/** A list, or one of the same objects that came before: the policies and meshes of one Destination are those of many. */
export function sharedList<T extends object>(list: readonly T[]): readonly T[] {
  const [first] = list;
  if (first === undefined) return list;
  const known = lists.get(first);
  // What is kept under an object begins with it.
  if (known !== undefined && isSame(known, list)) return known as readonly T[];
  lists.set(first, list);
  return list;
}

// The list that came last, of those that begin with an object.
const lists = new WeakMap<object, readonly object[]>();
