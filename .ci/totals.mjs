// Adds up what the suites of `.ci/run` left in a folder: NAME.status (exit code) with NAME.vitest.json or NAME.log, and of suites of vitest
// NAME.seconds (user and system time). Prints the tests that failed once more, as they are far above by then, one line per suite, whether
// `npm test` keeps its limit, then the totals; exits 1 when something failed or, with CI=true, was skipped.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { stripVTControlCharacters } from "node:util";

// What CONTRIBUTING.md promises.
const TEST_LIMIT_S = 180;

// Of each failure, of which the rest is in the output of its suite. The input that a property failed with is at the beginning.
const LINES_OF_FAILURE = 20;
const LENGTH_OF_LINE = 2_000;
const FAILURES_PRINTED = 20;

const folder = process.argv[2];
const suites = readdirSync(folder)
  .filter((file) => file.endsWith(".status"))
  .map((file) => file.slice(0, -".status".length))
  .map((name) => ({ name, ...figuresOf(name) }));

for (const { name } of suites) printFailures(name);
const total = { passed: 0, failed: 0, skipped: 0 };
for (const { name, passed, failed, skipped, note } of suites) {
  const seconds = processorSeconds(join(folder, `${name}.seconds`));
  const notes = [note, seconds === undefined ? undefined : `${Math.round(seconds)} s of processor time`].filter((one) => one !== undefined);
  console.log(`${name}: ${passed} passed, ${failed} failed, ${skipped} skipped${notes.length === 0 ? "" : ` (${notes.join(", ")})`}`);
  total.passed += passed;
  total.failed += failed;
  total.skipped += skipped;
}
const seconds = processorSeconds(join(folder, "test.seconds"));
if (seconds !== undefined) {
  // No failure: processor time too depends on the machine, and on what else runs there.
  const isOver = seconds > TEST_LIMIT_S;
  console.log(`${isOver ? "WARNING: " : ""}npm test took ${Math.round(seconds)} s of processor time; the limit is ${TEST_LIMIT_S} s`);
}
console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
process.exitCode = total.failed > 0 || (process.env.CI === "true" && total.skipped > 0) ? 1 : 0;

function printFailures(name) {
  const failures = vitestFailures(join(folder, `${name}.vitest.json`));
  for (const { test, message } of failures.slice(0, FAILURES_PRINTED)) {
    console.log(`FAILED in ${name}: ${test}`);
    const lines = stripVTControlCharacters(message).split("\n");
    for (const line of lines.slice(0, LINES_OF_FAILURE)) console.log(`    ${line.slice(0, LENGTH_OF_LINE)}`);
  }
  if (failures.length > FAILURES_PRINTED) console.log(`FAILED in ${name}: ${failures.length - FAILURES_PRINTED} more`);
}

function vitestFailures(path) {
  if (!existsSync(path)) return [];
  return JSON.parse(readFileSync(path, "utf8")).testResults.flatMap((file) => {
    const where = relative(process.cwd(), file.name);
    const failed = file.assertionResults.filter((result) => result.status === "failed");
    if (failed.length === 0 && file.status === "failed") return [{ test: where, message: file.message ?? "" }];
    return failed.map((result) => ({ test: `${where} > ${result.fullName}`, message: result.failureMessages.join("\n") }));
  });
}

function figuresOf(name) {
  const succeeded = readFileSync(join(folder, `${name}.status`), "utf8").trim() === "0";
  const figures = vitestFigures(join(folder, `${name}.vitest.json`)) ?? lastLineFigures(join(folder, `${name}.log`));
  if (figures === undefined) return succeeded ? { passed: 1, failed: 0, skipped: 0 } : { passed: 0, failed: 1, skipped: 0 };
  // A suite that broke off has failed, whatever it counted until then.
  return succeeded || figures.failed > 0 ? figures : { ...figures, failed: 1 };
}

/** The user and system time in a file; undefined where there is none. */
function processorSeconds(path) {
  if (!existsSync(path)) return undefined;
  const times = /^([\d.]+) ([\d.]+)$/.exec(readFileSync(path, "utf8").trim());
  return times === null ? undefined : Number(times[1]) + Number(times[2]);
}

function vitestFigures(path) {
  if (!existsSync(path)) return undefined;
  const { numPassedTests, numPendingTests, numTodoTests, testResults } = JSON.parse(readFileSync(path, "utf8"));
  // A file that fails outside its tests counts as one failure.
  const failed = testResults.reduce((sum, { status, assertionResults }) => {
    const failures = assertionResults.filter((result) => result.status === "failed").length;
    return sum + (status === "failed" ? Math.max(failures, 1) : failures);
  }, 0);
  return { passed: numPassedTests, failed, skipped: numPendingTests + numTodoTests };
}

function lastLineFigures(path) {
  if (!existsSync(path)) return undefined;
  const last = readFileSync(path, "utf8").trim().split("\n").at(-1)?.trim() ?? "";
  // Of the conformance runner: what differs as decided has passed.
  const compared = /^(\d+) equal, (\d+) different by decision, (\d+) failed$/.exec(last);
  if (compared !== null) return { passed: Number(compared[1]) + Number(compared[2]), failed: Number(compared[3]), skipped: 0 };
  // Of the schedules of faults: drawn at random, they are one test, however many there are.
  if (/^\d+ schedules, 0 violations$/.test(last)) return { passed: 1, failed: 0, skipped: 0, note: last };
  const figures = /^(\d+) passed, (\d+) failed, (\d+) skipped$/.exec(last);
  return figures === null ? undefined : { passed: Number(figures[1]), failed: Number(figures[2]), skipped: Number(figures[3]) };
}
