import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync } from "node:fs";

/** A program that runs until it is stopped. */
export interface Program {
  readonly name: string;
  /** Where its output goes. */
  readonly log: string;
  readonly isRunning: boolean;
  /** Resolves when it has ended: with its exit code, or undefined after a signal. */
  readonly ended: Promise<number | undefined>;
  /** Asks it to end, and insists after `graceMs`. */
  stop(graceMs?: number): Promise<void>;
  /** Ends it at once, as a crash would. */
  kill(): Promise<void>;
  /** Stops it in its tracks, and lets it go on, as if nothing had happened. */
  send(signal: "SIGSTOP" | "SIGCONT"): void;
  output(): string;
}

export interface ProgramOptions {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly log: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

const running = new Set<ChildProcess>();
// Nothing that we started outlives the test run, however it ends.
process.on("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});
for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => process.exit(1));

/** Ends at once whatever still runs of what this process started. */
export async function endPrograms(): Promise<void> {
  const ends = [...running].map((child) => once(child, "exit"));
  for (const child of running) child.kill("SIGKILL");
  await Promise.all(ends);
}

/** Starts a program; its output is appended to `log`. */
export function startProgram({ name, command, args, log, env = {}, cwd }: ProgramOptions): Program {
  const out = openSync(log, "a");
  // Linux ends it when this process has ended without a chance to do so.
  const child = spawn("setpriv", ["--pdeathsig=KILL", command, ...args], {
    stdio: ["ignore", out, out],
    env: { PATH: process.env["PATH"] ?? "", HOME: process.env["HOME"] ?? "", ...env },
    ...(cwd === undefined ? {} : { cwd }),
  });
  closeSync(out);
  running.add(child);
  const ended = once(child, "exit").then(([code]) => {
    running.delete(child);
    return typeof code === "number" ? code : undefined;
  });
  const isRunning = (): boolean => child.exitCode === null && child.signalCode === null;

  async function end(signal: "SIGTERM" | "SIGKILL"): Promise<void> {
    if (isRunning()) child.kill(signal);
    await ended;
  }

  return {
    name,
    log,
    get isRunning() {
      return isRunning();
    },
    ended,
    async stop(graceMs = 5_000) {
      const insist = setTimeout(() => child.kill("SIGKILL"), graceMs);
      await end("SIGTERM");
      clearTimeout(insist);
    },
    kill: () => end("SIGKILL"),
    send: (signal) => void child.kill(signal),
    output: () => readFileSync(log, "utf8"),
  };
}
