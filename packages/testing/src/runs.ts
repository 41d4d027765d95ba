/** Which part of the work of properties and lists `npm test` does. */
const PART = 20;

/** In larger parts each case that is counted is certain enough: one of twenty in 50 draws is missing once in a thousand runs, and cases are likelier. */
const PART_WITH_ALL = 3;

/**
 * How often a property runs: `full` times in `npm run test:long`, which sets `ISTHMUS_FULL_RUNS`, and a twentieth of that in `npm test`, so that
 * its processor time stays small. `ISTHMUS_RUNS_PART=3` makes it a third: CI's budget, where `.ci/nightly` does all. Each begins with a fresh seed each time.
 */
export function runs(full: number): number {
  return Math.ceil(full / part());
}

/** All of a list in `npm run test:long`, and in `npm test` a twentieth: every twentieth from one that is chosen again each time. `ISTHMUS_RUNS_PART` as above. */
export function sampled<T>(list: readonly T[]): readonly T[] {
  const every = part();
  const first = Math.floor(Math.random() * Math.min(every, list.length));
  return list.filter((_, i) => i % every === first);
}

/**
 * Whether a run does enough of the work for every case that a property counts to have been drawn: all of it, or CI's third. In the twentieth
 * of `npm test` a rare case may be missing by chance.
 */
export function drawsEachCase(): boolean {
  return part() <= PART_WITH_ALL;
}

function part(): number {
  const given = Number(process.env["ISTHMUS_RUNS_PART"]);
  if (Number.isSafeInteger(given) && given > 0) return given;
  return process.env["ISTHMUS_FULL_RUNS"] === undefined ? PART : 1;
}
