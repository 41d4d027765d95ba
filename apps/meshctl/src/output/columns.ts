import { wrapped } from "./fit.ts";
import { plainText } from "./plainText.ts";

export interface ColumnsOptions {
  /** Of the terminal; none: a pipe, where nothing is cut or left out. */
  readonly width?: number | undefined;
  /** The last column has sentences: they may be cut, or stand below their row. */
  readonly isSentenceLast?: boolean;
  /** How wide each column is at least, as `columnWidths` gives it: rows that are printed later then stand below those before. */
  readonly least?: readonly number[];
  /** Rows alone, below headers that were printed before. */
  readonly isContinued?: boolean;
}

/** How wide each column must be for these rows, in characters. */
export function columnWidths(headers: readonly string[], rows: readonly (readonly string[])[]): readonly number[] {
  return headers.map((header, i) => rows.reduce((most, row) => Math.max(most, cellText(row[i]).length), header.length));
}

/**
 * A table as kubectl prints it: a row of headers, columns three spaces apart. Names stay whole, so that they can be copied. Where a terminal
 * is too narrow, in this order: sentences in the last column are cut, unless too little of them would be left: then they stand below their
 * rows; columns are left out from the right, down to the first two, and a line below the table names them.
 */
export function columnsText(
  headers: readonly string[],
  rows: readonly (readonly string[])[],
  { width = Number.MAX_SAFE_INTEGER, isSentenceLast = false, least = [], isContinued = false }: ColumnsOptions = {},
): string {
  const lines = (isContinued ? rows : [headers, ...rows]).map((row) => headers.map((_, i) => cellText(row[i])));
  const widths = columnWidths(headers, rows).map((own, i) => Math.max(own, least[i] ?? 0));
  const last = headers.length - 1;
  const left = width - spanOf(widths.slice(0, last)) - GAP.length;
  if ((widths[last] ?? 0) <= left) return tableText(lines, widths);
  if (isSentenceLast && left >= LEAST_LAST) return tableText(lines, widths.with(last, left));
  const whole = isSentenceLast ? last : last + 1;
  let shown = whole;
  while (shown > LEAST_COLUMNS && spanOf(widths.slice(0, shown)) > width) shown -= 1;
  const below = lines.map((line, i) => (isSentenceLast && (i > 0 || isContinued) ? sentenceLines(line[last] ?? "", width) : ""));
  const leftOut = headers.slice(shown, whole);
  const note =
    leftOut.length === 0 || isContinued
      ? ""
      : wrapped(`(no room for ${leftOut.join(", ")})`, width)
          .map((line) => `${line}\n`)
          .join("");
  return tableText(lines, widths.slice(0, shown), below) + note;
}

const GAP = "   ";
// The beginning of a sentence.
const LEAST_LAST = 16;
// What tells a row from another one.
const LEAST_COLUMNS = 2;
// More than a message has; a cell of a megabyte would make every line as long.
const LONGEST_CELL = 1_024;
const INDENT = "  ";

function cellText(cell = ""): string {
  return plainText(cell, LONGEST_CELL);
}

function spanOf(widths: readonly number[]): number {
  return widths.reduce((sum, column) => sum + column, 0) + Math.max(0, widths.length - 1) * GAP.length;
}

/** As many columns as there are widths; `below`: what comes after each line. */
function tableText(lines: readonly (readonly string[])[], widths: readonly number[], below: readonly string[] = []): string {
  const text = (line: readonly string[]): string => widths.map((width, i) => cut(line[i] ?? "", width).padEnd(width)).join(GAP);
  return lines.map((line, i) => `${text(line).trimEnd()}\n${below[i] ?? ""}`).join("");
}

function sentenceLines(sentence: string, width: number): string {
  if (sentence === "") return "";
  return wrapped(sentence, Math.max(LEAST_LAST, width - INDENT.length))
    .map((line) => `${INDENT}${line}\n`)
    .join("");
}

/** The beginning of a sentence, between words unless too little is left. */
function cut(cell: string, width: number): string {
  if (cell.length <= width) return cell;
  const space = cell.lastIndexOf(" ", width - 1);
  return `${cell.slice(0, space > width / 2 ? space : Math.max(0, width - 1))}…`;
}
