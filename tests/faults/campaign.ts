import { Worker } from "node:worker_threads";
import { seedOfRun } from "./random.ts";
import { drawSchedule, runSchedule, type Schedule } from "./schedule.ts";
import { tamperingNamed } from "./tamperings.ts";

/** Many schedules, each drawn from a seed of its own. */
export interface Campaign {
  readonly runs: number;
  /** The number of the first one that is run. Default: 0. */
  readonly from?: number;
  /** The seed of the first one; those of the others follow from it. */
  readonly seed: number;
  /** Steps of each. */
  readonly length: number;
  /** Steps that come up far more often than else. */
  readonly focus?: readonly string[];
  /** A safety rule that is switched off. */
  readonly tamper?: string;
}

/** The first schedule of a campaign, by its number, that something was wrong with. */
export interface Found {
  readonly run: number;
  readonly schedule: Schedule;
  readonly rule: string;
  readonly message: string;
}

/** Some schedules of a campaign: `from` to `to`, `to` excluded. */
interface Block {
  readonly from: number;
  readonly to: number;
}

/** What has become of a block. It ends at the first schedule that something was wrong with. */
interface BlockResult {
  readonly done: number;
  readonly found?: Found;
}

// Small enough that all threads end at about the same time, large enough that nobody waits for the next one.
const BLOCK = 20;
// Schedules leave much behind that is soon garbage: in a nursery that holds a few of them most of it costs nothing.
const NURSERY_MIB = 192;

/** What the coordinator says to a thread. */
export type WorkerData = { readonly campaign: Campaign };

/**
 * Runs a campaign in `jobs` threads, which load `program` again; nothing more is begun once something was wrong. `progress`
 * takes the number of schedules that are done.
 */
export async function runCampaign(
  campaign: Campaign,
  { jobs, program, progress }: { readonly jobs: number; readonly program: string; readonly progress: (done: number) => void },
): Promise<BlockResult> {
  let next = campaign.from ?? 0;
  const end = next + campaign.runs;
  let done = 0;
  let found: Found | undefined;

  function nextBlock(): Block | undefined {
    if (found !== undefined || next >= end) return undefined;
    const from = next;
    next = Math.min(end, from + BLOCK);
    return { from, to: next };
  }

  function one(): Promise<void> {
    return new Promise((resolve, reject) => {
      const workerData: WorkerData = { campaign };
      const worker = new Worker(program, { workerData, resourceLimits: { maxYoungGenerationSizeMb: NURSERY_MIB } });
      worker.on("message", (result: BlockResult | "ready") => {
        if (result !== "ready") {
          done += result.done;
          if (result.found !== undefined && result.found.run < (found?.run ?? Number.POSITIVE_INFINITY)) found = result.found;
          progress(done);
        }
        worker.postMessage(nextBlock() ?? "end");
      });
      worker.on("error", reject);
      worker.on("exit", () => resolve());
    });
  }

  await Promise.all(Array.from({ length: jobs }, one));
  return found === undefined ? { done } : { done, found };
}

/** Runs one block in this thread. */
export async function runBlock({ seed, length, tamper, focus = [] }: Campaign, { from, to }: Block): Promise<BlockResult> {
  const tampering = tamperingNamed(tamper);
  // Calls fail by the thousand, and nobody looks at where; a crash can be replayed.
  Error.stackTraceLimit = 0;
  for (let run = from; run < to; run++) {
    const schedule = drawSchedule(seedOfRun(seed, run), length, focus);
    const [violation] = await runSchedule(schedule, { tampering });
    if (violation !== undefined) return { done: run - from + 1, found: { run, schedule, ...violation } };
  }
  return { done: to - from };
}
