import { stripVTControlCharacters } from "node:util";
import type { GreenRecord } from "./greenRecords.ts";
import type { MeasuredFile } from "./measures.ts";
import type { Quarantined } from "./quarantine.ts";
import { countsOf, type FileResult, isGreen, type SuiteResult, type TestResult } from "./suiteResults.ts";

/** All that a run came to. */
export interface RunResult {
  readonly suites: readonly SuiteResult[];
  /** Test files that failed and passed when they ran again, with both results. */
  readonly flaky: readonly { readonly first: FileResult; readonly second: FileResult }[];
  /** Test files that did not run, as they passed with equal inputs. */
  readonly leftOut: ReadonlyMap<string, GreenRecord>;
  /** Test files whose turn comes in a later run, with what they last passed. */
  readonly waiting: ReadonlyMap<string, GreenRecord>;
  readonly quarantined: readonly Quarantined[];
  /** What fails the run beside tests. */
  readonly problems: readonly string[];
  readonly measured: ReadonlyMap<string, MeasuredFile>;
  readonly wallSeconds: number;
  /** Whether components had to be built or installed. */
  readonly wasCold: boolean;
  /** With CI=true nothing is skipped but what passed with equal inputs, waits for its turn, or is in quarantine. */
  readonly isCi: boolean;
}

/** Wall-clock seconds on two processors that a run may take. */
const BUDGET_S = { warm: 30 * 60, cold: 60 * 60 };
/** The same of `npm test`. */
const TEST_BUDGET_S = 90;
/** Of each failure, of which the rest is in the output of its part. The input that a property failed with is at the beginning. */
const LINES_OF_FAILURE = 20;
const LENGTH_OF_LINE = 2_000;
const FAILURES_PRINTED = 40;
const DEAREST = 10;

/** Prints, the totals last; `failed` says whether the run failed. */
export function summaryOf(run: RunResult): { readonly lines: readonly string[]; readonly failed: boolean } {
  const lines: string[] = [];
  const failures = run.suites.flatMap(({ name, files }) => files.flatMap((file) => failuresOf(name, file, run.quarantined)));
  for (const { title, message } of failures.slice(0, FAILURES_PRINTED)) lines.push(`FAILED in ${title}`, ...quoted(message));
  if (failures.length > FAILURES_PRINTED) lines.push(`FAILED: ${failures.length - FAILURES_PRINTED} more`);
  for (const { first, second } of run.flaky) lines.push(...flakyLines(first, second));
  for (const one of run.quarantined) lines.push(`quarantine until ${one.until}: ${one.file} > ${one.test}: ${one.reason}`);
  lines.push(
    ...leftOutLines("equal inputs,", run.leftOut),
    ...leftOutLines("its turn comes later; passed", run.waiting),
    ...dearestLines(run.measured),
  );
  const total = { passed: 0, failed: run.problems.length, skipped: 0 };
  for (const suite of run.suites) {
    const counts = countsOf(withoutQuarantined(suite, run.quarantined));
    const seconds = `${Math.round(suite.wallSeconds)} s, ${Math.round(suite.processorSeconds)} s of processor time`;
    const note = suite.note === undefined ? "" : `${suite.note}; `;
    lines.push(`${suite.name}: ${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped (${note}${seconds})`);
    total.passed += counts.passed;
    total.failed += counts.failed;
    total.skipped += counts.skipped;
  }
  const equal = testsOf(run.leftOut);
  const later = testsOf(run.waiting);
  const quarantinedFailures = total.skipped - skippedOf(run.suites);
  if (equal > 0) lines.push(`equal inputs: ${equal} skipped, in ${run.leftOut.size} test files that passed with the inputs they have now`);
  if (later > 0) lines.push(`waiting for their turn: ${later} skipped, in ${run.waiting.size} test files that passed with other programs`);
  const otherwise = total.skipped - quarantinedFailures;
  const isIncomplete = run.isCi && otherwise > 0;
  if (isIncomplete)
    lines.push(
      `FAILED: ${otherwise} tests were skipped that neither passed with equal inputs nor wait for their turn; with CI=true all others must run`,
    );
  for (const problem of run.problems) lines.push(`FAILED: ${problem}`);
  lines.push(...budgetLines(run));
  lines.push(`${total.passed} passed, ${total.failed} failed, ${total.skipped + equal + later} skipped`);
  return { lines, failed: total.failed > 0 || isIncomplete };
}

