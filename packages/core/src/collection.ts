import type { CooperativeTask } from "./cooperativeTask.ts";
import { type ClusterObjectRef, keyOf } from "./ref.ts";
import { keyOfResource, type Resource } from "./resource.ts";
import type { EntryChange } from "./sortedMap.ts";
import { emptyTable, type Index, type Table } from "./table.ts";

/** An immutable set of resources of one kind, in key order. */
export interface Collection<R extends Resource> extends Table<R> {
  get(ref: ClusterObjectRef): R | undefined;
  with(changes: Iterable<readonly [string, R | undefined]>): Collection<R>;
}

/** An empty collection. */
export function emptyCollection<R extends Resource>(): Collection<R> {
  return new TableCollection(emptyTable<R>(keyOfResource));
}

class TableCollection<R extends Resource> implements Collection<R> {
  readonly #table: Table<R>;

  constructor(table: Table<R>) {
    this.#table = table;
  }

  get size(): number {
    return this.#table.size;
  }

  get(ref: ClusterObjectRef): R | undefined {
    return this.#table.row(keyOf(ref));
  }

  row(key: string): R | undefined {
    return this.#table.row(key);
  }

  entries(): Iterable<readonly [string, R]> {
    return this.#table.entries();
  }

  [Symbol.iterator](): Iterator<R> {
    return this.#table[Symbol.iterator]();
  }

  where(index: Index<R>, value: string): readonly R[] {
    return this.#table.where(index, value);
  }

  indexed(...indexes: readonly Index<R>[]): CooperativeTask<void> {
    return this.#table.indexed(...indexes);
  }

  with(changes: Iterable<readonly [string, R | undefined]>): Collection<R> {
    const table = this.#table.with(changes);
    return table === this.#table ? this : new TableCollection(table);
  }

  changesSince(older: Table<R>): readonly EntryChange<R>[] {
    return this.#table.changesSince(older instanceof TableCollection ? older.#table : older);
  }
}
