import { openSync, readFileSync, writeSync } from "node:fs";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { seededRandom, seedOfRun } from "../faults/random.ts";
import { groupOf } from "./groups.ts";
import type { Block, Errand, Order, Word } from "./messages.ts";
import { type EntryPoint, patienceMs, Skipped, type Target, targetNamed } from "./target.ts";

// What a process holds for good: sources, schemas, what entry points remember by design.
const ROOM_BYTES = 128 * 1024 * 1024;
// Until then entry points fill their caches.
const WARM_INPUTS = 1_000;
// Beside the end of each block.
const WEIGH_EACH = 5_000;
// What must happen between inputs: rejections that nobody handles are reported then, and orders come.
const PAUSE_MS = 20;

// Who is under attack may take its time to say goodbye; what counts has been counted.
const STOP_MS = 3_000;

/** The life of a process that is started for one target: takes blocks of inputs, and says how each ended. */
export async function work(errand: Errand, targets: readonly Target[]): Promise<void> {
  const target = targetNamed(targets, errand.target);
  const progress = openSync(errand.progressFile, "r+");
  const mark = Buffer.alloc(8);
  let current = 0;
  /** The first input after the last pause. */
  let since = 0;
  /** Of many inputs that fail alike in this process, the first is reported. */
  const told = new Set<string>();

  function note(input: number): void {
    current = input;
    mark.writeDoubleLE(input);
    writeSync(progress, mark, 0, 8, 0);
  }

  for (const event of ["uncaughtException", "unhandledRejection"] as const) {
    process.on(event, (error: unknown) => {
      say({ type: "failed", failure: { type: "uncaught", input: current, since, detail: detailOf(error) } }, () => process.exit(1));
    });
  }

  let entryPoint: EntryPoint;
  try {
    entryPoint = await target.start();
  } catch (error) {
    if (!(error instanceof Skipped)) throw error;
    say({ type: "skipped", reason: error.message }, () => process.exit(0));
    return;
  }

  function failed(type: "threw" | "slow" | "grew", detail: string): void {
    say({ type: "failed", failure: { type, input: current, detail } });
  }

  /** Processor time that an input takes, in ms, and how it ended. */
  async function taken(bytes: Buffer): Promise<{ readonly cpuMs: number; readonly wallMs: number; readonly error?: unknown }> {
    const [cpu, began] = [process.cpuUsage(), performance.now()];
    let error: unknown;
    try {
      const pending = entryPoint.take(bytes);
      if (pending !== undefined) await pending;
    } catch (thrown) {
      error = thrown ?? new Error("undefined was thrown");
    }
    const { user, system } = process.cpuUsage(cpu);
    return { cpuMs: (user + system) / 1000, wallMs: performance.now() - began, ...(error === undefined ? {} : { error }) };
  }

  async function take(bytes: Buffer): Promise<void> {
    const first = await taken(bytes);
    if (first.error !== undefined) return failed("threw", detailOf(first.error));
    const patience = patienceMs(bytes.length);
    if (first.wallMs < patience || first.cpuMs < patience) return;
    // Garbage may have been collected just then.
    const again = await taken(bytes);
    const cpuMs = Math.min(first.cpuMs, again.cpuMs);
    if (cpuMs > patience)
      failed("slow", `${bytes.length} bytes take ${Math.round(cpuMs)} ms of processor time, more than ${Math.round(patience)}`);
  }

  let heapBytes: number | undefined;
  let inputs = 0;
  function weigh(): void {
    globalThis.gc?.();
    const { heapUsed, external } = process.memoryUsage();
    if (inputs >= WARM_INPUTS) heapBytes ??= heapUsed + external;
    if (heapBytes === undefined || heapUsed + external < heapBytes + ROOM_BYTES) return;
    failed("grew", `the heap has grown from ${mib(heapBytes)} to ${mib(heapUsed + external)} MiB, within ${inputs} inputs`);
    heapBytes = heapUsed + external;
  }

  async function run({ from, count }: Block): Promise<void> {
    let bytes = 0;
    let paused = performance.now();
    since = from;
    for (let input = from; input < from + count; input++) {
      note(input);
      const drawn = errand.file === undefined ? drawnInput(target, errand.seed, input) : readFileSync(errand.file);
      bytes += drawn.length;
      await take(drawn);
      inputs++;
      if (inputs === WARM_INPUTS || inputs % WEIGH_EACH === 0) weigh();
      if (errand.isExact !== true && performance.now() - paused < PAUSE_MS) continue;
      await nextTurn();
      paused = performance.now();
      since = input + 1;
    }
    // What an input set off may come to light a little later.
    await nextTurn();
    await nextTurn();
    weigh();
    say({ type: "done", inputs: count, bytes });
  }

  process.on("message", (order: Order) => {
    if (order.type === "end") void Promise.race([entryPoint.stop(), sleep(STOP_MS)]).then(() => process.exit(0));
    else void run(order.block);
  });
  // The parent is gone.
  process.on("disconnect", () => process.exit(1));
  say({ type: "ready" });

  function say(word: Word, then: () => void = () => undefined): void {
    const group = word.type === "failed" ? groupOf(errand.target, word.failure) : undefined;
    if (group !== undefined && told.has(group)) then();
    else process.send?.(word, then);
    if (group !== undefined) told.add(group);
  }
}

/** Input `number` of a seed. */
export function drawnInput(target: Target, seed: number, number: number): Buffer {
  return target.draw(seededRandom(seedOfRun(seed, number)));
}

function detailOf(error: unknown): string {
  if (!(error instanceof Error)) return `not an Error: ${String(error)}`;
  const cause = error.cause instanceof Error ? `\n  cause: ${error.cause.stack ?? error.cause.message}` : "";
  return `${(error.stack ?? error.message).slice(0, 6_000)}${cause.slice(0, 2_000)}`;
}

function mib(bytes: number): number {
  return Math.round(bytes / (1024 * 1024));
}
