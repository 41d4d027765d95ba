/**
 * Work in small steps, with its result at the end: between any two of them whoever drives it may do something else, or give it up.
 * What it reads must be immutable. One implementation serves those who wait for the result and those who must not hold others up.
 */
export type Steps<T> = Generator<undefined, T, undefined>;

/** Does all of it at once. */
export function finished<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** What is changed by key, and shares what did not change. */
interface Changeable<V, Self> {
  with(changes: Iterable<readonly [string, V | undefined]>): Self;
}

type Entry<V> = readonly [string, V | undefined];

/** A table, collection or output set with many changes made, the last of each key. */
export function* withEach<V, Self extends Changeable<V, Self>>(table: Self, changes: readonly Entry<V>[]): Steps<Self> {
  if (changes.length <= PART) return table.with(changes);
  // In the order of their keys, each part changes one stretch of the table; else it would copy nearly all of it.
  const sorted = yield* inKeyOrder(changes);
  let changed = table;
  for (let from = 0; from < sorted.length; from += PART) {
    changed = changed.with(sorted.slice(from, from + PART));
    yield;
  }
  return changed;
}

/** Entries in the order of their keys; those of one key stay in theirs. */
export function* inKeyOrder<E extends readonly [string, unknown]>(entries: readonly E[]): Steps<readonly E[]> {
  let runs: (readonly E[])[] = [];
  for (let from = 0; from < entries.length; from += PART) {
    runs.push(entries.slice(from, from + PART).sort(byKey));
    yield;
  }
  while (runs.length > 1) {
    const longer: (readonly E[])[] = [];
    for (let i = 0; i < runs.length; i += 2) longer.push(yield* mergedRuns(runs[i] ?? [], runs[i + 1] ?? []));
    runs = longer;
  }
  return runs[0] ?? [];
}

function* mergedRuns<E extends readonly [string, unknown]>(first: readonly E[], second: readonly E[]): Steps<readonly E[]> {
  const [last, next] = [first[first.length - 1], second[0]];
  if (last === undefined || next === undefined || last[0] <= next[0]) return second.length === 0 ? first : first.concat(second);
  const all: E[] = [];
  for (let i = 0, j = 0; i < first.length || j < second.length; ) {
    if (all.length % PART === 0) yield;
    const [left, right] = [first[i], second[j]];
    if (right === undefined || (left !== undefined && left[0] <= right[0])) {
      all.push(left as E);
      i++;
    } else {
      all.push(right);
      j++;
    }
  }
  return all;
}

function byKey(left: readonly [string, unknown], right: readonly [string, unknown]): number {
  return left[0] < right[0] ? -1 : left[0] > right[0] ? 1 : 0;
}

// A few milliseconds.
const PART = 2_048;
