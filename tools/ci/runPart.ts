import { spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { countsOfLastLine, type FileResult, readVitestResults, type SuiteResult } from "./suiteResults.ts";

/** Where a run puts what its parts leave. */
export interface RunFolder {
  /** Of the project. */
  readonly root: string;
  /** A folder of the run alone. */
  readonly folder: string;
  /** Prints a line of progress. */
  say(line: string): void;
}

/** How a part runs. */
export interface PartOptions {
  readonly name: string;
  /** Program and arguments. */
  readonly command: readonly string[];
  /** Beside those of this process. */
  readonly env?: Readonly<Record<string, string>>;
  /** Added to its niceness: above 0, others go first. */
  readonly niceness?: number;
}

/** Runs test files with vitest. What it prints goes to a log, which is printed when it has ended. */
export async function runVitest(run: RunFolder, options: PartOptions): Promise<SuiteResult> {
  const results = join(run.folder, `${fileName(options.name)}.vitest.json`);
  const ended = await runProgram(run, {
    ...options,
    command: [...options.command, "--reporter=default", "--reporter=json", `--outputFile.json=${results}`],
  });
  const files = readVitestResults(results, run.root);
  const { name, wallSeconds, processorSeconds } = ended;
  if (files === undefined) return { name, files: [brokenOff(name, ended.output)], wallSeconds, processorSeconds };
  const isGreen = files.every((file) => file.problem === undefined && file.tests.every(({ status }) => status !== "failed"));
  // An error that belongs to no test fails the run all the same.
  const all = isGreen && ended.code !== 0 ? [...files, brokenOff(name, ended.output)] : files;
  return { name, files: all, wallSeconds, processorSeconds };
}

/** Runs anything else: one test, unless its last line gives counts. */
export async function runOther(run: RunFolder, options: PartOptions): Promise<SuiteResult> {
  const { name, code, output, wallSeconds, processorSeconds } = await runProgram(run, options);
  return { name, files: [], ...countsOfLastLine(output, code === 0), wallSeconds, processorSeconds };
}

function brokenOff(name: string, output: string): FileResult {
  return { file: name, tests: [], problem: `it ended with an error that belongs to no test:\n${output.slice(-LAST_OUTPUT)}` };
}

const LAST_OUTPUT = 2_000;

interface Ended {
  readonly name: string;
  readonly code: number | null;
  readonly output: string;
  readonly wallSeconds: number;
  readonly processorSeconds: number;
}

async function runProgram({ root, folder, say }: RunFolder, { name, command, env = {}, niceness = 0 }: PartOptions): Promise<Ended> {
  const log = join(folder, `${fileName(name)}.log`);
  const times = join(folder, `${fileName(name)}.seconds`);
  say(`${name}: begins`);
  const began = performance.now();
  const out = openSync(log, "w");
  // Bash measures the processor time of a command with all that it started; the times go to a file, the output where it went before.
  const script = 'times=$1; shift; TIMEFORMAT="%U %S"; { time "$@" 2>&3; } 3>&2 2>"$times"';
  const child = spawn("nice", ["-n", String(niceness), "bash", "-c", script, "bash", times, ...command], {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ["ignore", out, out],
  });
  closeSync(out);
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", resolve);
  });
  const wallSeconds = (performance.now() - began) / 1_000;
  const [user = 0, system = 0] = readFileSync(times, "utf8").trim().split("\n").at(-1)?.split(" ").map(Number) ?? [];
  const output = readFileSync(log, "utf8");
  say(`${name}: ended with ${code} after ${Math.round(wallSeconds)} s; it printed:\n${output}\n=== end of ${name}`);
  return { name, code, output, wallSeconds, processorSeconds: user + system };
}

function fileName(name: string): string {
  return name.replaceAll(/[^\w.-]+/g, "-");
}
