import { type CooperativeTask, type EntryChange, type Table, withEach } from "@isthmus/core";
import { findsNothing, type Join, type JoinSource, type Reading, type RowLookup, type Watch } from "./join.ts";
import { recomputeRows } from "./rows.ts";
import type { Transition } from "./transition.ts";

/** The joins of a derivation, by name. */
export type Joins<S, R> = Readonly<Record<string, Join<S, R, unknown>>>;

/** The values from which a row is computed: nothing else may be read. */
export interface RowSources<J, C, V> {
  /** Of the row. */
  readonly key: string;
  /** What a join finds. A join that is not declared has no name here, so that nothing is read that is not followed backwards. */
  lookup<N extends keyof J>(name: N): J[N] extends Join<never, never, infer F> ? readonly F[] : never;
  /** What every row reads. */
  readonly context: C;
  /** The row so far. */
  readonly before: V | undefined;
}

/** How rows follow from rows of another table and from what those look up. */
export interface DerivedOptions<S, R extends object, J extends Joins<S, R>, C, V> {
  /** The table whose rows these follow from, one from each, under its key. */
  readonly from: JoinSource<S, R, R>;
  /** What every row reads: when it is another value, all rows are computed again. */
  readonly context: (sources: S) => C;
  readonly joins: J;
  /** Joins of which one must find something, else there is no such row: while none of them has a table to look up in, no row is looked at. */
  readonly needsOneOf?: readonly (keyof J)[];
  /** Undefined: there is no such row. */
  readonly make: (row: R, sources: RowSources<J, C, V>) => V | undefined;
  /** What stands for a row that `make`, or what it looks up, throws on; undefined: there is none. Default: it throws. */
  readonly fault?: (row: R, key: string, error: unknown) => V | undefined;
}

/** Rows that follow from others, from scratch and after changes. */
export interface Derived<S, V> {
  /** Keys of the rows that may differ: those whose row changed, or that look up something else. From scratch, all. A change is a step. */
  affected(transition: Transition<S>): CooperativeTask<ReadonlySet<string>>;
  /** Builds the indexes that rows need. */
  indexed(now: S): CooperativeTask<void>;
  /** Gives rows by their keys; undefined where there is none. */
  at(now: S): (key: string, before: V | undefined) => V | undefined;
  /** All rows, in the order of those they follow from: as `at` gives each, without looking those up again. Some rows are a step. */
  all(now: S): CooperativeTask<readonly (readonly [string, V])[]>;
}

/** Declares rows that follow from others. */
export function derived<S, R extends object, J extends Joins<S, R>, C, V>({
  from,
  context,
  joins,
  needsOneOf,
  make,
  fault,
}: DerivedOptions<S, R, J, C, V>): Derived<S, V> {
  const all = Object.values(joins);
  const watchesByTable = grouped(all.flatMap((one) => one.watches));
  const needed = needsOneOf?.map((name) => joins[name] as Join<S, R, unknown>);
  const canHaveRows = (now: S) => needed === undefined || needed.some((one) => one.at(now) !== findsNothing);
  const rowsAt = (now: S) => {
    const contextNow = context(now);
    const lookups = new Map<keyof J, RowLookup<R, unknown>>();
    const lookupOf = (name: keyof J): RowLookup<R, unknown> => {
      const made = (joins[name] as Join<S, R, unknown>).at(now);
      lookups.set(name, made);
      return made;
    };
    return (key: string, row: R, before: V | undefined): V | undefined => {
      const reading: Reading<R> = { key, row, found: undefined };
      // `Joins` types what each name finds.
      const lookup = (name: keyof J) => (lookups.get(name) ?? lookupOf(name))(reading) as never;
      if (fault === undefined) return make(row, { key, lookup, context: contextNow, before });
      try {
        return make(row, { key, lookup, context: contextNow, before });
      } catch (error) {
        return fault(row, key, error);
      }
    };
  };
  return {
    *affected(transition) {
      const { now, earlier, changesOf } = transition;
      const affected = new Set<string>();
      if (earlier === undefined || context(now) !== context(earlier.before)) {
        for (const one of earlier === undefined ? [now] : [now, earlier.before]) {
          if (!canHaveRows(one)) continue;
          for (const [key] of from.table(one).entries()) affected.add(key);
        }
        return affected;
      }
      for (const { key } of changesOf(from.table)) affected.add(key);
      for (const [table, watches] of watchesByTable) {
        const changes = changesOf(table);
        if (changes.length === 0) continue;
        for (const watch of watches) {
          if (!watch.isAsked(now)) continue;
          const read = changes.filter(watch.isRead);
          if (read.length === 0) continue;
          yield* watch.indexed(now);
          const reached = { now, walked: new Map<object, Set<object>>(), keys: affected };
          for (const change of read) {
            watch.reach(change, reached);
            yield;
          }
        }
      }
      return affected;
    },
    *indexed(now) {
      if (!canHaveRows(now)) return;
      for (const { indexes } of all) if (indexes !== undefined) yield* indexes(now);
    },
    at(now) {
      if (!canHaveRows(now)) return () => undefined;
      const table = from.table(now);
      const rowOf = rowsAt(now);
      return (key, before) => {
        const row = table.row(key);
        return row === undefined ? undefined : rowOf(key, row, before);
      };
    },
    *all(now) {
      const rows: (readonly [string, V])[] = [];
      if (!canHaveRows(now)) return rows;
      const rowOf = rowsAt(now);
      let count = 0;
      for (const [key, source] of from.table(now).entries()) {
        const row = rowOf(key, source, undefined);
        if (row !== undefined) rows.push([key, row]);
        if (++count % ROWS_PER_STEP === 0) yield;
      }
      return rows;
    },
  };
}

// Most rows take some 20 µs.
const ROWS_PER_STEP = 8;

function grouped<S>(watches: readonly Watch<S>[]): ReadonlyMap<Watch<S>["table"], readonly Watch<S>[]> {
  const byTable = new Map<Watch<S>["table"], Watch<S>[]>();
  for (const watch of watches) {
    const list = byTable.get(watch.table);
    if (list === undefined) byTable.set(watch.table, [watch]);
    else list.push(watch);
  }
  return byTable;
}

/** A table of such rows, with those computed again that may differ. `make` should return `before` if the new row is equal. */
export function* updated<S, V extends object>(table: Table<V>, rows: Derived<S, V>, transition: Transition<S>): CooperativeTask<Table<V>> {
  const rowsNow = yield* updatedRows(table, rows, transition);
  if (rowsNow.length === 0) return table;
  const next = yield* withEach(table, rowsNow);
  transition.earlier?.changes.note(next, table, changesIn(table, rowsNow));
  return next;
}

function changesIn<V extends object>(table: Table<V>, rowsNow: readonly (readonly [string, V | undefined])[]): readonly EntryChange<V>[] {
  const changes = rowsNow.map(([key, after]): EntryChange<V> => ({ key, before: table.row(key), after }));
  return changes.length < 2 ? changes : changes.sort((a, b) => (a.key < b.key ? -1 : 1));
}

/** The rows in which such a table differs. */
export function* updatedRows<S, V extends object>(
  table: Table<V>,
  rows: Derived<S, V>,
  transition: Transition<S>,
): CooperativeTask<readonly (readonly [string, V | undefined])[]> {
  if (transition.earlier === undefined && table.size === 0) {
    yield* rows.indexed(transition.now);
    return yield* rows.all(transition.now);
  }
  const affected = yield* rows.affected(transition);
  if (affected.size === 0) return [];
  yield* rows.indexed(transition.now);
  return yield* recomputeRows(table, affected, rows.at(transition.now));
}
