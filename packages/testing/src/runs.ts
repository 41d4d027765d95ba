/** Which part of the work of properties and lists `npm test` does. */
const PART = 8;

/**
 * How often a property runs: `full` times in `npm run test:long`, which sets `ISTHMUS_FULL_RUNS`, and an eighth of that in `npm test`, so that
 * its processor time stays small. Both begin with a fresh seed each time.
 */
export function runs(full: number): number {
  return process.env["ISTHMUS_FULL_RUNS"] === undefined ? Math.ceil(full / PART) : full;
}

/** All of a list in `npm run test:long`, and in `npm test` an eighth: every eighth from one that is chosen again each time. */
export function sampled<T>(list: readonly T[]): readonly T[] {
  if (process.env["ISTHMUS_FULL_RUNS"] !== undefined) return list;
  const first = Math.floor(Math.random() * Math.min(PART, list.length));
  return list.filter((_, i) => i % PART === first);
}
