// `.ci/run`, once the packages are installed: all suites, in lanes. What it does is in tests/README.md.
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { flakeProblems, isNeverRunAgain, readFlakes, writeFlakes } from "./flakes.ts";
import { type GreenRecord, readGreenRecords, writeGreenRecords } from "./greenRecords.ts";
import { type Installation, installed } from "./installation.ts";
import { lanesOf } from "./lanes.ts";
import { readMeasures } from "./measures.ts";
import { type PlannedFile, readPlanner, recordsFile } from "./plan.ts";
import { type ProjectFiles, readProjectFiles } from "./projectFiles.ts";
import { readQuarantine } from "./quarantine.ts";
import { type RunFolder, runOther, runVitest } from "./runPart.ts";
import { runAgain } from "./secondTries.ts";
import { hashOfFiles, readWorld } from "./suiteKeys.ts";
import { type FileResult, isGreen, type SuiteResult } from "./suiteResults.ts";
import { summaryOf } from "./summary.ts";
import { isNightly, longTests, realTests } from "./testFiles.ts";
import { ciFolder, commitOf, readTestTimes, writeTestTimes } from "./testTimes.ts";
import { changedSinceIn, turnsOf } from "./turns.ts";
import { readsBeyond } from "./unexpectedReads.ts";

const LONG = "vitest.long.config.ts";
const REAL = "vitest.real.config.ts";
/** Imported by files of which CI runs a part. */
const NIGHTS = "packages/testing/src/atNight.ts";
/**
 * Those that compute have what those that wait leave, and what is being built: API servers, control planes and proxies cost processor time for as long as
 * they are there, so that suites with them are to end soon. Not the last place, so that what waits for an answer within a minute still has one.
 */
const BEHIND = 5;
/** Of properties and lists in `test:long`; `.ci/nightly` does all. */
const PART = "3";

async function main(root: string): Promise<boolean> {
  const began = performance.now();
  const now = new Date();
  const run = newRun(root, began);
  const isCi = process.env["CI"] === "true";
  const shared = resolve(root, process.env["ISTHMUS_SHARED"] ?? "../shared");
  const files = readProjectFiles(root);
  // `.ci/nightly` runs what has no room in the budget.
  const isNight = process.env["ISTHMUS_NIGHTLY"] === "1";
  const nightlyTests = realTests(root).filter((file) => !isNight && isNightly(file));
  const quarantine = readQuarantine(textOf(join(root, ".ci/quarantine")), now);
  const commit = commitOf(root);

  const installation = installed();
  const test = await runVitest(run, {
    name: "test",
    command: ["npm", "test", "--"],
    env: { ...measuring(run), ISTHMUS_LONG_FOLLOWS: "1" },
  });

  // Before the components are there, nothing is known about what needs them.
  const suites: SuiteResult[] = [test];
  const planner = await readPlanner(root, files);
  const runsAll = process.env["ISTHMUS_CI_ALL"] === "1";
  const records = readGreenRecords(recordsFile(ciFolder()));
  const options = { now, runsAll, records };
  const taking = { records, now, times: readTestTimes(root), changedSince: changedSinceIn(root) };
  const waiting = new Map<string, GreenRecord>();
  const withoutWaiting = (planned: readonly PlannedFile[]): readonly PlannedFile[] => {
    if (runsAll) return planned;
    const turns = turnsOf(planned, taking);
    for (const [file, record] of turns.waiting) waiting.set(file, record);
    return turns.planned;
  };
  const long = withoutWaiting(planner.plan(LONG, longTests(root), { ...options, world: readWorld("", shared, process.env) }));
  const [computed, real] = await Promise.all([
    computing(run, long, { shared, isNight }),
    installation.then(async (done) => {
      const files = realTests(root).filter((file) => !nightlyTests.includes(file));
      const planned = withoutWaiting(planner.plan(REAL, files, { ...options, world: readWorld(done.components, shared, process.env) }));
      return { done, planned, suites: await realSuites(run, planned, done) };
    }),
  ]);
  suites.push(...computed, ...real.suites);

  const planned = [...long, ...real.planned];
  const configs = new Map([...long.map(({ file }) => [file, LONG] as const), ...real.planned.map(({ file }) => [file, REAL] as const)]);
  const configOf = (file: string): string => configs.get(file) ?? "vitest.config.ts";
  const again = await runAgain(run, suites, {
    quarantined: quarantine.quarantined,
    configOf,
    isNeverRunAgain: (file) => isNeverRunAgain(file, planner.inputsOf(file, configOf(file))),
  });
  const measured = readMeasures(run.measures);
  const flaky = again.flaky.map(({ first }) => first.file);
  const flakesFile = join(ciFolder(), "flakes.jsonl");
  const problems = [...quarantine.problems, ...real.done.problems, ...flakeProblems(flaky, readFlakes(flakesFile))];
  const leftOut = new Map(planned.flatMap(({ file, record }) => (record === undefined ? [] : [[file, record] as const])));
  const wallSeconds = (performance.now() - began) / 1_000 + Number(process.env["ISTHMUS_CI_SECONDS"] ?? 0);
  const { lines, failed } = summaryOf({
    suites: again.suites,
    flaky: again.flaky,
    leftOut,
    waiting,
    quarantined: quarantine.quarantined,
    problems,
    measured,
    wallSeconds,
    wasCold: real.done.wasCold,
    isCi,
  });

  writeTestTimes(measured.values());
  // What a developer's half-done work passes or fails is no history.
  if (isCi && files.isClean && readProjectFiles(root).isClean) {
    writeFlakes(flakesFile, { date: now.toISOString(), commit, flaky });
    const green = greenOf(again.suites, flaky, { planned, files, now, commit, measured, run });
    writeGreenRecords(recordsFile(ciFolder()), green, now);
  }
  const nightly = textOf(join(ciFolder(), "nightly")).trim();
  keepArtefact(run, `${now.toISOString().slice(0, 19).replaceAll(":", "")}-${commit}`);
  for (const file of nightlyTests) console.log(`left to .ci/nightly: ${file}`);
  for (const { file, inputs } of isNight ? [] : planned)
    if (inputs.files.includes(NIGHTS)) console.log(`left to .ci/nightly: a part of ${file}`);
  console.log(`the last .ci/nightly on this machine: ${nightly === "" ? "none" : nightly}`);
  for (const line of lines) console.log(line);
  return !failed;
}

