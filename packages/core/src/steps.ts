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
  readonly size: number;
  with(changes: Iterable<readonly [string, V | undefined]>): Self;
}

type Entry<V> = readonly [string, V | undefined];

/** A table, collection or output set with many changes made, the last of each key. */
export function* withEach<V, Self extends Changeable<V, Self>>(table: Self, changes: readonly Entry<V>[]): Steps<Self> {
  if (changes.length <= PART) return table.with(changes);
  // In the order of their keys, each part changes one stretch of the table; else it would copy nearly all of it.
  const sorted = yield* inKeyOrder(changes);
  const part = table.size > changes.length ? SPARSE_PART : PART;
  let changed = table;
  for (let from = 0; from < sorted.length; from += part) {
    changed = changed.with(sorted.slice(from, from + part));
    yield;
  }
  return changed;
}

/** Entries in the order of their keys; those of one key stay in theirs. */
export function* inKeyOrder<E extends readonly [string, unknown]>(entries: readonly E[]): Steps<readonly E[]> {
  let runs: (readonly E[])[] = [];
  for (let from = 0; from < entries.length; ) {
    const to = yield* endOfRun(entries, from);
    // What is in order is left so: what clusters hold comes one after the other, each in order.
    const run = to - from >= PART ? entries.slice(from, to) : entries.slice(from, from + PART).sort(byKey);
    runs.push(run);
    from += run.length;
    yield;
  }
  while (runs.length > 1) {
    const longer: (readonly E[])[] = [];
    for (let i = 0; i < runs.length; i += 2) longer.push(yield* mergedRuns(runs[i] ?? [], runs[i + 1] ?? []));
    runs = longer;
  }
  return runs[0] ?? [];
}

/** Where the entries from `from` on are in order no longer. */
function* endOfRun<E extends readonly [string, unknown]>(entries: readonly E[], from: number): Steps<number> {
  let to = from + 1;
  for (; to < entries.length && byKey(entries[to - 1] as E, entries[to] as E) <= 0; to++) if (to % PART === 0) yield;
  return to;
}

function* mergedRuns<E extends readonly [string, unknown]>(first: readonly E[], second: readonly E[]): Steps<readonly E[]> {
  let [left, right] = [first[0], second[0]];
  const last = first[first.length - 1];
  if (last === undefined || right === undefined || last[0] <= right[0]) return second.length === 0 ? first : first.concat(second);
  const all: E[] = [];
  let [i, j] = [0, 0];
  while (left !== undefined && right !== undefined) {
    if (all.length % PART === 0) yield;
    if (left[0] <= right[0]) {
      all.push(left);
      left = first[++i];
    } else {
      all.push(right);
      right = second[++j];
    }
  }
  return all.concat(first.slice(i), second.slice(j));
}

function byKey(left: readonly [string, unknown], right: readonly [string, unknown]): number {
  return left[0] < right[0] ? -1 : left[0] > right[0] ? 1 : 0;
}

// A few milliseconds.
const PART = 2_048;
// As much where most changes have a stretch of some hundred rows to themselves, all of which is copied.
const SPARSE_PART = 256;
