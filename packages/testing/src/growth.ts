/** Lengths of texts whose times are compared. */
export const [SMALL_TEXT, LARGE_TEXT] = [16 * 1024, 64 * 1024];

/** What four times the text may cost: with the square of its length it were sixteen times the processor time. */
export const MOST_GROWTH = 9;

/** For a test that measures, on a machine that does much else, in ms. */
export const PATIENCE_MS = 120_000;

/** Texts of a part that is repeated, and an end. */
export function repeated(part: string, end = ""): (length: number) => string {
  return (length) => part.repeat(Math.ceil(length / part.length)) + end;
}

/**
 * How many times the processor time a function takes for four times the text. What exceeds `MOST_GROWTH` is measured thrice, and the
 * least counts: garbage may have been collected in one of them.
 */
export function growthOf(run: (text: string) => void, worst: (length: number) => string): number {
  const [small, large] = [worst(SMALL_TEXT), worst(LARGE_TEXT)];
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 3 && least >= MOST_GROWTH; round++) {
    least = Math.min(least, leastCpuMs(() => run(large)) / leastCpuMs(() => run(small)));
  }
  return least;
}

const MEASURABLE_MS = 2;

/** The least of several processor times, in ms, of work that is repeated until it can be measured. Other processes do not count. */
export function leastCpuMs(work: () => void): number {
  let times = 1;
  let best = Number.POSITIVE_INFINITY;
  for (let measured = 0; measured < 4; ) {
    const began = process.cpuUsage();
    for (let i = 0; i < times; i++) work();
    const { user, system } = process.cpuUsage(began);
    const took = (user + system) / 1000;
    // On a busy machine what takes less may count as nothing.
    if (took < MEASURABLE_MS) {
      times *= 4;
      continue;
    }
    best = Math.min(best, took / times);
    measured++;
    // What takes long needs no repetition to be measured.
    if (took > 200 && measured >= 2) break;
  }
  return best;
}
