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

/** A table, collection or output set with many changes made, the last of each key. */
export function* withEach<V, Self extends Changeable<V, Self>>(
  table: Self,
  changes: readonly (readonly [string, V | undefined])[],
): Steps<Self> {
  let changed = table;
  for (let from = 0; from < changes.length; from += PART) {
    changed = changed.with(from === 0 && changes.length <= PART ? changes : changes.slice(from, from + PART));
    yield;
  }
  return changed;
}

// A few milliseconds. Smaller parts would copy more of what did not change.
const PART = 2_048;
