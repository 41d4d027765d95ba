/** Lengths of texts whose times are compared. */
export const [SMALL_TEXT, LARGE_TEXT] = [16 * 1024, 64 * 1024];

/** What four times the text may cost, with room for a busy machine: with the square of its length it were sixteen times the time. */
export const MOST_GROWTH = 9;

/** For a test that measures, on a machine that does much else: what is compared are times of one and the same minute. */
export const PATIENCE_MS = 120_000;

/** Texts of a part that is repeated, and an end. */
export function repeated(part: string, end = ""): (length: number) => string {
  return (length) => part.repeat(Math.ceil(length / part.length)) + end;
}

/** How many times as long a function takes for four times the text. */
export function growthOf(run: (text: string) => void, worst: (length: number) => string): number {
  const [small, large] = [worst(SMALL_TEXT), worst(LARGE_TEXT)];
  const ratios = Array.from({ length: 3 }, () => shortest(() => run(large)) / shortest(() => run(small)));
  return Math.min(...ratios);
}

/** The shortest of several times, in ms, of work that is repeated until it can be measured. */
function shortest(work: () => void): number {
  let times = 1;
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 7; round++) {
    const started = performance.now();
    for (let i = 0; i < times; i++) work();
    const took = performance.now() - started;
    best = Math.min(best, took / times);
    if (took < 1) times *= 4;
  }
  return best;
}
