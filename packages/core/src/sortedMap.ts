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

  private constructor(keys: readonly (readonly string[])[], values: readonly (readonly V[])[], size: number) {
    this.#keys = keys;
    this.#values = values;
    this.size = size;
  }

  static empty<V>(): SortedMap<V> {
    return SortedMap.#empty;
  }

  get(key: string): V | undefined {
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
    const latest = new Map(changes);
    if (latest.size === 0) return this;
    const sorted = [...latest].sort(([a], [b]) => (a < b ? -1 : 1));
    const keys: (readonly string[])[] = [];
    const values: (readonly V[])[] = [];
    let size = this.size;
    let next = 0;
    const chunks = Math.max(this.#keys.length, 1);
    for (let chunk = 0; chunk < chunks; chunk++) {
      const oldKeys = this.#keys[chunk] ?? [];
      const oldValues = this.#values[chunk] ?? [];
      const upper = this.#keys[chunk + 1]?.[0];
      const from = next;
      while (next < sorted.length && (upper === undefined || (sorted[next]?.[0] as string) < upper)) next++;
      if (from === next) {
        if (oldKeys.length > 0) {
          keys.push(oldKeys);
          values.push(oldValues);
        }
        continue;
      }
      const [mergedKeys, mergedValues] = merge(oldKeys, oldValues, sorted, from, next);
      size += mergedKeys.length - oldKeys.length;
      pushChunks(keys, values, mergedKeys, mergedValues);
    }
    return size === 0 ? SortedMap.empty<V>() : new SortedMap(keys, values, size);
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

function merge<V>(
  oldKeys: readonly string[],
  oldValues: readonly V[],
  changes: readonly (readonly [string, V | undefined])[],
  from: number,
  to: number,
): [string[], V[]] {
  const keys: string[] = [];
  const values: V[] = [];
  let old = 0;
  for (let i = from; i < to; i++) {
    const [key, value] = changes[i] as readonly [string, V | undefined];
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

/** Appends entries in chunks of a healthy size: small leftovers join their left neighbour. */
function pushChunks<V>(keys: (readonly string[])[], values: (readonly V[])[], addedKeys: string[], addedValues: V[]): void {
  const last = keys.at(-1);
  if (addedKeys.length === 0) return;
  if (last !== undefined && addedKeys.length < CHUNK / 4 && last.length + addedKeys.length <= CHUNK) {
    keys[keys.length - 1] = [...last, ...addedKeys];
    values[values.length - 1] = [...(values.at(-1) as readonly V[]), ...addedValues];
    return;
  }
  const parts = Math.ceil(addedKeys.length / (2 * CHUNK));
  const length = Math.ceil(addedKeys.length / parts);
  for (let start = 0; start < addedKeys.length; start += length) {
    keys.push(addedKeys.slice(start, start + length));
    values.push(addedValues.slice(start, start + length));
  }
}
