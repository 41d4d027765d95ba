import type { CooperativeTask, EntryChange, Index } from "@isthmus/core";
import { versionsOf } from "./changes.ts";
import type { LookupTable } from "./lookupTable.ts";
import { memoizeRow } from "./memoizeRow.ts";

/** The rows of a table that share a value of an index. */
export interface Group<T> {
  /** The value. */
  readonly key: string;
  /** In key order; at least one. */
  readonly rows: readonly T[];
}

/**
 * A table as the groups of its rows by an index, one row each: for what reads many rows of a group, and one of them hardly ever changes.
 * Then a change of one is a change of its group.
 */
export function groupedBy<T extends object>(index: Index<T>): (table: LookupTable<T>) => LookupTable<Group<T>> {
  return memoizeRow((table: LookupTable<T>) => new GroupedTable(table, index));
}

class GroupedTable<T extends object> implements LookupTable<Group<T>> {
  readonly #table: LookupTable<T>;
  readonly #index: Index<T>;
  readonly #groups = new Map<string, Group<T> | undefined>();

  constructor(table: LookupTable<T>, index: Index<T>) {
    this.#table = table;
    this.#index = index;
  }

  get size(): number {
    return this.#table.size;
  }

  row(key: string): Group<T> | undefined {
    if (this.#groups.has(key)) return this.#groups.get(key);
    const rows = this.#table.where(this.#index, key);
    const group = rows.length === 0 ? undefined : { key, rows };
    this.#groups.set(key, group);
    return group;
  }

  where(index: Index<Group<T>>, value: string): readonly Group<T>[] {
    return [...this.entries()].flatMap(([, group]) => (index(group).includes(value) ? [group] : []));
  }

  *indexed(): CooperativeTask<void> {
    // `row` uses the index of the table itself.
    yield* this.#table.indexed(this.#index);
  }

  *entries(): Iterable<readonly [string, Group<T>]> {
    const keys = new Set<string>();
    for (const [, row] of this.#table.entries()) for (const key of this.#index(row)) keys.add(key);
    for (const key of [...keys].sort()) {
      const group = this.row(key);
      if (group !== undefined) yield [key, group];
    }
  }

  changesSince(older: LookupTable<Group<T>>): readonly EntryChange<Group<T>>[] {
    if (!(older instanceof GroupedTable)) throw new Error("a table of groups is compared with an earlier version of itself only");
    const keys = new Set<string>();
    for (const row of versionsOf(this.#table.changesSince(older.#table))) for (const key of this.#index(row)) keys.add(key);
    return [...keys].sort().map((key) => ({ key, before: older.row(key), after: this.row(key) }));
  }
}
