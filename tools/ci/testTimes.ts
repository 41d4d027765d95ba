import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import type { MeasuredFile } from "./measures.ts";

/** What test files took when they last ran: seconds of wall clock and processor, by path. */
export type TestTimes = Readonly<Record<string, { readonly wallSeconds: number; readonly processorSeconds: number }>>;

/** Where runs on this machine keep what the next ones read: beside the components, outside the checkout. */
export function ciFolder(environment: Readonly<Record<string, string | undefined>> = process.env): string {
  return join(environment["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "isthmus/ci");
}

/** What is known of this machine's runs, and for other files what the checkout says of a run elsewhere. */
export function readTestTimes(root: string): TestTimes {
  return { ...timesIn(join(root, "tests/times.json")), ...timesIn(join(ciFolder(), "times.json")) };
}

/** Keeps what was measured, for the runs to come. */
export function writeTestTimes(measured: Iterable<MeasuredFile>): void {
  const path = join(ciFolder(), "times.json");
  const times: Record<string, TestTimes[string]> = { ...timesIn(path) };
  for (const { file, wallSeconds, processorSeconds } of measured) times[file] = { wallSeconds, processorSeconds };
  mkdirSync(ciFolder(), { recursive: true });
  writeFileSync(`${path}.new`, printedTimes(times));
  renameSync(`${path}.new`, path);
}

/** As text, one file a line, in order of their paths. */
export function printedTimes(times: TestTimes): string {
  const lines = Object.entries(times)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([file, time]) => `  ${JSON.stringify(file)}: ${JSON.stringify(time)}`);
  return `{\n${lines.join(",\n")}\n}\n`;
}

function timesIn(path: string): TestTimes {
  if (!existsSync(path)) return {};
  try {
    return JSON.parse(readFileSync(path, "utf8")) as TestTimes;
  } catch {
    // An order is worth no failure.
    return {};
  }
}

/** Commit of a checkout, in short. */
export function commitOf(root: string): string {
  return execFileSync("git", ["rev-parse", "--short=8", "HEAD"], { cwd: root, encoding: "utf8" }).trim();
}
