import { type CooperativeTask, type EntryChange, type Kind, keyOfResource, type Resource, type Snapshot } from "@isthmus/core";
import type { LookupTable } from "./lookupTable.ts";
import { type EqualValues, equalValues, type Matching } from "./matching.ts";
import { memoizeRow } from "./memoizeRow.ts";

/** A row that looks things up. `found` keeps what chains of joins have found of it already. */
export interface Reading<R> {
  readonly key: string;
  readonly row: R;
  found: FoundBy | undefined;
}

/** What a row looks up, at one state of the tables. */
export type RowLookup<R, V> = (reading: Reading<R>) => readonly V[];

/** The rows that one join has found. A row has few of them: a list is searched sooner than a map is made. */
interface FoundBy {
  readonly source: object;
  readonly rows: readonly object[];
  /** What was found before it. */
  readonly next: FoundBy | undefined;
}

/** Where joins begin: a table of rows, or what another join has found. `R`: rows of the table in which the chain begins; `T`: of this one. */
export interface JoinSource<S, R extends object, T extends object> {
  readonly table: (sources: S) => LookupTable<T>;
  readonly keyOf: (row: T) => string;
  /** Whether a chain begins here: then a row finds itself. */
  readonly isFirst: boolean;
  /** The rows of this table that a row of the first one looks up. */
  at(now: S): RowLookup<R, T>;
  /** Another join continues from this one: what a row has found is kept until that row is made. */
  keepFound(): void;
  /** The reverse: adds the keys of the rows of the first table that look up a row. `key` is its own, where that is known already. */
  reachFrom(row: T, reached: Reached<S>, key?: string): void;
  /** The same for a row that is another one than before. */
  reachChanged(before: T, after: T, reached: Reached<S>, key?: string): void;
  /** Whether any row looks up in this table. Those that did before are reached by their own change. */
  isAsked(now: S): boolean;
  /** Builds the indexes that `reachFrom` needs. */
  indexed(now: S): CooperativeTask<void>;
  /** What changes which rows are found, or what is read of them. */
  watches(read: RowComparison<T>): readonly Watch<S>[];
}

/** Which rows changes of one table reach. Not a generator: it runs for each change. */
export interface Reached<S> {
  readonly now: S;
  /** Of each join the rows from which its way back was followed already: a row may be found by one, and ask for it. */
  readonly walked: Map<object, Set<object>>;
  /** Of the first table. */
  readonly keys: Set<string>;
}

/** What is read of a row: a change that leaves it as it was affects nothing. */
export interface RowComparison<T> {
  isSame(before: T, after: T): boolean;
}

/** One table that rows depend on. */
export interface Watch<S> {
  readonly table: (sources: S) => LookupTable<object>;
  /** Whether a change of the table differs in what is read. No index is built for one that does not. */
  isRead(change: EntryChange<object>): boolean;
  /** Whether there are rows at all that look up in the table: else no change of it reaches any. */
  isAsked(now: S): boolean;
  /** Builds the indexes that `reach` needs. */
  indexed(now: S): CooperativeTask<void>;
  /** Adds the keys of the rows that a change of the table affects. */
  reach(change: EntryChange<object>, reached: Reached<S>): void;
}

/** What rows of a table look up in another one: `at` reads it, and `watches` follow it backwards. Both come from one declaration. */
export interface Join<S, R, V> {
  at(now: S): RowLookup<R, V>;
  readonly watches: readonly Watch<S>[];
  /** Builds the indexes that lookups need; undefined when they need none. */
  readonly indexes: ((now: S) => CooperativeTask<void>) | undefined;
}

/** A join from which another one can go on. */
export interface TableJoin<S, R extends object, T extends object, V = T> extends Join<S, R, V> {
  readonly source: JoinSource<S, R, T>;
}

