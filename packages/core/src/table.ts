import { type CooperativeTask, inKeyOrder, runToCompletion } from "./cooperativeTask.ts";
import { exactly } from "./exactly.ts";
import { type EntryChange, SortedMap } from "./sortedMap.ts";

/** Names the values under which a row can be found. Define it once, at module level: an index is kept by identity. */
export type Index<V> = (row: V) => readonly string[];

/** An immutable set of rows in the order of their keys, that shares what did not change with the table it came from. */
export interface Table<V> extends Iterable<V> {
  readonly size: number;
  row(key: string): V | undefined;
  entries(): Iterable<readonly [string, V]>;
  /** Rows whose `index` values include `value`, in key order. An index is built on first use and carried along by `with`. */
  where(index: Index<V>, value: string): readonly V[];
  /** Builds indexes in steps, so that the first `where` need not do it at once. */
  indexed(...indexes: readonly Index<V>[]): CooperativeTask<void>;
  /** This table with `changes` made: by key, a row, or `undefined` to remove it. Itself when they change nothing. */
  with(changes: Iterable<readonly [string, V | undefined]>): Table<V>;
  /** The rows that are not the same object as in `older`, in key order. Costs what changed where one table came from the other. */
  changesSince(older: Table<V>): readonly EntryChange<V>[];
}

/** A table without rows, whose rows have the keys that `keyOf` says. */
export function emptyTable<V extends object>(keyOf: (row: V) => string): Table<V> {
  return new IndexedTable(SortedMap.empty<V>(), new Map(), keyOf);
}

class IndexedTable<V extends object> implements Table<V> {
  readonly #rows: SortedMap<V>;
  readonly #indexes: Map<Index<V>, Buckets<V>>;
  readonly #keyOf: (row: V) => string;

  constructor(rows: SortedMap<V>, indexes: Map<Index<V>, Buckets<V>>, keyOf: (row: V) => string) {
    this.#rows = rows;
    this.#indexes = indexes;
    this.#keyOf = keyOf;
  }

  get size(): number {
    return this.#rows.size;
  }

  row(key: string): V | undefined {
    return this.#rows.get(key);
  }

  entries(): Iterable<readonly [string, V]> {
    return this.#rows;
  }

  [Symbol.iterator](): Iterator<V> {
    return this.#rows.values();
  }

