import { fittedWidths, longestWord, wrapped } from "./fit.ts";
import { plainText } from "./plainText.ts";

/** The lines of a cell. */
export type Cell = readonly string[];

/**
 * A table with borders, as the published `meshctl describe` prints it: centred headers, a line between rows, cells of several lines with
 * an empty one at the end. On a terminal of `width` characters lines are wrapped.
 */
export function boxedTable(headers: readonly string[], rows: readonly (readonly Cell[])[], width?: number): string {
  const texts = rows.map((row) => headers.map((_, i) => (row[i] ?? []).slice(0, MOST_LINES).map((line) => plainText(line))));
  const natural = headers.map((header, i) => mostOf(texts, i, header, ({ length }) => length));
  // Each column has a border and two spaces, and the last one a border more.
  const words = headers.map((header, i) => mostOf(texts, i, header, longestWord));
  const widths = width === undefined ? natural : boxWidths(natural, words, width - 3 * headers.length - 1);
  const border = `+${widths.map((column) => "-".repeat(column + 2)).join("+")}+\n`;
  const titles = sideBySide(headers.map((header, i) => wrapped(header, widths[i] ?? header.length)));
  const centredTitles = titles.map((line) => line.map((title, i) => centred(title, widths[i] ?? 0)));
  const blocks = [centredTitles, ...texts.map((row) => linesOf(row, widths))];
  return [border, ...blocks.map((lines) => lines.map((line) => rowText(line, widths)).join("") + border)].join("");
}

/** The largest measure of a column's lines. One after the other: there may be more of them than a call takes arguments. */
function mostOf(texts: readonly (readonly Cell[])[], column: number, header: string, measure: (line: string) => number): number {
  let most = measure(header);
  for (const row of texts) for (const line of row[column] ?? []) most = Math.max(most, measure(line));
  return most;
}

/** `words`: the longest word of each column. Columns stay as wide as those, but for the widest where all of them together do not fit. */
function boxWidths(natural: readonly number[], words: readonly number[], available: number): readonly number[] {
  const least = fittedWidths(
    words,
    available,
    words.map((word) => Math.min(word, LEAST)),
  );
  return fittedWidths(natural, available, least);
}

// Five columns fit into 80 characters, and the longest word of a header into its column.
const LEAST = 12;
// A policy may select a thousand things: anyone who wants all of them takes `meshctl get -o yaml`.
const MOST_LINES = 1_000;

/** A row's lines: each has one text for each column. */
function linesOf(row: readonly Cell[], widths: readonly number[]): readonly (readonly string[])[] {
  return sideBySide(row.map((cell, i) => [...cell.flatMap((line) => wrapped(line, widths[i] ?? line.length)), ""]));
}

function sideBySide(cells: readonly Cell[]): readonly (readonly string[])[] {
  const height = Math.max(...cells.map(({ length }) => length));
  return Array.from({ length: height }, (_, line) => cells.map((cell) => cell[line] ?? ""));
}

function rowText(cells: readonly string[], widths: readonly number[]): string {
  return `| ${cells.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join(" | ")} |\n`;
}

function centred(text: string, width: number): string {
  return text.padStart(text.length + Math.ceil((width - text.length) / 2)).padEnd(width);
}
