import { Lease } from "@isthmus/api";
import { formatRef, type Log } from "@isthmus/core";
import type { Write } from "./actorPort.ts";
import { type Base, baseOf, type TrustAtStart } from "./base.ts";
import { type FleetWatcher, startFleet } from "./fleet.ts";
import { Oracle, type Violation } from "./oracle.ts";
import { type Random, seededRandom } from "./random.ts";
import { silentLog } from "./silentLog.ts";
import { startStage } from "./stage.ts";
import { drawStep, formatStep, type Step, type StepKinds } from "./step.ts";
import { stepKinds } from "./steps/index.ts";
import { modeSteps } from "./steps/modes.ts";
import { replicaSteps } from "./steps/replicas.ts";
import { trustSteps } from "./steps/trust.ts";
import type { Tampering } from "./tampering.ts";
import { promptCrypto } from "./trust/promptCrypto.ts";
import { bearsOurLabel } from "./truth.ts";

/** What happens to a fleet, step by step. `seed` decides what is left to chance while it runs: jitter and delays. */
export interface Schedule {
  readonly seed: number;
  /** How many workload clusters there are. */
  readonly clusters: number;
  /** Two servers share a store. */
  readonly hasStore?: boolean;
  /** Each agent has two replicas, of which one is elected to lead. */
  readonly hasAgentReplicas?: boolean;
  /** The meshes have certificates. */
  readonly trust?: TrustAtStart;
  readonly steps: readonly Step[];
}

export interface RunOptions {
  readonly tampering?: Tampering;
  /** Takes the trace, line by line: all steps, and all writes, violations and log lines between them. */
  readonly trace?: (line: string) => void;
}

/** The schedule that a seed stands for, of about `length` steps. Those in `focus` come up far more often than else. */
export function drawSchedule(seed: number, length = USUAL_LENGTH, focus: readonly string[] = []): Schedule {
  const random: Random = seededRandom(seed);
  const trust = drawTrust(seed, focus);
  const kinds = inFocus(trust === undefined ? withoutTrust : stepKinds, focus);
  const clusters = random.int(4) === 0 ? 3 : 2;
  const names = ["a", "b", "c"].slice(0, clusters);
  const hasStore = kindsOfStore(focus) || random.int(3) === 0;
  const hasAgentReplicas = focus.includes("pauseAgent") || random.int(5) === 0;
  const steps = Array.from({ length }, () => drawStep(kinds, names, random));
  // A cluster that was observed or frozen all along is another one than one that becomes so.
  const mode = random.int(8) === 0 ? [drawStep(modeSteps, names, random)] : [];
  // Mostly everything has started before the first thing happens.
  const start = random.int(4) === 0 ? [] : [{ does: "wait", cluster: "-", n: 5, v: 0 }];
  return { seed, clusters, hasStore, hasAgentReplicas, ...(trust === undefined ? {} : { trust }), steps: [...mode, ...start, ...steps] };
}

/** Schedules with certificates take several times as long as others. Drawn apart, so that those of all other seeds stay as they are. */
function drawTrust(seed: number, focus: readonly string[]): TrustAtStart {
  const random = seededRandom(seed ^ 0x7257);
  const isDrawn = random.int(ONE_WITH_TRUST_OF) === 0 || focus.some((name) => name in trustSteps);
  return isDrawn ? random.pick(["own", "shared"] as const) : undefined;
}

const ONE_WITH_TRUST_OF = 40;
const withoutTrust = Object.fromEntries(Object.entries(stepKinds).filter(([name]) => !(name in trustSteps)));

function kindsOfStore(focus: readonly string[]): boolean {
  return focus.some((name) => name in replicaSteps);
}

/** Steps of a schedule, unless somebody asks for more or fewer. */
export const USUAL_LENGTH = 14;

// All others have about 170 together.
const FOCUS_WEIGHT = 60;

function inFocus(kinds: StepKinds, focus: readonly string[]): StepKinds {
  if (focus.length === 0) return kinds;
  const weighed = Object.entries(kinds).map(([name, kind]) => [name, focus.includes(name) ? { ...kind, weight: FOCUS_WEIGHT } : kind]);
  return Object.fromEntries(weighed) as StepKinds;
}

/**
 * Runs a schedule and then lets everything come to rest; gives what was wrong. The same schedule always gives the same
 * trace.
 */
export async function runSchedule(schedule: Schedule, options: RunOptions = {}): Promise<readonly Violation[]> {
  if (schedule.trust === undefined) return run(schedule, await baseOf(schedule.clusters), options);
  const restore = promptCrypto(0);
  try {
    const base = await baseOf(schedule.clusters, schedule.trust);
    promptCrypto(base.keys);
    return await run(schedule, base, options);
  } finally {
    restore();
  }
}

async function run(
  { seed, hasStore = false, hasAgentReplicas = false, trust, steps }: Schedule,
  { image, states }: Base,
  { tampering = {}, trace }: RunOptions,
): Promise<readonly Violation[]> {
  const note = (text: () => string) => trace?.(text());
  let writes = 0;
  const warning = (_: unknown, message: string) => note(() => `    # ${message}`);
  const log: Log = trace !== undefined ? { ...silentLog, info: warning, warn: warning, error: warning } : silentLog;
  const watcher: FleetWatcher = {
    wrote,
    sent: (clusterName, message) => oracle.sent(clusterName, message),
    told: (process, desired) => oracle.orders.told(process, desired),
    failedToRead: (clusterName, kindKey) => oracle.failedToRead(clusterName, kindKey),
    get modes() {
      return oracle.modes;
    },
    crashed: (process, error) => oracle.crashed(process, error),
  };
  const names = [...image.clusters.keys()];
  const hasTrust = trust !== undefined;
  const fleet = startFleet({ clusters: names, seed, tampering, log, image, watcher, hasStore, hasAgentReplicas, hasTrust });
  const oracle = new Oracle(fleet, states);
  const began = fleet.clock.now();
  const stage = startStage(fleet, oracle, () => writes);
  oracle.atRest([fleet.management, ...fleet.clusters.values()].flatMap((cluster) => cluster.objects().filter(bearsOurLabel)));

  function wrote(write: Write): void {
    oracle.wrote(write);
    // A lease is renewed for ever.
    if (write.ref.kind === Lease.kind) return;
    writes++;
    note(() => `    ${fleet.clock.now() - began} ${write.actor}: ${write.verb} ${formatRef(write.ref)}`);
  }

  fleet.startServer();
  fleet.startServer("2");
  for (const name of names) fleet.startAgent(name, "1");
  if (hasAgentReplicas) for (const name of names) fleet.startAgent(name, "2");
  for (const step of [...steps, { does: "rest", cluster: "-", n: 0, v: 0 }]) {
    note(() => `${fleet.clock.now() - began} ${formatStep(step)}`);
    const kind = stepKinds[step.does];
    if (kind === undefined) throw new RangeError(`no step is called ${step.does}`);
    await kind.act(stage, step);
    // The first thing that is wrong is the one to look at.
    if (oracle.violations.length > 0) break;
  }
  // The processes end with their clock: nobody will wake them any more.
  for (const { rule, message } of oracle.violations) note(() => `    VIOLATION ${rule}: ${message}`);
  return oracle.violations;
}
