import type { EntryChange } from "@isthmus/core";
import type { Changes } from "./changes.ts";
import type { LookupTable } from "./lookupTable.ts";

/** The run before: the tables that rows were computed from, and the comparisons that the stages of this run share. */
export interface EarlierRun<S> {
  readonly before: S;
  readonly changes: Changes;
}

/** One run of a derivation: the tables that its rows are computed from, now and in the run before. */
export interface Transition<S> {
  readonly now: S;
  /** Undefined from scratch. */
  readonly earlier: EarlierRun<S> | undefined;
  /** Rows of a table that are different. Empty from scratch. */
  changesOf<T extends object>(table: (sources: S) => LookupTable<T>): readonly EntryChange<T>[];
}

/** A run that follows `earlier`, or starts from scratch. */
export function transition<S>(now: S, earlier: EarlierRun<S> | undefined): Transition<S> {
  return {
    now,
    earlier,
    changesOf: (table) => (earlier === undefined ? NONE : earlier.changes.between(table(now), table(earlier.before))),
  };
}

const NONE: readonly never[] = [];
