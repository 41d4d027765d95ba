/** The widths that columns get so that all of them together have `available` characters; the widest give first. None gets less than `least`. */
export function fittedWidths(widths: readonly number[], available: number, least: number): readonly number[] {
  const fitted = [...widths];
  let excess = fitted.reduce((sum, width) => sum + width, 0) - available;
  while (excess > 0) {
    const widest = Math.max(...fitted);
    if (widest <= least) break;
    const next = Math.max(least, ...fitted.filter((width) => width < widest));
    const columns = fitted.flatMap((width, i) => (width === widest ? [i] : []));
    const each = Math.min(widest - next, Math.ceil(excess / columns.length));
    for (const column of columns) {
      const cut = Math.min(each, excess);
      fitted[column] = widest - cut;
      excess -= cut;
    }
  }
  return fitted;
}

/** A text in lines of at most `width` characters, broken at spaces where there are any. */
export function wrapped(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let rest = text;
  while (rest.length > width) {
    const space = rest.lastIndexOf(" ", width);
    const end = space > 0 ? space : width;
    lines.push(rest.slice(0, end));
    rest = rest.slice(end).trimStart();
  }
  return [...lines, rest];
}
