import { existsSync, readFileSync } from "node:fs";

/** What one test file took and read in one run. */
export interface MeasuredFile {
  /** Path relative to the root. */
  readonly file: string;
  readonly wallSeconds: number;
  /** User and system time, with the programs that it started and ended; without those that a run shares. */
  readonly processorSeconds: number;
  /** Paths of the project that it read or gave to programs. */
  readonly reads: readonly string[];
}

/** Reads what `measuredFile.ts` has written; of a file that ran twice the last. Nothing where nothing was measured. */
export function readMeasures(path: string): ReadonlyMap<string, MeasuredFile> {
  if (!existsSync(path)) return new Map();
  const lines = readFileSync(path, "utf8").split("\n").filter(Boolean);
  return new Map(lines.map((line) => JSON.parse(line) as MeasuredFile).map((one) => [one.file, one]));
}
