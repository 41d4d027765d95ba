import type { ReactNode } from "react";
import { compareValues, parseSorting } from "../model/sorting.ts";
import { type Filter, matchesFilter } from "../model/tokens.ts";

/** A column of a table of rows of one type. */
export interface Column<R> {
  readonly id: string;
  readonly title: string;
  /** Its least width in rem, and its share of what is left. */
  readonly width: readonly [number, number];
  cell(row: R): ReactNode;
  /** What is exported, sorted by, and searched for words. */
  text(row: R): string;
  /** Where the text sorts wrongly. */
  sort?(row: R): string | number;
  /** The key of filter tokens that this column answers, with the values of a row; by default its text. */
  readonly token?: string;
  values?(row: R): readonly string[];
}

/** Whether a row matches a filter. Of twenty thousand rows only that is read which the filter asks for. */
export function matchesRow<R>(columns: readonly Column<R>[], filter: Filter, row: R): boolean {
  const fields = new Map<string, readonly string[]>();
  for (const column of columns) {
    const { token } = column;
    if (token === undefined || !filter.tokens.some(({ key }) => key === token)) continue;
    fields.set(token, column.values?.(row) ?? [column.text(row)]);
  }
  if (filter.words.length + (filter.negatedWords?.length ?? 0) === 0) return matchesFilter(filter, { fields, text: "" });
  const text = columns.map((column) => column.text(row)).join("\n");
  return matchesFilter(filter, { fields, text: text.toLowerCase() });
}

/** Rows in the order that an address asks for; as they are where it asks for none that there is. */
export function sortedRows<R>(rows: readonly R[], columns: readonly Column<R>[], sort: string | undefined): readonly R[] {
  const orders = parseSorting(sort).flatMap(({ column: id, isDescending }) => {
    const column = columns.find((one) => one.id === id);
    return column === undefined ? [] : [{ keyOf: (row: R) => column.sort?.(row) ?? column.text(row), sign: isDescending ? -1 : 1 }];
  });
  if (orders.length === 0) return rows;
  return [...rows].sort((a, b) => {
    for (const { keyOf, sign } of orders) {
      const order = sign * compareValues(keyOf(a), keyOf(b));
      if (order !== 0) return order;
    }
    return 0;
  });
}

/** The columns that an address hides: names that no column has are left out, as is the first column, which says what a row is. */
export function hiddenIds<R>(columns: readonly Column<R>[], hide: string | undefined): readonly string[] {
  const named = new Set((hide ?? "").split(","));
  return columns.slice(1).flatMap(({ id }) => (named.has(id) ? [id] : []));
}

/** The keys of filter tokens that columns answer. */
export function tokenKeys<R>(columns: readonly Column<R>[]): readonly string[] {
  return columns.flatMap(({ token }) => (token === undefined ? [] : [token]));
}

/** The tracks of a grid with these columns, and one for what can be copied of a row; and the least width of a row, padding and gaps included. */
export function gridOf<R>(
  columns: readonly Column<R>[],
  hasCopy = false,
): { readonly gridTemplateColumns: string; readonly minWidth: string } {
  const least = columns.reduce((sum, { width: [rem] }) => sum + rem, 0);
  return {
    gridTemplateColumns: [
      ...columns.map(({ width: [rem, share] }) => `minmax(${rem}rem, ${share}fr)`),
      ...(hasCopy ? ["1.6rem"] : []),
    ].join(" "),
    minWidth: `calc(${least + (hasCopy ? 1.6 : 0)}rem + ${(columns.length + (hasCopy ? 1 : 0)) * 12 + 16}px)`,
  };
}