interface Run extends RunFolder {
  readonly measures: string;
}

function newRun(root: string, began: number): Run {
  const folder = mkdtempSync(join(tmpdir(), "isthmus-ci-"));
  const say = (line: string): void => console.log(`\n=== ${((performance.now() - began) / 1_000).toFixed(0)} s ${line}`);
  return { root, folder, say, measures: join(folder, "files.jsonl") };
}

function measuring({ measures }: Run): Readonly<Record<string, string>> {
  return { ISTHMUS_MEASURES: measures };
}

function vitest(config: string, files: readonly string[], workers: number): readonly string[] {
  return ["node_modules/.bin/vitest", "run", "--config", config, `--maxWorkers=${workers}`, ...files];
}

const toRun = (planned: readonly PlannedFile[]): readonly string[] =>
  planned.filter(({ record }) => record === undefined).map(({ file }) => file);

/** What keeps processors busy, behind all else. */
async function computing(
  run: Run,
  planned: readonly PlannedFile[],
  { shared, isNight }: { readonly shared: string; readonly isNight: boolean },
): Promise<readonly SuiteResult[]> {
  const seed = String(Number.parseInt(commitOf(run.root).slice(0, 7), 16));
  const npm = (script: string, ...args: readonly string[]) => ["npm", "run", "--silent", script, "--", ...args];
  const beside = [
    { name: "check", command: npm("check") },
    // Other schedules and inputs with each commit, and the same ones when a commit is run again.
    { name: "test:faults", command: npm("test:faults", "--runs", "150", "--seed", seed) },
    existsSync(join(shared, "reference-cases"))
      ? { name: "conformance", command: npm("conformance", join(shared, "reference-cases")) }
      : { name: "conformance", command: ["echo", "0 passed, 0 failed, 1 skipped"] },
    // Whether each of them still runs: the figures mean nothing. Half of them with each commit.
    { name: "bench", command: npm("bench", "--smoke", "--part", isNight ? "1/1" : `${1 + (Number(seed) % 2)}/2`) },
  ];
  // It continues for a time and not for a number of inputs, and takes one that it waits for long for one that never ends: it comes once there is little beside it.
  const last = { name: "fuzz", command: npm("fuzz", "--minutes", "0.25", "--seed", seed) };
  const [long, others] = await Promise.all([runLongTests(run, toRun(planned), isNight), inTurn(beside, (other) => behind(run, other))]);
  return [...long, ...others, await behind(run, last)];
}

