import type { Quarantined } from "./quarantine.ts";
import { type PartOptions, type RunFolder, runVitest } from "./runPart.ts";
import { type FileResult, isGreen, type SuiteResult } from "./suiteResults.ts";
import { failsOnlyInQuarantine } from "./summary.ts";

/** What second tries came to. */
export interface SecondTries {
  /** All suites, with the second result of what passed then. */
  readonly suites: readonly SuiteResult[];
  readonly flaky: readonly { readonly first: FileResult; readonly second: FileResult }[];
}

/** What decides which files run once more. */
export interface SecondTryOptions {
  /** Whether a test file is left as it failed. */
  isNeverRunAgain(file: string): boolean;
  readonly quarantined: readonly Quarantined[];
  /** The configuration of vitest that runs a test file. */
  configOf(file: string): string;
  /** Runs one file; default: with vitest. */
  readonly runFile?: (run: RunFolder, options: PartOptions) => Promise<SuiteResult>;
}

/** More are no flakes: something is broken, and running all of it again costs the time of everybody. */
const MOST_SECOND_TRIES = 10;

/** Runs each test file that failed once more, alone, but for those that are never run again; one that passes then is flaky. */
export async function runAgain(run: RunFolder, suites: readonly SuiteResult[], options: SecondTryOptions): Promise<SecondTries> {
  const { quarantined, runFile = runVitest } = options;
  const failed = suites
    .flatMap(({ files }) => files)
    .filter((file) => !isGreen(file) && file.file.endsWith(".test.ts") && !failsOnlyInQuarantine(file, quarantined));
  const chosen = failed.filter(({ file }) => !options.isNeverRunAgain(file));
  if (chosen.length > MOST_SECOND_TRIES) {
    run.say(`${chosen.length} test files failed: none is run again, as more than ${MOST_SECOND_TRIES} are no flakes`);
    return { suites, flaky: [] };
  }
  const flaky: { first: FileResult; second: FileResult }[] = [];
  for (const first of chosen) {
    const command = ["node_modules/.bin/vitest", "run", "--config", options.configOf(first.file), "--maxWorkers=1", first.file];
    const { files } = await runFile(run, { name: `again ${first.file}`, command });
    const second = files.find(({ file }) => file === first.file);
    // Green is that every test of the first run passed: none has gone.
    if (files.every(isGreen) && second !== undefined && hasPassed(first, second)) flaky.push({ first, second });
  }
  const passed = new Map(flaky.map(({ second }) => [second.file, second]));
  return { suites: suites.map((suite) => ({ ...suite, files: suite.files.map((file) => passed.get(file.file) ?? file) })), flaky };
}

function hasPassed(first: FileResult, second: FileResult): boolean {
  const names = new Set(second.tests.filter(({ status }) => status === "passed").map(({ name }) => name));
  return second.tests.length > 0 && first.tests.every(({ name, status }) => status === "skipped" || names.has(name));
}
