import { join } from "node:path";
import { type GreenRecord, type GreenRecords, greenRecordOf } from "./greenRecords.ts";
import { readImportGraph } from "./importGraph.ts";
import type { ProjectFiles } from "./projectFiles.ts";
import { type SuiteInputs, suiteInputsOf } from "./suiteInputs.ts";
import { keyOf, type World } from "./suiteKeys.ts";

/** What is known of a test file before it runs. */
export interface PlannedFile {
  readonly file: string;
  readonly inputs: SuiteInputs;
  /** Equal where all is equal that decides what it does; undefined: that can't be said, so it runs. */
  readonly key?: string;
  /** By which it need not run. */
  readonly record?: GreenRecord;
}

/** What decides which suites must run. */
export interface PlanOptions {
  readonly world: World;
  readonly records: GreenRecords;
  readonly now: Date;
  /** Whether what passed with equal inputs runs all the same. */
  readonly runsAll: boolean;
}

/** Knows what test files depend on. */
export interface Planner {
  /** Of a test file and the configuration of vitest that runs it. */
  inputsOf(file: string, config: string): SuiteInputs;
  /** Says of each of these test files whether it must run. */
  plan(config: string, suites: readonly string[], options: PlanOptions): readonly PlannedFile[];
}

/** Reads what the sources of a project import. */
export async function readPlanner(root: string, files: ProjectFiles): Promise<Planner> {
  const inputsOf = suiteInputsOf(root, files, await readImportGraph(root, sourcesOf(files)));
  return {
    inputsOf,
    plan: (config, suites, { world, records, now, runsAll }) =>
      suites.map((file) => {
        const inputs = inputsOf(file, config);
        if (inputs.unsure !== undefined || inputs.drawsSeed) return { file, inputs };
        const key = keyOf(inputs, files, world);
        const record = runsAll ? undefined : greenRecordOf(records, file, { key, files, now });
        return { file, inputs, key, ...(record === undefined ? {} : { record }) };
      }),
  };
}

/** The TypeScript and JavaScript of the project that may be imported. */
function sourcesOf(files: ProjectFiles): readonly string[] {
  return [...files.hashes.keys()].filter((path) => /\.(?:ts|tsx|mts|mjs)$/.test(path) && !/\.d\.m?ts$|(?:^|\/)testdata\//.test(path));
}

/** Where the records are kept. */
export function recordsFile(folder: string): string {
  return join(folder, "green.json");
}
