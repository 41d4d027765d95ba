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

/**
 * The mutants of a source text by name: the line that they change, also after lines elsewhere have changed. Of several with the same
 * name, the later ones have an ordinal, so that a reason is about one of them.
 */
export function named(mutants: readonly Mutant[], source: string): ReadonlyMap<string, Mutant> {
  const byName = new Map<string, Mutant>();
  const counts = new Map<string, number>();
  for (const mutant of mutants) {
    const name = nameOf(mutant, source, mutant);
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    byName.set(count === 1 ? name : `${name} #${count}`, mutant);
  }
  return byName;
}

function nameOf({ path, what }: Mutant, source: string, { start, end }: Pick<Mutant, "start" | "end">): string {
  const from = source.lastIndexOf("\n", start - 1) + 1;
  const to = source.indexOf("\n", end);
  const text = source.slice(from, to < 0 ? undefined : to).trim();
  return `${path}: ${what} in: ${text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text}`.replaceAll(/\s+/g, " ");
}

const LONGEST = 160;

export function mutated(source: string, { start, end, replacement }: Mutant): string {
  return source.slice(0, start) + replacement + source.slice(end);
}
