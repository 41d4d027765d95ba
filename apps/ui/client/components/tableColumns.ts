import type { ReactNode } from "react";
import type { Filterable } from "../model/tokens.ts";

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

/** What a row can be found by. */
export function filterableOf<R>(columns: readonly Column<R>[], row: R): Filterable {
  const fields = new Map<string, readonly string[]>();
  for (const column of columns) {
    if (column.token !== undefined) fields.set(column.token, column.values?.(row) ?? [column.text(row)]);
  }
  return {
    fields,
    text: columns
      .map((column) => column.text(row))
      .join("\n")
      .toLowerCase(),
  };
}

/** The keys of filter tokens that columns answer. */
export function tokenKeys<R>(columns: readonly Column<R>[]): readonly string[] {
  return columns.flatMap(({ token }) => (token === undefined ? [] : [token]));
}

/** The tracks of a grid with these columns, and the least width of a row, padding and gaps included. */
export function gridOf<R>(columns: readonly Column<R>[]): { readonly gridTemplateColumns: string; readonly minWidth: string } {
  const least = columns.reduce((sum, { width: [rem] }) => sum + rem, 0);
  return {
    gridTemplateColumns: columns.map(({ width: [rem, share] }) => `minmax(${rem}rem, ${share}fr)`).join(" "),
    minWidth: `calc(${least}rem + ${columns.length * 12 + 16}px)`,
  };
}