function skippedOf(suites: readonly SuiteResult[]): number {
  return suites.reduce((sum, suite) => sum + countsOf(suite).skipped, 0);
}

/** A failure of a test in quarantine is skipped. */
function withoutQuarantined(suite: SuiteResult, quarantined: readonly Quarantined[]): Pick<SuiteResult, "files" | "others"> {
  const files = suite.files.map((file) => ({
    ...file,
    tests: file.tests.map((test) => (isQuarantined(file, test, quarantined) ? { ...test, status: "skipped" as const } : test)),
  }));
  return { files, ...(suite.others === undefined ? {} : { others: suite.others }) };
}

/** Whether all failures of a file are of tests in quarantine. */
export function failsOnlyInQuarantine(file: FileResult, quarantined: readonly Quarantined[]): boolean {
  return (
    file.problem === undefined &&
    !isGreen(file) &&
    file.tests.every((test) => test.status !== "failed" || isQuarantined(file, test, quarantined))
  );
}

function isQuarantined({ file }: FileResult, { name, status }: TestResult, quarantined: readonly Quarantined[]): boolean {
  return status === "failed" && quarantined.some((one) => one.file === file && one.test === name);
}

function failuresOf(suite: string, file: FileResult, quarantined: readonly Quarantined[]): readonly { title: string; message: string }[] {
  if (file.problem !== undefined) return [{ title: `${suite}: ${file.file}`, message: file.problem }];
  return file.tests
    .filter((test) => test.status === "failed")
    .map((test) => ({
      title: `${suite}${isQuarantined(file, test, quarantined) ? " (quarantine)" : ""}: ${file.file} > ${test.name}`,
      message: test.message ?? "",
    }));
}

function flakyLines(first: FileResult, second: FileResult): readonly string[] {
  const failed = failuresOf("the first run", first, []).flatMap(({ title, message }) => [title, ...quoted(message)]);
  const names = first.tests.filter(({ status }) => status === "failed").map(({ name }) => name);
  const again = second.tests.filter(({ name }) => names.includes(name)).map(({ name, status }) => `    ${status}: ${name}`);
  return [`flaky: ${first.file} failed, and passed when it ran once more, alone`, ...failed, "the second run:", ...again];
}

function quoted(message: string): readonly string[] {
  const lines = stripVTControlCharacters(message).split("\n").slice(0, LINES_OF_FAILURE);
  return lines.map((line) => `    ${line.slice(0, LENGTH_OF_LINE)}`);
}

function testsOf(records: ReadonlyMap<string, GreenRecord>): number {
  return [...records.values()].reduce((sum, { tests }) => sum + tests, 0);
}

function leftOutLines(why: string, leftOut: ReadonlyMap<string, GreenRecord>): readonly string[] {
  return [...leftOut].map(([suite, { date, commit, tests }]) => `${why} ${date.slice(0, 10)} (${commit}): ${suite}, ${tests} tests`);
}

function dearestLines(measured: ReadonlyMap<string, MeasuredFile>): readonly string[] {
  if (measured.size === 0) return [];
  const dearest = [...measured.values()].sort((a, b) => b.processorSeconds - a.processorSeconds).slice(0, DEAREST);
  const each = dearest.map(
    ({ file, processorSeconds, wallSeconds }) =>
      `${processorSeconds.toFixed(0).padStart(6)} s of processor time, ${wallSeconds.toFixed(0).padStart(4)} s: ${file}`,
  );
  return [`the ${dearest.length} dearest of ${measured.size} test files:`, ...each];
}

function budgetLines({ suites, wallSeconds, wasCold }: RunResult): readonly string[] {
  const test = suites.find(({ name }) => name === "test");
  const [kind, budget] = wasCold ? (["cold", BUDGET_S.cold] as const) : (["warm", BUDGET_S.warm] as const);
  const lines = [overOrNot(`this run, ${kind}`, wallSeconds, budget)];
  // No failure: time depends on the machine, and on what else runs there.
  return test === undefined ? lines : [overOrNot("npm test", test.wallSeconds, TEST_BUDGET_S), ...lines];
}

function overOrNot(what: string, seconds: number, budget: number): string {
  return `${seconds > budget ? "WARNING: " : ""}${what} took ${Math.round(seconds)} s; the budget is ${budget} s`;
}