/** A table in which joins begin, or look up. `keyOf` gives the key of a row in it. */
export function inputTable<S, T extends object>(table: (sources: S) => LookupTable<T>, keyOf: (row: T) => string): JoinSource<S, T, T> {
  return {
    table,
    keyOf,
    isFirst: true,
    at: () => itself,
    keepFound: () => undefined,
    reachFrom: (row, { keys }, key) => void keys.add(key ?? keyOf(row)),
    reachChanged: (_, row, { keys }, key) => void keys.add(key ?? keyOf(row)),
    isAsked: () => true,
    *indexed() {
      // A row knows its own key.
    },
    // A row that changes is made again anyway.
    watches: () => [],
  };
}

function itself<R>({ row }: Reading<R>): readonly R[] {
  return [row];
}

/** The resources of one kind in the snapshot. */
export function inputKind<S extends { readonly inputs: Snapshot }, R extends Resource>(kind: Kind<R>): JoinSource<S, R, R> {
  return inputTable(({ inputs }) => inputs.of(kind), keyOfResource);
}

function* nothing(): CooperativeTask<void> {
  // No step.
}

interface JoinedTables<S, R extends object, F extends object, T extends object> {
  readonly from: JoinSource<S, R, F>;
  readonly to: Pick<JoinSource<S, T, T>, "table" | "keyOf">;
  /** Many rows go on from one row of `from`: what that one finds is looked up once, and is one list. */
  readonly isShared?: boolean;
}

/** Rows of `from` look up rows of `to` by equal values; or as `matching` says. Indexes are kept by identity: define them at module level. */
export type JoinOptions<S, R extends object, F extends object, T extends object> = JoinedTables<S, R, F, T> &
  (EqualValues<F, T> & { readonly matching?: Matching<F, T> });

interface WholeRows<T> {
  readonly select?: never;
  /** Whether what is read of a row is as it was. Default: only when it is the very same row. */
  readonly isSame?: (before: T, after: T) => boolean;
}

interface PartOfRows<T, V> {
  /** All that is read of a row. */
  readonly select: (row: T) => V;
  /** Default: the very same value. */
  readonly isSame?: (before: V, after: V) => boolean;
}

/** Declares a join. */
export function join<S, R extends object, F extends object, T extends object>(
  options: JoinOptions<S, R, F, T> & WholeRows<T>,
): TableJoin<S, R, T>;
export function join<S, R extends object, F extends object, T extends object, V>(
  options: JoinOptions<S, R, F, T> & PartOfRows<T, V>,
): TableJoin<S, R, T, V>;
export function join<S, R extends object, F extends object, T extends object, V>(
  options: JoinOptions<S, R, F, T> & { readonly select?: (row: T) => V; readonly isSame?: (before: T & V, after: T & V) => boolean },
): TableJoin<S, R, T, T | V> {
  const { from, to, select, isSame = (before: unknown, after: unknown) => before === after } = options;
  const matching = options.matching ?? equalValues(options, { from: from.keyOf, to: to.keyOf });
  const source = joined(options, matching);
  // Without `select` a row is its own part.
  const part = (row: T) => (select === undefined ? row : select(row)) as T & V;
  return {
    source,
    at(now) {
      const found = source.at(now);
      // What finds nothing selects nothing.
      return select === undefined || found === findsNothing ? found : (reading) => found(reading).map(select);
    },
    watches: source.watches({ isSame: (before, after) => isSame(part(before), part(after)) }),
    // An index costs something at each change of the table: none is kept for rows of which there are none.
    indexes:
      matching.indexes.length === 0 ? undefined : (now) => (source.isAsked(now) ? to.table(now).indexed(...matching.indexes) : nothing()),
  };
}

/** Several joins as one: whatever any of them finds, in their order. */
export function unionOf<S, R, V>(joins: readonly Join<S, R, V>[]): Join<S, R, V> {
  const needed = joins.flatMap(({ indexes }) => indexes ?? []);
  return {
    at(now) {
      const lookups = joins.map((one) => one.at(now)).filter((lookup) => lookup !== findsNothing);
      return (reading) => lookups.flatMap((lookup) => lookup(reading));
    },
    watches: joins.flatMap(({ watches }) => watches),
    *indexes(now) {
      for (const indexes of needed) yield* indexes(now);
    },
  };
}

const NONE: readonly never[] = [];

