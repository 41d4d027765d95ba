import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname } from "node:path";

/** One run, with the test files that failed in it and passed when they were run again. */
export interface RunOfFlakes {
  /** ISO 8601, UTC. */
  readonly date: string;
  readonly commit: string;
  readonly flaky: readonly string[];
}

/** How many a run may have. */
const MOST_IN_A_RUN = 2;
/** Within so many runs no file may be flaky twice. */
const RUNS_OF_MEMORY = 20;

/** Reads the last runs from a file, the newest last. */
export function readFlakes(path: string): readonly RunOfFlakes[] {
  if (!existsSync(path)) return [];
  return readFileSync(path, "utf8")
    .split("\n")
    .flatMap((line) => {
      try {
        const { date, commit, flaky } = JSON.parse(line) as RunOfFlakes;
        return Array.isArray(flaky) ? [{ date, commit, flaky }] : [];
      } catch {
        return [];
      }
    });
}

/** Adds a run to the file, also one without any: the memory is counted in runs. */
export function writeFlakes(path: string, run: RunOfFlakes): void {
  mkdirSync(dirname(path), { recursive: true });
  appendFileSync(path, `${JSON.stringify(run)}\n`);
}

/** Why a run fails that was green only with the second tries of these files; empty: it need not. `earlier` are the runs before it. */
export function flakeProblems(flaky: readonly string[], earlier: readonly RunOfFlakes[]): readonly string[] {
  const problems = flaky.length > MOST_IN_A_RUN ? [`${flaky.length} test files were flaky; a run may have ${MOST_IN_A_RUN}`] : [];
  const lately = earlier.slice(-(RUNS_OF_MEMORY - 1));
  for (const file of flaky) {
    const before = lately.findLast((run) => run.flaky.includes(file));
    if (before !== undefined) {
      problems.push(
        `${file} was flaky on ${before.date.slice(0, 10)}, too (commit ${before.commit}): mend it, or say in .ci/quarantine what is known`,
      );
    }
  }
  return problems;
}

/**
 * Whether a test file is never run again after a failure. Those draw other inputs each time, or are about faults and attacks: what they find once is
 * there.
 */
export function isNeverRunAgain(file: string, { drawsSeed }: { readonly drawsSeed: boolean }): boolean {
  return (
    drawsSeed || /^tests\/(?:faults|fuzz|security)\/|(?:^|\/)(?:crashes|flood|forgery|limits|hostile|\w*Attacks|\w*Refusals)\b/.test(file)
  );
}
