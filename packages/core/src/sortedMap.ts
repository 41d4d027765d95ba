/** What became of one entry; absent on one side: `undefined`. */
export interface EntryChange<V> {
  readonly key: string;
  readonly before: V | undefined;
  readonly after: V | undefined;
}

/** The map that another one was made of, and what is different. */
interface Origin<V> {
  readonly id: number;
  readonly changes: readonly EntryChange<V>[];
}

let nextId = 0;

/**
 * An immutable map in ascending byte order of its keys, that shares what did not change with the map it came from.
 * Entries live in chunks of a few hundred; an update copies the chunks it touches and the list of chunks, so one change
 * among a million entries costs microseconds, and a bulk load costs one sort.
 */
export class SortedMap<V> implements Iterable<readonly [string, V]> {
  static readonly #empty = new SortedMap<never>([], [], 0);

  readonly size: number;
  readonly #keys: readonly (readonly string[])[];
  readonly #values: readonly (readonly V[])[];
  /** Names this map to those that are made of it, without keeping it. */
  readonly #id = nextId++;
  readonly #origin: Origin<V> | undefined;

  private constructor(keys: readonly (readonly string[])[], values: readonly (readonly V[])[], size: number, origin?: Origin<V>) {
    this.#keys = keys;
    this.#values = values;
    this.size = size;
    this.#origin = origin;
  }

  static empty<V>(): SortedMap<V> {
    return SortedMap.#empty;
  }

  get(key: string): V | undefined {
    if (this.size === 0) return undefined;
    const chunk = this.#chunkOf(key);
    const keys = this.#keys[chunk];
    if (keys === undefined) return undefined;
    const position = lowerBound(keys, key);
    return keys[position] === key ? this.#values[chunk]?.[position] : undefined;
  }

  has(key: string): boolean {
    const keys = this.#keys[this.#chunkOf(key)];
    return keys !== undefined && keys[lowerBound(keys, key)] === key;
  }

  *[Symbol.iterator](): Iterator<readonly [string, V]> {
    for (let chunk = 0; chunk < this.#keys.length; chunk++) {
      const keys = this.#keys[chunk] as readonly string[];
      const values = this.#values[chunk] as readonly V[];
      for (let i = 0; i < keys.length; i++) yield [keys[i] as string, values[i] as V];
    }
  }