async function runLongTests(run: Run, files: readonly string[], isNight: boolean): Promise<readonly SuiteResult[]> {
  if (files.length === 0) return [];
  // Two at a time, so that no processor is idle once the real suites have ended.
  const env = { ...measuring(run), ...(isNight ? {} : { ISTHMUS_RUNS_PART: PART }) };
  return [await runVitest(run, { name: "test:long", command: vitest(LONG, files, 2), env, niceness: BEHIND })];
}

function behind(run: Run, other: { readonly name: string; readonly command: readonly string[] }): Promise<SuiteResult> {
  run.say(`replay: ${other.command.join(" ")}`);
  return runOther(run, { ...other, niceness: BEHIND });
}

async function inTurn<T, R>(all: readonly T[], one: (item: T) => Promise<R>): Promise<readonly R[]> {
  const results: R[] = [];
  for (const item of all) results.push(await one(item));
  return results;
}

/** Those against real components, in two lanes beside one another. */
async function realSuites(run: Run, planned: readonly PlannedFile[], { isThere }: Installation): Promise<readonly SuiteResult[]> {
  const lanes = lanesOf();
  const meshes = new Set(planned.filter(({ inputs }) => inputs.startsMeshes).map(({ file }) => file));
  const files = toRun(planned);
  const parts = [
    { name: "test:real, waiting", files: files.filter((file) => !meshes.has(file)), workers: lanes.waiting },
    { name: "test:real, meshes", files: files.filter((file) => meshes.has(file)), workers: lanes.meshes },
  ].filter((part) => part.files.length > 0);
  if (!isThere) run.say("the components could not be installed: suites that need them fail or are skipped");
  // The programs are as `npm ci` has just built them: two runs that build them would do so below each other's suites.
  // Three for each lane, so that no suite waits for another one's.
  const env = { ...measuring(run), ISTHMUS_BUILT: "1", ISTHMUS_API_SERVERS: String(lanes.waiting * 3) };
  return Promise.all(parts.map((part) => runVitest(run, { name: part.name, command: vitest(REAL, part.files, part.workers), env })));
}

interface Green {
  readonly planned: readonly PlannedFile[];
  readonly files: ProjectFiles;
  readonly now: Date;
  readonly commit: string;
  readonly measured: ReturnType<typeof readMeasures>;
  readonly run: Run;
}

/** The records of what passed at the first try, whole. */
function greenOf(
  suites: readonly SuiteResult[],
  flaky: readonly string[],
  { planned, files, now, commit, measured, run }: Green,
): ReadonlyMap<string, GreenRecord> {
  const results = new Map(suites.flatMap((suite) => suite.files.map((file): [string, FileResult] => [file.file, file])));
  const green = new Map<string, GreenRecord>();
  for (const { file, key, inputs } of planned) {
    const [result, reads] = [results.get(file), measured.get(file)?.reads];
    if (key === undefined || result === undefined || reads === undefined || flaky.includes(file)) continue;
    if (!isGreen(result) || result.tests.some(({ status }) => status !== "passed")) continue;
    const read = readsBeyond(inputs.files, reads, files);
    if ("unknown" in read) {
      run.say(`${file} runs again next time: it reads ${read.unknown}, which git does not have`);
      continue;
    }
    green.set(file, {
      key,
      date: now.toISOString(),
      commit,
      tests: result.tests.length,
      read: { paths: read.paths, hash: hashOfFiles(read.paths, files) },
    });
  }
  return green;
}

/** Results, logs and times of the last runs stay on the machine. */
function keepArtefact({ folder, say }: Run, name: string): void {
  const kept = join(ciFolder(), "runs", name);
  mkdirSync(join(ciFolder(), "runs"), { recursive: true });
  cpSync(folder, kept, { recursive: true });
  rmSync(folder, { recursive: true, force: true });
  say(`times, results and output of all parts: ${kept}`);
}

function textOf(path: string): string {
  return existsSync(path) ? readFileSync(path, "utf8") : "";
}

// npm and `.ci/run` run it in the project's root.
if (!(await main(process.cwd()))) process.exitCode = 1;
