import { type CooperativeTask, equalJson, type Table, withEach } from "@isthmus/core";

/**
 * A table with the rows of `keys` made again; `undefined` takes a row away. From scratch the table is empty and `keys` are all there
 * are. `make` should give the row that was there when the new one says the same, so that nobody downstream needs to look at it.
 * A row is a step.
 */
export function* recompute<V extends object>(
  table: Table<V>,
  keys: Iterable<string>,
  make: (key: string, before: V | undefined) => V | undefined,
): CooperativeTask<Table<V>> {
  return yield* withEach(table, yield* recomputeRows(table, keys, make));
}

/** The rows in which such a table differs. */
export function* recomputeRows<V extends object>(
  table: Table<V>,
  keys: Iterable<string>,
  make: (key: string, before: V | undefined) => V | undefined,
): CooperativeTask<readonly (readonly [string, V | undefined])[]> {
  const changes: (readonly [string, V | undefined])[] = [];
  for (const key of keys) {
    const before = table.row(key);
    const after = make(key, before);
    if (after !== before) changes.push([key, after]);
    yield;
  }
  return changes;
}

/** The keys of all rows, in order. */
export function* keysOf<V>(table: Table<V>): Iterable<string> {
  for (const [key] of table.entries()) yield key;
}

/** Whether two flat records hold the same values; lists are compared element by element. */
export function isSameRecord<R extends object>(a: R, b: R): boolean {
  const left = a as Readonly<Record<string, unknown>>;
  const right = b as Readonly<Record<string, unknown>>;
  let count = 0;
  for (const key in left) {
    count++;
    if (!isSame(left[key], right[key])) return false;
  }
  for (const _ in right) count--;
  return count === 0;
}

/** Whether two values are the same; lists are, when their elements are. */
export function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (!Array.isArray(a) || !Array.isArray(b)) return false;
  return a.length === b.length && a.every((element, i) => element === b[i]);
}

/** `after`, or `before` where that says the same. */
export function reuseIfEqual<T>(after: T, before: T | undefined): T {
  return before !== undefined && equalJson(before, after) ? before : after;
}
