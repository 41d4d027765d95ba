/** One change of one source file that should make some test or schedule fail. */
export interface Mutant {
  /** From the root of the repository. */
  readonly path: string;
  /** 1-based, of the change. */
  readonly line: number;
  /** Where the text is that is replaced. */
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
  /** What was done, such as `!==` to `===`. */
  readonly what: string;
}

/** Names a mutant among all that a source text has, also after lines elsewhere have changed. */
export function nameOf({ path, what }: Mutant, source: string, { start, end }: Pick<Mutant, "start" | "end">): string {
  const from = source.lastIndexOf("\n", start - 1) + 1;
  const to = source.indexOf("\n", end);
  const text = source.slice(from, to < 0 ? undefined : to).trim();
  return `${path}: ${what} in: ${text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text}`.replaceAll(/\s+/g, " ");
}

const LONGEST = 160;

export function mutated(source: string, { start, end, replacement }: Mutant): string {
  return source.slice(0, start) + replacement + source.slice(end);
}
