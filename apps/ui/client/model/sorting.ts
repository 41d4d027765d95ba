/** The order of a table: a column, and whether its largest value comes first. */
export interface Sorting {
  readonly column: string;
  readonly isDescending: boolean;
}

/** Reads `name` or `-name`; undefined for no order. */
export function parseSorting(text: string | undefined): Sorting | undefined {
  if (text === undefined || text === "" || text === "-") return undefined;
  return text.startsWith("-") ? { column: text.slice(1), isDescending: true } : { column: text, isDescending: false };
}

/** The text that `parseSorting` reads. */
export function formatSorting({ column, isDescending }: Sorting): string {
  return `${isDescending ? "-" : ""}${column}`;
}

// One collator, as to make one takes longer than to compare a thousand names.
const names = new Intl.Collator("en", { numeric: true });

/** Compares two values of one column: numbers by size, others as names. */
export function compareValues(a: string | number, b: string | number): number {
  return typeof a === "number" && typeof b === "number" ? a - b : names.compare(String(a), String(b));
}