  where(index: Index<V>, value: string): readonly V[] {
    // Not kept: an empty table may be one for rows of many types, and an index of one must not be carried to another.
    if (this.size === 0) return NONE;
    let buckets = this.#indexes.get(index);
    if (buckets === undefined) {
      [buckets = SortedMap.empty<Bucket<V>>()] = runToCompletion(bucketsOf(this.#rows.values(), [index]));
      this.#indexes.set(index, buckets);
    }
    return listOf(buckets.get(value));
  }

  *indexed(...indexes: readonly Index<V>[]): CooperativeTask<void> {
    const missing = this.size === 0 ? [] : indexes.filter((index) => !this.#indexes.has(index));
    if (missing.length === 0) return;
    const made = yield* bucketsOf(this.#rows.values(), missing);
    missing.forEach((index, i) => void this.#indexes.set(index, made[i] as Buckets<V>));
  }

  with(changes: Iterable<readonly [string, V | undefined]>): IndexedTable<V> {
    const given = Array.isArray(changes) ? (changes as readonly (readonly [string, V | undefined])[]) : [...changes];
    if (this.#indexes.size === 0 && isAppended(this.#rows, given)) {
      return new IndexedTable(this.#rows.update(given), new Map(), this.#keyOf);
    }
    const effective = new Map<string, EntryChange<V>>();
    for (const [key, after] of given) {
      const before = this.#rows.get(key);
      if (before !== after) effective.set(key, { key, before, after });
      else if (effective.size > 0) effective.delete(key);
    }
    if (effective.size === 0) return this;
    // In key order once, for all indexes.
    const ordered = effective.size === 1 ? [...effective.values()] : [...effective.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
    const indexes = new Map<Index<V>, Buckets<V>>();
    for (const [index, buckets] of this.#indexes) {
      const changed = this.#rebucketed(index, buckets, ordered);
      if (changed !== undefined) indexes.set(index, changed);
    }
    return new IndexedTable(this.#rows.update(ordered.map(({ key, after }) => [key, after])), indexes, this.#keyOf);
  }

  changesSince(older: Table<V>): readonly EntryChange<V>[] {
    if (older instanceof IndexedTable) return this.#rows.changesSince(older.#rows);
    return this.#rows.changesSince(SortedMap.empty<V>().update(older.entries()));
  }

  /**
   * `changes` are in key order. Undefined where the index throws: it is carried no further, so that changes are always taken up, and the next
   * lookup in it builds it again and throws.
   */
  #rebucketed(index: Index<V>, buckets: Buckets<V>, changes: readonly EntryChange<V>[]): Buckets<V> | undefined {
    try {
      return this.#rebucketedOrThrow(index, buckets, changes);
    } catch {
      return undefined;
    }
  }

  #rebucketedOrThrow(index: Index<V>, buckets: Buckets<V>, changes: readonly EntryChange<V>[]): Buckets<V> {
    const edits = new Map<string, EntryChange<V>[]>();
    const note = (value: string, change: EntryChange<V>) => {
      const list = edits.get(value);
      if (list === undefined) edits.set(value, [change]);
      else list.push(change);
    };
    for (const change of changes) {
      const { key, before, after } = change;
      const left = before === undefined ? NONE : index(before);
      const right = after === undefined ? NONE : index(after);
      const [value] = left;
      // Most rows have one value, and keep it.
      if (value !== undefined && left.length === 1 && right.length === 1 && right[0] === value) {
        note(value, change);
        continue;
      }
      for (const value of left === right ? left : new Set([...left, ...right])) {
        note(value, { key, before: left.includes(value) ? before : undefined, after: right.includes(value) ? after : undefined });
      }
    }
    const changed: [string, Bucket<V> | undefined][] = [];
    for (const [value, list] of edits) changed.push([value, edited(listOf(buckets.get(value)), list, this.#keyOf)]);
    return buckets.update(changed);
  }
}

/** The rows that have one value, in key order. Most values have one row, and a list for each would be most of an index. */
type Bucket<V> = V | readonly V[];
type Buckets<V> = SortedMap<Bucket<V>>;

const NONE: readonly never[] = [];

function listOf<V extends object>(bucket: Bucket<V> | undefined): readonly V[] {
  if (bucket === undefined) return NONE;
  return isList(bucket) ? bucket : [bucket];
}

/** Rows are never lists. */
function isList<V extends object>(bucket: Bucket<V>): bucket is readonly V[] {
  return Array.isArray(bucket);
}

/** Whether changes are rows that are new, and behind all that are there: so are nearly all where a table is made. */
function isAppended<V>(rows: SortedMap<V>, changes: readonly (readonly [string, V | undefined])[]): boolean {
  const [first] = changes;
  if (first === undefined || !rows.isBelow(first[0])) return false;
  let key: string | undefined;
  for (const change of changes) {
    if (change[1] === undefined || (key !== undefined && key >= change[0])) return false;
    key = change[0];
  }
  return true;
}

/** Several at once, as to go through a million rows costs more than what an index asks of each. */
function* bucketsOf<V extends object>(rows: Iterable<V>, indexes: readonly Index<V>[]): CooperativeTask<readonly Buckets<V>[]> {
  const gathered = indexes.map(() => new Map<string, V | V[]>());
  let count = 0;
  for (const row of rows) {
    if (++count % STEP === 0) yield;
    for (let i = 0; i < indexes.length; i++) gather(gathered[i] as Map<string, V | V[]>, (indexes[i] as Index<V>)(row), row);
  }
  const made: Buckets<V>[] = [];
  for (const buckets of gathered) {
    made.push(yield* mapOf(buckets));
    buckets.clear();
  }
  return made;
}

function gather<V extends object>(buckets: Map<string, V | V[]>, values: readonly string[], row: V): void {
  for (let i = 0; i < values.length; i++) {
    const value = values[i] as string;
    const bucket = buckets.get(value);
    // An index may name a value twice.
    if (bucket === undefined) buckets.set(value, row);
    else if (!Array.isArray(bucket)) {
      if (bucket !== row) buckets.set(value, [bucket, row]);
    } else if (bucket[bucket.length - 1] !== row) bucket.push(row);
  }
}

function* mapOf<V extends object>(buckets: ReadonlyMap<string, V | V[]>): CooperativeTask<Buckets<V>> {
  const entries: (readonly [string, Bucket<V>])[] = [];
  for (const [value, bucket] of buckets) {
    if (entries.push([value, Array.isArray(bucket) ? exactly(bucket) : bucket]) % PART === 0) yield;
  }
  const sorted = yield* inKeyOrder(entries);
  let map = SortedMap.empty<Bucket<V>>();
  for (let from = 0; from < sorted.length; from += PART) {
    map = map.update(sorted.slice(from, from + PART));
    yield;
  }
  return map;
}

// Well below a millisecond.
const STEP = 256;
// A few milliseconds.
const PART = 4_096;

/** A bucket with rows taken out and put in, in key order; undefined when none is left. */
function edited<V extends object>(
  bucket: readonly V[],
  changes: readonly EntryChange<V>[],
  keyOf: (row: V) => string,
): Bucket<V> | undefined {
  const [only] = changes;
  // Most values have one row: it comes, is replaced, or goes.
  if (changes.length === 1 && only !== undefined && bucket.length === (only.before === undefined ? 0 : 1)) return only.after;
  const positions = changes.map(positionsIn(bucket, keyOf));
  const rows = changes.every(isReplacement) ? replaced(bucket, changes, positions) : spliced(bucket, changes, positions);
  return rows.length < 2 ? rows[0] : rows;
}

/** Where each row is, or would be; asked in key order. Many changes are of rows that stand side by side. */
function positionsIn<V extends object>(bucket: readonly V[], keyOf: (row: V) => string): (change: EntryChange<V>) => number {
  let next = 0;
  return ({ key, before }) => {
    const isHere = before !== undefined && bucket[next] === before;
    const isNamed = before === undefined || bucket.length > SHORT;
    const position = isHere ? next : isNamed ? lowerBound(bucket, key, keyOf, next) : bucket.indexOf(before, next);
    next = before === undefined ? position : position + 1;
    return position;
  };
}

function isReplacement({ before, after }: EntryChange<unknown>): boolean {
  return before !== undefined && after !== undefined;
}

function replaced<V>(bucket: readonly V[], changes: readonly EntryChange<V>[], positions: readonly number[]): readonly V[] {
  const rows = bucket.slice();
  changes.forEach(({ after }, i) => {
    rows[positions[i] as number] = after as V;
  });
  return rows;
}

function spliced<V>(bucket: readonly V[], changes: readonly EntryChange<V>[], positions: readonly number[]): readonly V[] {
  // The rows of a large bucket are copied in runs, where there are few.
  if (changes.length <= FEW) {
    const end = bucket.slice((positions.at(-1) as number) + (changes.at(-1)?.before === undefined ? 0 : 1));
    const runs = changes.flatMap(({ after }, i) => {
      const from = i === 0 ? 0 : (positions[i - 1] as number) + (changes[i - 1]?.before === undefined ? 0 : 1);
      return [bucket.slice(from, positions[i]), after === undefined ? NONE : [after]];
    });
    return ([] as V[]).concat(...runs, end);
  }
  const rows: V[] = [];
  let next = 0;
  changes.forEach(({ before, after }, i) => {
    const position = positions[i] as number;
    while (next < position) rows.push(bucket[next++] as V);
    if (after !== undefined) rows.push(after);
    if (before !== undefined) next++;
  });
  while (next < bucket.length) rows.push(bucket[next++] as V);
  return rows;
}

const FEW = 16;

/** In so many rows one is found sooner than the keys of a few of them are made. */
const SHORT = 64;

function lowerBound<V>(rows: readonly V[], key: string, keyOf: (row: V) => string, from: number): number {
  let low = from;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (keyOf(rows[middle] as V) < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
