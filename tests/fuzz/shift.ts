import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Block, Errand, Failure, Order, Word } from "./messages.ts";

export interface ShiftOptions {
  readonly target: string;
  readonly seed: number;
  /** The bundle of `main.ts`. */
  readonly program: string;
  readonly stallMs: number;
  readonly file?: string;
  readonly isExact?: boolean;
  /** Gives the next inputs for a process that has taken `rate` of them in a second; undefined: that was all. */
  next(rate: number): Block | undefined;
  /** Says whether to go on. */
  failed(failure: Failure): boolean;
}

export interface ShiftResult {
  readonly inputs: number;
  readonly bytes: number;
  /** Why the target cannot be had here. */
  readonly skipped?: string;
}

const LOOK_MS = 250;
// A process reads its bundle and makes its entry point, on a machine on which others go first: 125 s have been seen where it takes two.
const START_MS = 480_000;
const ERROR_LINES = 40;

/** One process for one target, until there are no more inputs for it, it has failed, or it is given up; ended by its id. */
export async function runShift({ next, failed, stallMs, program, ...rest }: ShiftOptions): Promise<ShiftResult> {
  const folder = mkdtempSync(join(tmpdir(), "isthmus-fuzz-"));
  const progressFile = join(folder, "progress");
  writeFileSync(progressFile, Buffer.alloc(8));
  const errand: Errand = { ...rest, progressFile };
  // A heap that grows without bound ends the process here, and not the machine.
  const flags = ["--expose-gc", "--enable-source-maps", "--max-old-space-size=1024"];
  const child = spawn(process.execPath, [...flags, program, "--work", JSON.stringify(errand)], {
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
  // One that stalls would not see that this process is gone.
  const kill = () => void child.kill("SIGKILL");
  process.on("exit", kill);
  const errors: string[] = [];
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    errors.push(...text.split("\n"));
    errors.splice(0, errors.length - ERROR_LINES);
  });
  let inputs = 0;
  let bytes = 0;
  let skipped: string | undefined;
  let block: Block | undefined;
  let hasFailed = false;
  let isEnding = false;
  let began = 0;
  let last = { input: -1, at: performance.now() };

  function order(message: Order): void {
    if (child.connected) child.send(message);
  }

  function proceed(rate: number): void {
    block = isEnding ? undefined : next(rate);
    if (block === undefined) isEnding = true;
    began = performance.now();
    last = { input: -1, at: began };
    order(block === undefined ? { type: "end" } : { type: "block", block });
  }

  function fail(failure: Failure): void {
    hasFailed = true;
    if (failed(failure) || isEnding) return;
    isEnding = true;
    child.kill("SIGKILL");
  }

  function current(): number {
    return readFileSync(progressFile).readDoubleLE(0);
  }

  child.on("message", (word: Word) => {
    if (word.type === "ready") proceed(0);
    if (word.type === "skipped") skipped = word.reason;
    if (word.type === "failed") fail(word.failure);
    if (word.type === "done") {
      inputs += word.inputs;
      bytes += word.bytes;
      proceed((1000 * word.inputs) / Math.max(1, performance.now() - began));
    }
  });
  const watchdog = setInterval(() => {
    const input = block === undefined ? -1 : current();
    const now = performance.now();
    if (input !== last.input) last = { input, at: now };
    const patience = block === undefined ? START_MS : stallMs;
    if (now - last.at < patience) return;
    clearInterval(watchdog);
    hasFailed = true;
    if (block !== undefined) inputs += Math.max(0, input - block.from);
    const detail = block === undefined ? "its process does not start, or does not end" : `no sign of life for ${stallMs / 1000} s`;
    failed({ type: "stalled", input: Math.max(0, input), detail });
    isEnding = true;
    child.kill("SIGKILL");
  }, LOOK_MS);
  const { code, signal } = await ended(child);
  clearInterval(watchdog);
  process.off("exit", kill);
  if (block !== undefined && !hasFailed) {
    inputs += Math.max(0, current() - block.from);
    fail({ type: "ended", input: current(), detail: `its process ended (${signal ?? code}):\n${errors.join("\n")}` });
  } else if (block === undefined && !isEnding && skipped === undefined) {
    fail({ type: "ended", input: 0, detail: `its process did not start (${signal ?? code}):\n${errors.join("\n")}` });
  }
  rmSync(folder, { recursive: true });
  return { inputs, bytes, ...(skipped === undefined ? {} : { skipped }) };
}

function ended(child: ChildProcess): Promise<{ readonly code: number | null; readonly signal: string | null }> {
  return new Promise((resolve) => {
    child.on("error", () => resolve({ code: null, signal: "not started" }));
    child.on("close", (code, signal) => resolve({ code, signal }));
  });
}
