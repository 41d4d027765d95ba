import type { Index } from "@isthmus/core";
import type { LookupTable } from "./lookupTable.ts";
import { isSame } from "./rows.ts";

/** Which rows of one table look up which of another one: both directions of the same relation. */
export interface Matching<F, T> {
  /** The rows of `to` that a row looks up. `key` is its own, where that is known already. */
  find(row: F, to: LookupTable<T>, key?: string): readonly T[];
  /** The reverse: all rows of `from` that look up a row, and perhaps others. `key` is the row's own, where that is known already. */
  findBack(row: T, from: LookupTable<F>, key?: string): Iterable<F>;
  /** The same, as keys of `from`: where rows ask for their own keys these need not be made again. */
  keysBack?(row: T, from: LookupTable<F>, key?: string): Iterable<string>;
  /** The rows of `from` to which it matters that a row of `to` is another one, where those are fewer than all that look up either. */
  findBackChanged?(before: T, after: T, from: LookupTable<F>): Iterable<F>;
  /** Whether rows are found by their own keys alone, which no version of them changes. */
  readonly isFoundByOwnKey?: boolean;
  /** Whether a row can be looked up at all: a change of one that cannot be is nothing to anybody. */
  isFindable?(row: T): boolean;
  /** Whether two versions of a row look up the same. */
  isSameAsking(before: F, after: F): boolean;
  /** Whether two versions of a row are looked up by the same. */
  isSameFound(before: T, after: T): boolean;
  /** The indexes that `find` uses. */
  readonly indexes: readonly Index<T>[];
  /** The indexes that `findBack` uses. */
  readonly backIndexes: readonly Index<F>[];
}

/** How rows of one table name rows of another one. */
export interface EqualValues<F, T> {
  /** The values that a row asks for, in the order in which it finds them. Default: its own key. */
  readonly key?: Index<F>;
  /** The values under which rows are found. Default: their own key. */
  readonly index?: Index<T>;
  /** Which rows ask at all. */
  readonly when?: (row: F) => boolean;
}

interface KeysOfRows<F, T> {
  readonly from: (row: F) => string;
  readonly to: (row: T) => string;
}

/** Rows match where a value that one asks for is one that the other is found under. */
export function equalValues<F extends object, T extends object>(
  { key, index, when }: EqualValues<F, T>,
  keyOf: KeysOfRows<F, T>,
): Matching<F, T> {
  const asks = (row: F): readonly string[] => (when?.(row) === false ? NONE : key === undefined ? [keyOf.from(row)] : key(row));
  const names = (row: T, ownKey?: string): readonly string[] => (index === undefined ? [ownKey ?? keyOf.to(row)] : index(row));
  const found = (value: string, to: LookupTable<T>): readonly T[] => {
    if (index !== undefined) return to.where(index, value);
    const row = to.row(value);
    return row === undefined ? NONE : [row];
  };
  const ownRow = (value: string, from: LookupTable<F>): F | undefined => {
    const own = from.row(value);
    return own === undefined || when?.(own) === false ? undefined : own;
  };
  const foundBack = (value: string, from: LookupTable<F>): readonly F[] => {
    if (key === undefined) {
      const own = ownRow(value, from);
      return own === undefined ? NONE : [own];
    }
    const rows = from.where(key, value);
    return when === undefined ? rows : rows.filter(when);
  };
  return {
    find(row, to, ownKey) {
      if (when?.(row) === false) return NONE;
      if (key === undefined) return found(ownKey ?? keyOf.from(row), to);
      const values = key(row);
      const [value] = values;
      if (value === undefined) return NONE;
      return values.length === 1 ? found(value, to) : values.flatMap((one) => found(one, to));
    },
    findBack(row, from, ownKey) {
      const values = names(row, ownKey);
      const [value] = values;
      if (value === undefined) return NONE;
      return values.length === 1 ? foundBack(value, from) : values.flatMap((one) => foundBack(one, from));
    },
    ...(key === undefined
      ? { keysBack: (row, from, ownKey) => names(row, ownKey).filter((value) => ownRow(value, from) !== undefined) }
      : undefined),
    isFoundByOwnKey: index === undefined,
    ...(index === undefined ? undefined : { isFindable: (row) => index(row).length > 0 }),
    isSameAsking: (before, after) => isSame(asks(before), asks(after)),
    isSameFound: (before, after) => index === undefined || isSame(names(before), names(after)),
    indexes: index === undefined ? NONE : [index],
    backIndexes: key === undefined ? NONE : [key],
  };
}

const NONE: readonly never[] = [];
