/**
 * How often a property runs: `full` times in `npm run test:long`, which sets `ISTHMUS_FULL_RUNS`, and a fifth of that in `npm test`, so that its
 * processor time stays small. Both begin with a fresh seed each time.
 */
export function runs(full: number): number {
  return process.env["ISTHMUS_FULL_RUNS"] === undefined ? Math.ceil(full / 5) : full;
}
