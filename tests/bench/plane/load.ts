import { existsSync, openSync, readSync } from "node:fs";
import { loadavg } from "node:os";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { percentile, rounded } from "../measure.ts";

/** What this process has spent since `startLoad`, and how long its event loop was held up. */
export interface Load {
  /** Time on a processor. */
  readonly cpuMs: number;
  /** The same as processors in use, on average. */
  readonly cores: number;
  readonly eventLoopP99Ms: number;
  readonly eventLoopMaxMs: number;
  /**
   * How late the loop was, without the time that its thread was ready and waited for a processor: that is the doing of others.
   * Waiting that made nothing late is taken off as well. Where the kernel does not say, all of it.
   */
  readonly ownDelayP99Ms: number;
  /** Time that this process spent on processors between two timers that are due 5 ms apart: what of the above is its own doing. */
  readonly ownTurnP99Ms: number;
  readonly ownTurnMaxMs: number;
}

/** Measures this process until the returned function is called. */
export function startLoad(): () => Load {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  const [cpu, started] = [process.cpuUsage(), performance.now()];
  const turns: number[] = [];
  const delays: number[] = [];
  let before = cpu;
  let [due, waited] = [started + RESOLUTION_MS, waitedMs()];
  const timer = setInterval(() => {
    const now = process.cpuUsage();
    turns.push((now.user + now.system - before.user - before.system) / 1000);
    before = now;
    const [arrived, waitedNow] = [performance.now(), waitedMs()];
    delays.push(Math.max(0, arrived - due - (waitedNow - waited)));
    [due, waited] = [arrived + RESOLUTION_MS, waitedNow];
  }, RESOLUTION_MS);
  return () => {
    clearInterval(timer);
    const { user, system } = process.cpuUsage(cpu);
    const cpuMs = (user + system) / 1000;
    delay.disable();
    return {
      cpuMs: rounded(cpuMs),
      cores: rounded(cpuMs / (performance.now() - started)),
      eventLoopP99Ms: late(delay.percentile(99)),
      eventLoopMaxMs: late(delay.max),
      ownDelayP99Ms: rounded(percentile(delays, 99)),
      ownTurnP99Ms: rounded(percentile(turns, 99)),
      ownTurnMaxMs: rounded(Math.max(0, ...turns)),
    };
  };
}

const RESOLUTION_MS = 5;

/** The histogram holds, in nanoseconds, the time between two timers that are due `RESOLUTION_MS` apart. */
function late(nanoseconds: number): number {
  return rounded(Math.max(0, nanoseconds / 1e6 - RESOLUTION_MS));
}

/** How long this thread has been ready to run and had no processor; 0 where the kernel does not say. */
function waitedMs(): number {
  if (scheduling === undefined) return 0;
  const length = readSync(scheduling, text, 0, text.length, 0);
  // In nanoseconds: the time on a processor, and that waiting for one.
  return Number(text.toString("latin1", 0, length).split(" ")[1]) / 1e6;
}

// The main thread has the number of its process. Kept open: it is read often.
const SCHEDULING = `/proc/self/task/${process.pid}/schedstat`;
const scheduling = existsSync(SCHEDULING) ? openSync(SCHEDULING, "r") : undefined;
const text = Buffer.alloc(128);

/** How busy the machine is: figures of time mean little where this is above its number of processors. */
export function machineLoad(): number {
  return rounded(loadavg()[0] ?? 0);
}

export function rssMiB(): number {
  return Math.round(process.memoryUsage.rss() / 1024 / 1024);
}

/** What this process holds when nothing is left to be collected. */
export function settledRssMiB(): number {
  collectGarbage();
  return rssMiB();
}

/** What is alive in the heap of this process. */
export function liveHeapBytes(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  // Twice: what the first round has marked as unreachable, the second gives back.
  for (let round = 0; round < 2; round++) runInNewContext("gc")();
}

/** Watches what this process holds until the returned function is called, which gives the most. */
export function startMemory(): () => number {
  let most = rssMiB();
  const look = () => {
    most = Math.max(most, rssMiB());
  };
  const timer = setInterval(look, SAMPLE_MS);
  return () => {
    clearInterval(timer);
    look();
    return most;
  };
}

const SAMPLE_MS = 50;
