/** The order of a table by one of its columns, and whether its largest value comes first. */
export interface Sorting {
  readonly column: string;
  readonly isDescending: boolean;
}

// By more nobody sorts, and each costs a comparison of each row.
const MOST_COLUMNS = 4;

/** Reads `name` or `-name,cluster`: rows that are equal by the first column are in the order of the next. A column counts once. */
export function parseSorting(text: string | undefined): readonly Sorting[] {
  const seen = new Set<string>();
  return (text ?? "")
    .split(",")
    .flatMap((part): readonly Sorting[] => {
      const isDescending = part.startsWith("-");
      const column = isDescending ? part.slice(1) : part;
      if (column === "" || seen.has(column)) return [];
      seen.add(column);
      return [{ column, isDescending }];
    })
    .slice(0, MOST_COLUMNS);
}

/** The text that `parseSorting` reads; undefined for no order. */
export function formatSorting(sortings: readonly Sorting[]): string | undefined {
  const text = sortings.map(({ column, isDescending }) => `${isDescending ? "-" : ""}${column}`).join(",");
  return text === "" ? undefined : text;
}

/** What follows when a column is chosen: its order, then the other way round, then none. With `isAdded` the order by other columns stays before it. */
export function nextSorting(sortings: readonly Sorting[], column: string, isAdded: boolean): readonly Sorting[] {
  const at = sortings.findIndex((sorting) => sorting.column === column);
  const next = at < 0 ? [{ column, isDescending: false }] : sortings[at]?.isDescending ? [] : [{ column, isDescending: true }];
  if (!isAdded) return next;
  return at < 0 ? [...sortings.slice(0, MOST_COLUMNS - 1), ...next] : [...sortings.slice(0, at), ...next, ...sortings.slice(at + 1)];
}

// One collator, as to make one takes longer than to compare a thousand names.
const names = new Intl.Collator("en", { numeric: true });

/** Compares two values of one column: numbers by size, others as names. */
export function compareValues(a: string | number, b: string | number): number {
  return typeof a === "number" && typeof b === "number" ? a - b : names.compare(String(a), String(b));
}
