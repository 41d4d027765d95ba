/**
 * How often a property runs: `full` times in `npm run test:long`, which sets `ISTHMUS_FULL_RUNS`, and a fifth of that in `npm test`, so that its
 * processor time stays small. Both begin with a fresh seed each time.
 */
export function runs(full: number): number {
  return process.env["ISTHMUS_FULL_RUNS"] === undefined ? Math.ceil(full / 5) : full;
}

/** All of a list in `npm run test:long`, and in `npm test` a fifth: every fifth from one that is chosen anew each time. */
export function sampled<T>(list: readonly T[]): readonly T[] {
  if (process.env["ISTHMUS_FULL_RUNS"] !== undefined) return list;
  const first = Math.floor(Math.random() * 5);
  return list.filter((_, i) => i % 5 === first);
}
