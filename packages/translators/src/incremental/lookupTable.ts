import type { CooperativeTask, EntryChange, Index, SortedMap } from "@isthmus/core";
import { memoizeRow } from "./memoizeRow.ts";

/** What joins look up in: a `Table`, or the entries of a map. Immutable. */
export interface LookupTable<T> {
  /** How many rows there are, or more: 0 where there is none. */
  readonly size: number;
  row(key: string): T | undefined;
  /** Rows whose `index` values include `value`. */
  where(index: Index<T>, value: string): readonly T[];
  /** Builds indexes in steps, so that the first `where` need not do it at once. */
  indexed(...indexes: readonly Index<T>[]): CooperativeTask<void>;
  entries(): Iterable<readonly [string, T]>;
  /** Rows that differ from those of an earlier version of the same table. */
  changesSince(older: LookupTable<T>): readonly EntryChange<T>[];
}

/** An entry of a map, as a row. */
export interface MapEntry<V> {
  readonly key: string;
  readonly value: V;
}

/** The entries of a map. `where` and `changesSince` scan it: for maps of a few thousand entries. */
export function entriesOf<V>(map: ReadonlyMap<string, V>): LookupTable<MapEntry<V>> {
  // One adapter per map: asked with the same map, the answer is of the same type.
  return adapterOf(map) as MapLookupTable<V>;
}

class MapLookupTable<V> implements LookupTable<MapEntry<V>> {
  readonly #map: ReadonlyMap<string, V>;

  constructor(map: ReadonlyMap<string, V>) {
    this.#map = map;
  }

  get size(): number {
    return this.#map.size;
  }

  row(key: string): MapEntry<V> | undefined {
    const value = this.#map.get(key);
    return value === undefined ? undefined : { key, value };
  }

  where(index: Index<MapEntry<V>>, value: string): readonly MapEntry<V>[] {
    return this.#rows().filter((row) => index(row).includes(value));
  }

  *indexed(): CooperativeTask<void> {
    // A scan needs none.
  }

  entries(): Iterable<readonly [string, MapEntry<V>]> {
    return this.#rows().map((row) => [row.key, row]);
  }

  changesSince(older: LookupTable<MapEntry<V>>): readonly EntryChange<MapEntry<V>>[] {
    if (older === this) return [];
    const changes: EntryChange<MapEntry<V>>[] = [];
    for (const after of this.#rows()) {
      const before = older.row(after.key);
      if (before?.value !== after.value) changes.push({ key: after.key, before, after });
    }
    for (const [key, before] of older.entries()) if (!this.#map.has(key)) changes.push({ key, before, after: undefined });
    return changes;
  }

  #rows(): readonly MapEntry<V>[] {
    return [...this.#map].map(([key, value]) => ({ key, value }));
  }
}

/** The entries of a sorted map, as rows. `where` scans it. */
export function sortedEntriesOf<V extends object>(map: SortedMap<V>): LookupTable<MapEntry<V>> {
  // One adapter per map, as above.
  return sortedAdapterOf(map) as SortedMapLookupTable<V>;
}

class SortedMapLookupTable<V> implements LookupTable<MapEntry<V>> {
  readonly #map: SortedMap<V>;

  constructor(map: SortedMap<V>) {
    this.#map = map;
  }

  get size(): number {
    return this.#map.size;
  }

  row(key: string): MapEntry<V> | undefined {
    const value = this.#map.get(key);
    return value === undefined ? undefined : { key, value };
  }

  where(index: Index<MapEntry<V>>, value: string): readonly MapEntry<V>[] {
    return [...this.entries()].flatMap(([, row]) => (index(row).includes(value) ? [row] : []));
  }

  *indexed(): CooperativeTask<void> {
    // A scan needs none.
  }

  *entries(): Iterable<readonly [string, MapEntry<V>]> {
    for (const [key, value] of this.#map) yield [key, { key, value }];
  }

  changesSince(older: LookupTable<MapEntry<V>>): readonly EntryChange<MapEntry<V>>[] {
    if (!(older instanceof SortedMapLookupTable)) throw new Error("a sorted map is compared with an earlier version of itself only");
    const rowOf = (key: string, value: V | undefined) => (value === undefined ? undefined : { key, value });
    const changes: readonly EntryChange<V>[] = this.#map.changesSince(older.#map);
    return changes.map(({ key, before, after }) => ({ key, before: rowOf(key, before), after: rowOf(key, after) }));
  }
}

const sortedAdapterOf = memoizeRow((map: SortedMap<unknown>) => new SortedMapLookupTable(map));

const adapterOf = memoizeRow((map: ReadonlyMap<string, unknown>) => new MapLookupTable(map));
