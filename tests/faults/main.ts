import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { isMainThread, parentPort, workerData } from "node:worker_threads";
import { UsageError } from "@isthmus/core";
import type { TrustAtStart } from "./base.ts";
import { type Campaign, runBlock, runCampaign, type WorkerData } from "./campaign.ts";
import { drawSchedule, runSchedule, type Schedule, USUAL_LENGTH } from "./schedule.ts";
import { shrunk } from "./shrink.ts";
import { formatStep, parseStep } from "./step.ts";
import { stepKinds } from "./steps/index.ts";
import { tamperingNamed, tamperings } from "./tamperings.ts";

const USAGE = `usage: npm run test:faults -- [--runs N] [--from F] [--seed S] [--jobs J] [--length L] [--tamper RULE] [--focus STEP,…] [--trace] [--steps STEPS --clusters C [--store] [--replicas] [--trust own|shared]]
  --runs    schedules (default 200); the first has the seed S, those of the others follow from it
  --from    the number of the first schedule that is run (default 0): continues a campaign that was interrupted
  --jobs    threads (default: one per processor)
  --length  steps of each schedule (default ${USUAL_LENGTH})
  --tamper  with this safety rule switched off: ${Object.keys(tamperings).join(", ")}
  --focus   schedules that have these steps far more often than others; also of the schedule that --trace shows
  --trace   the one schedule of the seed, step by step
  --no-shrink  a schedule that something was wrong with is shown as it was drawn
  --steps   this one schedule, such as "cut a 0 0;putService b 1 3", for C clusters; with --store for two servers that share one,
            with --replicas for agents that have two replicas each, with --trust for meshes with certificates, each of a CA of its own
            or all below one root`;

const PROGRESS_MS = 60_000;

async function main(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      runs: { type: "string", default: "200" },
      from: { type: "string", default: "0" },
      seed: { type: "string", default: "1" },
      jobs: { type: "string", default: String(availableParallelism()) },
      length: { type: "string", default: String(USUAL_LENGTH) },
      tamper: { type: "string" },
      focus: { type: "string", default: "" },
      trace: { type: "boolean", default: false },
      "no-shrink": { type: "boolean", default: false },
      steps: { type: "string" },
      clusters: { type: "string", default: "2" },
      store: { type: "boolean", default: false },
      replicas: { type: "boolean", default: false },
      trust: { type: "string" },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) {
    console.log(USAGE);
    return 0;
  }
  const [seed, length] = [number("seed", values.seed), number("length", values.length)];
  const [from, runs] = [number("from", values.from), number("runs", values.runs)];
  const focus = values.focus.split(",").filter((name) => name !== "");
  const unknown = focus.find((name) => !(name in stepKinds));
  if (unknown !== undefined) throw new UsageError(`no step is called ${unknown}: there are ${Object.keys(stepKinds).join(", ")}`);
  const campaign: Campaign = { from, runs, seed, length, focus, ...(values.tamper === undefined ? {} : { tamper: values.tamper }) };
  if (values.steps !== undefined) {
    const clusters = number("clusters", values.clusters);
    const kept = { hasStore: values.store, hasAgentReplicas: values.replicas, trust: trustNamed(values.trust) };
    return traced({ seed, clusters, ...kept, steps: values.steps.split(";").map(parseStep) }, values.tamper);
  }
  if (values.trace) return traced(drawSchedule(seed, length, focus), values.tamper);
  return judged(campaign, { jobs: Math.min(number("jobs", values.jobs), runs), isShrunk: !values["no-shrink"] });
}

function number(name: string, text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 0) throw new UsageError(`--${name} ${text} is not a number\n${USAGE}`);
  return value;
}

function trustNamed(text: string | undefined): TrustAtStart {
  if (text === undefined || text === "own" || text === "shared") return text;
  throw new UsageError(`--trust ${text} is neither own nor shared\n${USAGE}`);
}

async function traced(schedule: Schedule, tamper: string | undefined): Promise<number> {
  const violations = await runSchedule(schedule, { tampering: tamperingNamed(tamper), trace: (line) => console.log(line) });
  console.log(`1 schedules, ${violations.length} violations`);
  return violations.length === 0 ? 0 : 1;
}

/** The last line says how it ended. */
async function judged(campaign: Campaign, { jobs, isShrunk }: { readonly jobs: number; readonly isShrunk: boolean }): Promise<number> {
  const began = performance.now();
  let told = began;
  const figures = (done: number) => {
    const seconds = (performance.now() - began) / 1000;
    const { user, system } = process.cpuUsage();
    return `${done} schedules in ${seconds.toFixed(0)} s: ${(done / seconds).toFixed(1)} schedules per second, ${((user + system) / 1000 / done).toFixed(1)} ms CPU each`;
  };
  const progress = (done: number) => {
    if (performance.now() - told < PROGRESS_MS) return;
    told = performance.now();
    console.log(figures(done));
  };
  const { done, found } = await runCampaign(campaign, { jobs, program: fileURLToPath(import.meta.url), progress });
  console.log(figures(done));
  if (found === undefined) {
    console.log(`${done} schedules, 0 violations`);
    return 0;
  }
  const { schedule, rule, message } = found;
  const tampering = tamperingNamed(campaign.tamper);
  const { seed, clusters, hasStore, hasAgentReplicas, trust, steps } = isShrunk ? await shrunk(schedule, rule, { tampering }) : schedule;
  console.log(
    `replay: --seed ${seed} --trace, or shrunk: --seed ${seed} --clusters ${clusters}${hasStore === true ? " --store" : ""}${hasAgentReplicas === true ? " --replicas" : ""}${trust === undefined ? "" : ` --trust ${trust}`} --steps "${steps.map(formatStep).join(";")}"`,
  );
  console.log(`violation in seed ${seed}: ${rule}: ${message.replaceAll("\n", "; ")}`);
  return 1;
}

/** A thread of a campaign: runs the blocks that it is given. */
function work({ campaign }: WorkerData): void {
  parentPort?.on("message", (block: Parameters<typeof runBlock>[1] | "end") => {
    if (block === "end") parentPort?.close();
    else void runBlock(campaign, block).then((result) => parentPort?.postMessage(result));
  });
  parentPort?.postMessage("ready");
}

if (isMainThread) {
  try {
    process.exitCode = await main(process.argv.slice(2));
  } catch (error) {
    // parseArgs says by a TypeError with a code what is wrong with the flags.
    if (!(error instanceof UsageError || (error instanceof TypeError && "code" in error))) throw error;
    console.error(error instanceof UsageError ? error.message : `${error.message}\n${USAGE}`);
    process.exitCode = 2;
  }
} else {
  work(workerData as WorkerData);
}