/** What a row looks up in a table without rows. */
export function findsNothing(): readonly never[] {
  return NONE;
}

function joined<S, R extends object, F extends object, T extends object>(
  { from, to, isShared }: JoinedTables<S, R, F, T>,
  matching: Matching<F, T>,
): JoinSource<S, R, T> {
  const findOnce = memoizeRow((table: LookupTable<T>) => memoizeRow((row: F) => matching.find(row, table)));
  let isKept = false;
  from.keepFound();
  const reachAll = (rows: Iterable<F>, reached: Reached<S>) => {
    const walked = reached.walked.get(source) ?? new Set();
    reached.walked.set(source, walked);
    for (const one of rows) {
      if (walked.has(one)) continue;
      walked.add(one);
      from.reachFrom(one, reached);
    }
  };
  const source: JoinSource<S, R, T> = {
    table: to.table,
    keyOf: to.keyOf,
    isFirst: false,
    keepFound() {
      isKept = true;
    },
    at(now) {
      const table = to.table(now);
      // In most fleets many tables are empty.
      if (table.size === 0) return findsNothing;
      const find = isShared === true ? findOnce(table) : (row: F, key?: string) => matching.find(row, table, key);
      // Nearly all joins begin at the first table, where a row finds itself, and no other one continues from most. There, `F` is `R`.
      if (from.isFirst && !isKept) return ({ row, key }) => find(row as object as F, key);
      const foundBefore = from.at(now);
      return (reading) => {
        // Filled under this very source, with its own rows.
        for (let one = reading.found; one !== undefined; one = one.next) if (one.source === source) return one.rows as readonly T[];
        const rows = foundBefore(reading);
        const [first] = rows;
        if (first === undefined) return NONE;
        const found = rows.length === 1 ? find(first, from.isFirst ? reading.key : undefined) : rows.flatMap((row) => find(row));
        if (isKept) reading.found = { source, rows: found, next: reading.found };
        return found;
      };
    },
    reachFrom(row, reached, key) {
      const table = from.table(reached.now);
      const keys = from.isFirst ? matching.keysBack?.(row, table, key) : undefined;
      if (keys === undefined) reachAll(matching.findBack(row, table, key), reached);
      else for (const one of keys) reached.keys.add(one);
    },
    reachChanged(before, after, reached, key) {
      const narrowed = matching.findBackChanged?.(before, after, from.table(reached.now));
      if (narrowed !== undefined) return reachAll(narrowed, reached);
      source.reachFrom(before, reached, key);
      // Both are found by the same, their own key.
      if (!matching.isFoundByOwnKey) source.reachFrom(after, reached, key);
    },
    isAsked: (now) => from.table(now).size > 0 && from.isAsked(now),
    *indexed(now) {
      yield* from.table(now).indexed(...matching.backIndexes);
      yield* from.indexed(now);
    },
    watches: ({ isSame }) => [
      // Rows on the way that ask for something else.
      ...from.watches({ isSame: matching.isSameAsking }),
      watchOf(source, {
        isFindable: (row) => matching.isFindable?.(row) !== false,
        isSame: (before, after) => matching.isSameFound(before, after) && isSame(before, after),
      }),
    ],
  };
  return source;
}

interface FindableRows<T> extends RowComparison<T> {
  isFindable(row: T): boolean;
}

function watchOf<S, R extends object, T extends object>(source: JoinSource<S, R, T>, read: FindableRows<T>): Watch<S> {
  return {
    table: source.table,
    isAsked: source.isAsked,
    indexed: source.indexed,
    // Changes are those of that very table.
    isRead(change) {
      const { before, after } = change as EntryChange<T>;
      const isFindable = (before !== undefined && read.isFindable(before)) || (after !== undefined && read.isFindable(after));
      return isFindable && (before === undefined || after === undefined || !read.isSame(before, after));
    },
    reach(change, reached) {
      const { key, before, after } = change as EntryChange<T>;
      if (before !== undefined && after !== undefined) source.reachChanged(before, after, reached, key);
      else for (const row of [before, after]) if (row !== undefined) source.reachFrom(row, reached, key);
    },
  };
}
