import { type SpawnSyncOptionsWithStringEncoding, spawnSync } from "node:child_process";

/** What a program that ended gave. */
export interface CommandResult {
  /** Exit code; -1 where a signal ended it or it could not start. */
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

type Options = Partial<Pick<SpawnSyncOptionsWithStringEncoding, "input" | "env" | "timeout" | "cwd">>;

const MOST_OUTPUT = 64 << 20;

/** Runs a program to its end, whatever that is. */
export function tried(command: readonly string[], options: Options = {}): CommandResult {
  const [program = "", ...rest] = command;
  const done = spawnSync(program, rest, { encoding: "utf8", maxBuffer: MOST_OUTPUT, ...options });
  return { code: done.status ?? -1, stdout: done.stdout ?? "", stderr: `${done.stderr ?? ""}${done.error?.message ?? ""}` };
}

/** Runs a program and gives its output; throws Error with what it printed where it fails. */
export function run(command: readonly string[], options: Options = {}): string {
  const { code, stdout, stderr } = tried(command, options);
  if (code !== 0) throw new Error(`${command.join(" ").slice(0, 300)}: ${code}: ${stdout.slice(-2_000)}${stderr.slice(-2_000)}`);
  return stdout;
}

/** Waits until something holds; asks every 300 ms; throws Error after so many seconds. */
export async function until(what: string, seconds: number, holds: () => boolean): Promise<void> {
  const end = Date.now() + seconds * 1_000;
  while (!holds()) {
    if (Date.now() > end) throw new Error(`${what}: not within ${seconds} s`);
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
}
