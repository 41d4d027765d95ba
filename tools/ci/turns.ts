import { execFileSync } from "node:child_process";
import type { GreenRecord, GreenRecords } from "./greenRecords.ts";
import type { PlannedFile } from "./plan.ts";
import type { TestTimes } from "./testTimes.ts";

/** What runs now of that which must run, and what waits for a later run, with its last record. */
export interface Turns {
  readonly planned: readonly PlannedFile[];
  readonly waiting: ReadonlyMap<string, GreenRecord>;
}

/** What decides whose turn it is. */
export interface TurnOptions {
  readonly records: GreenRecords;
  readonly times: TestTimes;
  readonly now: Date;
  /** Paths that differ from a commit; undefined: it is not known here. */
  changedSince(commit: string): ReadonlySet<string> | undefined;
}

/** Processor time from which a test file takes turns. */
const DEAR_S = 10;
/** The part of the processor time of all that take turns that one run spends. */
const PART = 1 / 3;
/** Nothing waits longer than this for its turn. */
const WAITS_MS = 3 * 24 * 60 * 60 * 1_000;
/** What a change of says nothing about which test files it is about: the programs. */
const PROGRAM = /^(?:packages|apps)\/[^/]+\/(?:src|client)\//;
/** What all of them run with. */
const OF_ALL = ["package-lock.json", ".npmrc"];

/**
 * Lets dear test files take turns: of those of which only the programs below them have changed since they passed, a run takes the third that has waited
 * longest. What failed last time has waited longest. See docs/decisions/0184-dear-test-files-take-turns.md.
 */
export function turnsOf(planned: readonly PlannedFile[], { records, times, now, changedSince }: TurnOptions): Turns {
  const changes = new Map<string, ReadonlySet<string> | undefined>();
  const candidates = planned.flatMap((one) => {
    const last = records[one.file]?.at(-1);
    const seconds = times[one.file]?.processorSeconds ?? 0;
    if (one.record !== undefined || one.key === undefined || last === undefined || seconds < DEAR_S) return [];
    const age = now.getTime() - Date.parse(last.date);
    if (age < 0 || age >= WAITS_MS) return [];
    if (!changes.has(last.commit)) changes.set(last.commit, changedSince(last.commit));
    const changed = changes.get(last.commit);
    const own = [one.file, ...OF_ALL, ...one.inputs.files.filter((path) => !PROGRAM.test(path)), ...last.read.paths];
    return changed === undefined || own.some((path) => changed.has(path)) ? [] : [{ file: one.file, last, seconds }];
  });
  candidates.sort((a, b) => compare(a.last.date, b.last.date) || compare(a.file, b.file));
  let left = candidates.reduce((sum, { seconds }) => sum + seconds, 0) * PART;
  const waiting = new Map<string, GreenRecord>();
  for (const { file, last, seconds } of candidates) {
    if (left <= 0) waiting.set(file, last);
    left -= seconds;
  }
  return { planned: planned.filter(({ file }) => !waiting.has(file)), waiting };
}

/** Asks git; its answer for each commit. */
export function changedSinceIn(root: string): (commit: string) => ReadonlySet<string> | undefined {
  return (commit) => {
    try {
      const output = execFileSync("git", ["diff", "--name-only", "--no-renames", "-z", commit, "--"], {
        cwd: root,
        encoding: "utf8",
        maxBuffer: 256 * 1024 * 1024,
        stdio: ["ignore", "pipe", "ignore"],
      });
      return new Set(output.split("\0").filter(Boolean));
    } catch {
      // A branch of another clone, or one that has been deleted.
      return undefined;
    }
  };
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
