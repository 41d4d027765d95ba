import type { ReactNode } from "react";
import { type Filter, matchesFilter } from "../../model/lines/tokens.ts";
import { compareValues, parseSorting } from "../../model/sorting.ts";

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
  /** Whether it holds sentences or long names: its cells have two lines, and a share of the width to match. */
  readonly isLong?: boolean;
  /** Whether it is a figure that changes all the time: no row pulses because of it. */
  readonly isMeasured?: boolean;
  /** Where the table is too narrow for all of its columns, those with the lowest number are left out first; those without one stay. */
  readonly spare?: number;
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

/** The value of an address that says that all columns are shown, however narrow the table is: no column has this name. */
export const ALL_COLUMNS = "none";

/** The ids of the columns that a table of this width, in pixels, has no room for: none where an address chooses them, or where the width is not known yet. */
export function sparedIds<R>(
  columns: readonly Column<R>[],
  {
    hide,
    width,
    remPx,
    hasCopy,
  }: { readonly hide: string | undefined; readonly width: number | undefined; readonly remPx: number; readonly hasCopy: boolean },
): readonly string[] {
  if (hide !== undefined || width === undefined) return [];
  const spare = columns.slice(1).filter((column) => column.spare !== undefined);
  const order = spare.sort((a, b) => (a.spare ?? 0) - (b.spare ?? 0)).map(({ id }) => id);
  const spared: string[] = [];
  const isTooWide = () =>
    leastWidth(
      columns.filter(({ id }) => !spared.includes(id)),
      hasCopy,
      remPx,
    ) > width;
  while (order.length > 0 && isTooWide()) spared.push(...order.splice(0, 1));
  return spared;
}

function leastWidth<R>(columns: readonly Column<R>[], hasCopy: boolean, remPx: number): number {
  const { rem, px } = leastOf(columns, hasCopy);
  return rem * remPx + px;
}

/** The least width of a row: columns, then padding and gaps. */
function leastOf<R>(columns: readonly Column<R>[], hasCopy: boolean): { readonly rem: number; readonly px: number } {
  const least = columns.reduce((sum, { width: [rem] }) => sum + rem, 0);
  return { rem: least + (hasCopy ? 1.6 : 0), px: (columns.length + (hasCopy ? 1 : 0)) * 12 + 16 };
}

/** The tracks of a grid with these columns, and one for what can be copied of a row; and the least width of a row, padding and gaps included. */
export function gridOf<R>(
  columns: readonly Column<R>[],
  hasCopy = false,
): { readonly gridTemplateColumns: string; readonly minWidth: string } {
  const { rem: least, px } = leastOf(columns, hasCopy);
  return {
    gridTemplateColumns: [
      ...columns.map(({ width: [rem, share] }) => `minmax(${rem}rem, ${share}fr)`),
      ...(hasCopy ? ["1.6rem"] : []),
    ].join(" "),
    minWidth: `calc(${least}rem + ${px}px)`,
  };
}
