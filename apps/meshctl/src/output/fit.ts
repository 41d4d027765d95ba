/** The widths that columns get so that all of them together have `available` characters; the widest give first. None gets less than its `least`. */
export function fittedWidths(widths: readonly number[], available: number, least: readonly number[]): readonly number[] {
  const fitted = [...widths];
  const leastOf = (column: number): number => least[column] ?? 0;
  let excess = fitted.reduce((sum, width) => sum + width, 0) - available;
  while (excess > 0) {
    const open = fitted.flatMap((width, column) => (width > leastOf(column) ? [{ width, column }] : []));
    if (open.length === 0) break;
    const widest = Math.max(...open.map(({ width }) => width));
    const columns = open.flatMap(({ width, column }) => (width === widest ? [column] : []));
    const next = Math.max(...columns.map(leastOf), ...open.flatMap(({ width }) => (width < widest ? [width] : [])));
    const each = Math.min(widest - next, Math.ceil(excess / columns.length));
    for (const column of columns) {
      const cut = Math.min(each, excess);
      fitted[column] = widest - cut;
      excess -= cut;
    }
  }
  return fitted;
}

/** The length of the longest word. */
export function longestWord(text: string): number {
  return text.split(" ").reduce((most, word) => Math.max(most, word.length), 0);
}

/**
 * A text in lines of at most `available` characters, and of one where that is less; broken at spaces; of a word that is longer than a line, after a sign such
 * as `.` or `/`.
 */
export function wrapped(text: string, available: number): readonly string[] {
  // A terminal may say that it has a column or two, which an indentation takes away.
  const width = Math.max(1, available);
  const lines: string[] = [];
  let rest = text;
  while (rest.length > width) {
    const space = rest.lastIndexOf(" ", width);
    const end = space > 0 ? space : endWithin(rest, width);
    lines.push(rest.slice(0, end));
    rest = rest.slice(end).trimStart();
  }
  return [...lines, rest];
}

/** Where a word is broken that has no space within `width`. */
function endWithin(word: string, width: number): number {
  for (let end = width; end > width / 2; end--) if (BREAKS.includes(word.charAt(end - 1))) return end;
  return width;
}

const BREAKS = "./-_:,;=";