  *values(): IterableIterator<V> {
    for (const values of this.#values) yield* values;
  }

  /** The same map with the lists of keys of another one that has the same, so that both hold them once; else itself. */
  withKeysOf(other: SortedMap<unknown>): SortedMap<V> {
    const isSame = other.#keys.length === this.#keys.length && other.#keys.every((keys, i) => isSameChunk(keys, this.#keys[i] ?? []));
    return isSame ? new SortedMap<V>(other.#keys, this.#values, this.size) : this;
  }

  /** Whether all keys are below `key`. */
  isBelow(key: string): boolean {
    const last = this.#keys[this.#keys.length - 1];
    return last === undefined || (last[last.length - 1] as string) < key;
  }

  /** The values whose keys begin with `prefix`, in key order; costs the result, not the map. */
  withPrefix(prefix: string): V[] {
    const found: V[] = [];
    let chunk = this.#chunkOf(prefix);
    let position = lowerBound(this.#keys[chunk] ?? [], prefix);
    for (; chunk < this.#keys.length; chunk++, position = 0) {
      const keys = this.#keys[chunk] as readonly string[];
      for (; position < keys.length; position++) {
        if (!(keys[position] as string).startsWith(prefix)) return found;
        found.push(this.#values[chunk]?.[position] as V);
      }
    }
    return found;
  }

  /** A map with `changes` made: a value is set, `undefined` removes. The last change of a key wins. */
  update(changes: Iterable<readonly [string, V | undefined]>): SortedMap<V> {
    const sorted = inOrder(changes);
    if (sorted.length === 0) return this;
    const keyParts: (readonly (readonly string[])[])[] = [];
    const valueParts: (readonly (readonly V[])[])[] = [];
    let size = this.size;
    let copied = 0;
    for (let from = 0; from < sorted.length; ) {
      const chunk = this.#chunkOf((sorted[from] as Entry<V>)[0]);
      const upper = this.#keys[chunk + 1]?.[0];
      let to = from + 1;
      while (to < sorted.length && (upper === undefined || (sorted[to] as Entry<V>)[0] < upper)) to++;
      const [oldKeys, oldValues] = [this.#keys[chunk] ?? [], this.#values[chunk] ?? []];
      const edits = from === 0 && to === sorted.length ? sorted : sorted.slice(from, to);
      const replaced = withValues(oldKeys, oldValues, edits);
      const [keys, values] = replaced === undefined ? merge(oldKeys, oldValues, edits) : [oldKeys, replaced];
      size += keys.length - oldKeys.length;
      keyParts.push(this.#keys.slice(copied, chunk), replaced === undefined ? split(keys) : [keys]);
      valueParts.push(this.#values.slice(copied, chunk), replaced === undefined ? split(values) : [values]);
      copied = chunk + 1;
      from = to;
    }
    if (size === 0) return SortedMap.empty<V>();
    keyParts.push(this.#keys.slice(copied));
    valueParts.push(this.#values.slice(copied));
    return new SortedMap<V>(concatenated(keyParts), concatenated(valueParts), size, this.#originOf(sorted));
  }

  /**
   * The entries that are not the same object in this map as in `older`, in key order. Costs nothing where this map was made of it by one
   * update of few entries; what changed, and a pointer comparison for each chunk, where one came from the other; else the size of both.
   */
  changesSince(older: SortedMap<V>): readonly EntryChange<V>[] {
    if (older === this) return [];
    if (this.#origin?.id === older.#id) return this.#origin.changes;
    const [mine, theirs] = [this.#values, older.#values];
    const shorter = Math.min(mine.length, theirs.length);
    let start = 0;
    while (start < shorter && mine[start] === theirs[start]) start++;
    let end = 0;
    while (end < shorter - start && mine[mine.length - 1 - end] === theirs[theirs.length - 1 - end]) end++;
    const [to, olderTo] = [mine.length - end, theirs.length - end];
    return changesBetween(
      cursor(older.#keys, theirs, { from: start, to: olderTo, shared: new Set(mine.slice(start, to)) }),
      cursor(this.#keys, mine, { from: start, to, shared: new Set(theirs.slice(start, olderTo)) }),
    );
  }

  /** What becomes of this map by few changes, in key order; undefined for many. */
  #originOf(sorted: readonly Entry<V>[]): Origin<V> | undefined {
    // All that a first one holds is new.
    if (sorted.length > FEW || this.size === 0) return undefined;
    const changes: EntryChange<V>[] = [];
    for (const [key, after] of sorted) {
      const before = this.get(key);
      if (before !== after) changes.push({ key, before, after });
    }
    return { id: this.#id, changes };
  }

  /** The last chunk whose first key is not above `key`. */
  #chunkOf(key: string): number {
    let low = 0;
    let high = this.#keys.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#keys[middle]?.[0] as string) <= key) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}

function isSameChunk(keys: readonly string[], others: readonly string[]): boolean {
  return keys === others || (keys.length === others.length && keys.every((key, i) => key === others[i]));
}

// Copying 512 pointers takes about a microsecond; fewer would make the list of chunks the larger cost at a million entries.
const CHUNK = 512;

function lowerBound(keys: readonly string[], key: string): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((keys[middle] as string) < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

type Entry<V> = readonly [string, V | undefined];

/** In the order of their keys, the last one of each key. Most bulk loads come in order already. */
function inOrder<V>(changes: Iterable<Entry<V>>): readonly Entry<V>[] {
  const given: readonly Entry<V>[] = Array.isArray(changes) ? changes : [...changes];
  let isSorted = true;
  for (let i = 1; i < given.length && isSorted; i++) isSorted = (given[i - 1] as Entry<V>)[0] < (given[i] as Entry<V>)[0];
  if (isSorted) return given;
  const entries = given.slice();
  // Stable, so that the last of equals stays the last.
  entries.sort(byKey);
  let length = 0;
  for (let i = 0; i < entries.length; i++) {
    if (entries[i]?.[0] !== entries[i + 1]?.[0]) entries[length++] = entries[i] as Entry<V>;
  }
  entries.length = length;
  return entries;
}

function byKey([a]: Entry<unknown>, [b]: Entry<unknown>): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** A place among the entries of some chunks. Plain loops over arrays: a changed chunk has hundreds of entries that did not change. */
interface Cursor<V> {
  /** Those of the chunk it is in; empty when all are done. */
  keys: readonly string[];
  values: readonly V[];
  position: number;
  /** Continues to the first entry of the next chunk. */
  next(): void;
}

/** At the first entry of chunks `from` to `to`, but for the chunks that are in `shared`. */
function cursor<V>(
  keys: readonly (readonly string[])[],
  values: readonly (readonly V[])[],
  { from, to, shared }: { readonly from: number; readonly to: number; readonly shared: ReadonlySet<readonly V[]> },
): Cursor<V> {
  let chunk = from - 1;
  const at: Cursor<V> = {
    keys: [],
    values: [],
    position: 0,
    next() {
      do chunk++;
      while (chunk < to && shared.has(values[chunk] as readonly V[]));
      at.position = 0;
      at.keys = chunk < to ? (keys[chunk] as readonly string[]) : [];
      at.values = chunk < to ? (values[chunk] as readonly V[]) : [];
    },
  };
  at.next();
  return at;
}

/** Two sequences in key order, side by side. Nothing is made for an entry that did not change, as a pair of its values would be. */
function changesBetween<V>(older: Cursor<V>, newer: Cursor<V>): readonly EntryChange<V>[] {
  const changes: EntryChange<V>[] = [];
  for (;;) {
    const left = older.keys[older.position];
    const right = newer.keys[newer.position];
    if (left === undefined && right === undefined) return changes;
    if (older.keys === newer.keys && older.position === newer.position) {
      replacements(older, newer, changes);
      older.next();
      newer.next();
    } else if (left === right) {
      const before = older.values[older.position] as V;
      const after = newer.values[newer.position] as V;
      if (before !== after) changes.push({ key: left as string, before, after });
      if (++older.position === older.keys.length) older.next();
      if (++newer.position === newer.keys.length) newer.next();
    } else if (right === undefined || (left !== undefined && left < right)) {
      changes.push({ key: left as string, before: older.values[older.position] as V, after: undefined });
      if (++older.position === older.keys.length) older.next();
    } else {
      changes.push({ key: right, before: undefined, after: newer.values[newer.position] as V });
      if (++newer.position === newer.keys.length) newer.next();
    }
  }
}

/** The rest of two chunks with the very same keys. */
function replacements<V>({ keys, values, position }: Cursor<V>, { values: others }: Cursor<V>, changes: EntryChange<V>[]): void {
  for (let i = position; i < keys.length; i++) {
    const before = values[i] as V;
    const after = others[i] as V;
    if (before !== after) changes.push({ key: keys[i] as string, before, after });
  }
}

/** The values of a chunk where changes give other ones to keys that are there; undefined where they change its keys. Chunks share these then. */
function withValues<V>(keys: readonly string[], values: readonly V[], changes: readonly Entry<V>[]): V[] | undefined {
  if (changes.length > keys.length) return undefined;
  const positions: number[] = [];
  for (const [key, value] of changes) {
    const position = lowerBound(keys, key);
    if (value === undefined || keys[position] !== key) return undefined;
    positions.push(position);
  }
  const replaced = values.slice();
  positions.forEach((position, i) => {
    replaced[position] = changes[i]?.[1] as V;
  });
  return replaced;
}

function merge<V>(
  oldKeys: readonly string[],
  oldValues: readonly V[],
  changes: readonly Entry<V>[],
): readonly [readonly string[], readonly V[]] {
  if (changes.length <= FEW) return spliced(oldKeys, oldValues, changes);
  const keys: string[] = [];
  const values: V[] = [];
  let old = 0;
  for (const [key, value] of changes) {
    while (old < oldKeys.length && (oldKeys[old] as string) < key) {
      keys.push(oldKeys[old] as string);
      values.push(oldValues[old++] as V);
    }
    if (oldKeys[old] === key) old++;
    if (value !== undefined) {
      keys.push(key);
      values.push(value);
    }
  }
  for (; old < oldKeys.length; old++) {
    keys.push(oldKeys[old] as string);
    values.push(oldValues[old] as V);
  }
  return [keys, values];
}

// So few that to copy what lies between them in runs is cheaper than one by one, into a list that is made again as it grows. And so few that a
// map may remember them: to find them again takes a look at each of the thousand objects beside them, which are seldom in the cache.
const FEW = 16;

function spliced<V>(
  oldKeys: readonly string[],
  oldValues: readonly V[],
  changes: readonly Entry<V>[],
): readonly [readonly string[], readonly V[]] {
  const keys: (readonly string[])[] = [];
  const values: (readonly V[])[] = [];
  let copied = 0;
  for (const [key, value] of changes) {
    const position = lowerBound(oldKeys, key);
    keys.push(oldKeys.slice(copied, position), value === undefined ? [] : [key]);
    values.push(oldValues.slice(copied, position), value === undefined ? [] : [value]);
    copied = oldKeys[position] === key ? position + 1 : position;
  }
  keys.push(oldKeys.slice(copied));
  values.push(oldValues.slice(copied));
  return [concatenated(keys), concatenated(values)];
}

/** Cuts what became too long into chunks of equal length. What became short stays: a chunk goes when its last entry does. */
function split<T>(entries: readonly T[]): readonly (readonly T[])[] {
  if (entries.length === 0) return [];
  const parts = Math.ceil(entries.length / (2 * CHUNK));
  const length = Math.ceil(entries.length / parts);
  return Array.from({ length: parts }, (_, part) => entries.slice(part * length, (part + 1) * length)).filter(({ length }) => length > 0);
}

/** One list of many; `concat` copies runs of pointers, which `flat` does one by one. */
function concatenated<T>(parts: readonly (readonly T[])[]): readonly T[] {
  return ([] as T[]).concat(...parts);
}
