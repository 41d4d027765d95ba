import { plainText } from "./plainText.ts";

/**
 * A table as kubectl prints it: a row of headers, columns three spaces apart. On a terminal of `width` characters the last column is cut:
 * names stay whole, so that they can be copied.
 */
export function columnsText(headers: readonly string[], rows: readonly (readonly string[])[], width?: number): string {
  const lines = [headers, ...rows].map((row) => headers.map((_, i) => plainText(row[i] ?? "", LONGEST_CELL)));
  const widths = headers.map((_, i) => lines.reduce((most, line) => Math.max(most, line[i]?.length ?? 0), 0));
  const last = headers.length - 1;
  const before = widths.slice(0, last).reduce((sum, column) => sum + column + GAP.length, 0);
  const fitted = width === undefined ? widths : widths.with(last, Math.min(widths[last] ?? 0, Math.max(LEAST_LAST, width - before)));
  return lines
    .map(
      (line) =>
        `${line
          .map((cell, i) => cut(cell, fitted[i] ?? 0).padEnd(fitted[i] ?? 0))
          .join(GAP)
          .trimEnd()}\n`,
    )
    .join("");
}

const GAP = "   ";
// The beginning of a sentence.
const LEAST_LAST = 20;
// More than a message has; a cell of a megabyte would make every line as long.
const LONGEST_CELL = 1_024;

function cut(cell: string, width: number): string {
  return cell.length > width ? `${cell.slice(0, Math.max(0, width - 1))}…` : cell;
}
