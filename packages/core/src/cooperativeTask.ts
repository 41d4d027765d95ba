/**
 * Work in small steps, with its result at the end: between any two of them the one who drives it may do something else, or give it up.
 * What it reads must be immutable. One implementation serves those who wait for the result and those who must not hold others up.
 */
export type CooperativeTask<T> = Generator<undefined, T, undefined>;

/** Does all of it at once. */
export function runToCompletion<T>(steps: CooperativeTask<T>): T {
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
export function* withEach<V, Self extends Changeable<V, Self>>(table: Self, changes: readonly Entry<V>[]): CooperativeTask<Self> {
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
export function* inKeyOrder<E extends readonly [string, unknown]>(entries: readonly E[]): CooperativeTask<readonly E[]> {
  const runs: (readonly E[])[] = [];
  for (let from = 0; from < entries.length; ) {
    const to = yield* endOfRun(entries, from);
    // What is in order is left so: what clusters hold comes one after the other, each in order.
    const run = to - from >= PART ? entries.slice(from, to) : entries.slice(from, from + PART).sort(byKey);
    runs.push(run);
    from += run.length;
    yield;
  }
  return runs.length < 2 ? (runs[0] ?? []) : yield* merged(runs);
}

/** Where the entries from `from` on are in order no longer. */
function* endOfRun<E extends readonly [string, unknown]>(entries: readonly E[], from: number): CooperativeTask<number> {
  let to = from + 1;
  for (; to < entries.length && byKey(entries[to - 1] as E, entries[to] as E) <= 0; to++) if (to % PART === 0) yield;
  return to;
}

/** How far one of several runs has been taken, and the key that is next. */
interface Run<E> {
  readonly entries: readonly E[];
  readonly order: number;
  position: number;
  key: string;
}

/** Runs in order, none of them empty, as one: all at once, so that no key is looked at again long after it was. */
function* merged<E extends readonly [string, unknown]>(runs: readonly (readonly E[])[]): CooperativeTask<readonly E[]> {
  const heap = runs.map((entries, order): Run<E> => ({ entries, order, position: 0, key: (entries[0] as E)[0] }));
  for (let i = (heap.length >> 1) - 1; i >= 0; i--) sink(heap, i);
  const all: E[] = [];
  for (;;) {
    const first = heap[0] as Run<E>;
    const [left, right] = [heap[1], heap[2]];
    const second = right !== undefined && isBefore(right, left as Run<E>) ? right : left;
    do {
      if (all.push(first.entries[first.position++] as E) % PART === 0) yield;
      if (first.position === first.entries.length) break;
      first.key = (first.entries[first.position] as E)[0];
    } while (second === undefined || isBefore(first, second));
    if (first.position === first.entries.length) {
      const last = heap.pop() as Run<E>;
      if (heap.length === 0) return all;
      heap[0] = last;
    }
    sink(heap, 0);
  }
}

/** Puts the run at a place of the heap where it belongs, those below being right. */
function sink<E>(heap: Run<E>[], place: number): void {
  const run = heap[place] as Run<E>;
  let at = place;
  for (;;) {
    let next = 2 * at + 1;
    if (next >= heap.length) break;
    if (next + 1 < heap.length && isBefore(heap[next + 1] as Run<E>, heap[next] as Run<E>)) next++;
    if (isBefore(run, heap[next] as Run<E>)) break;
    heap[at] = heap[next] as Run<E>;
    at = next;
  }
  heap[at] = run;
}

/** Entries of one key stay in their order. */
function isBefore(run: Run<unknown>, other: Run<unknown>): boolean {
  return run.key < other.key || (run.key === other.key && run.order < other.order);
}

function byKey(left: readonly [string, unknown], right: readonly [string, unknown]): number {
  return left[0] < right[0] ? -1 : left[0] > right[0] ? 1 : 0;
}

// A few milliseconds.
const PART = 2_048;
// As much where most changes have a stretch of some hundred rows to themselves, all of which is copied.
const SPARSE_PART = 256;
