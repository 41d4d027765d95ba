import type { Clock } from "@isthmus/core";
import type { Leadership } from "@isthmus/ports";
import { computeStatuses, type Statuses } from "@isthmus/translators";
import { areNamesOpen } from "../../identity/registrations.ts";
import type { Sharing } from "../../replication/sharing.ts";
import { coalesced } from "../../runtime/coalesce.ts";
import { runTimeSliced, SLICE_MS } from "../../runtime/timeSlices.ts";
import type { DeliveryLog } from "../delivery.ts";
import type { ServerInputs } from "../inputs.ts";
import type { LeaderWrites } from "../leaderWrites.ts";
import type { AgentNoticeSender } from "../notices.ts";
import { BATCH_MS, type ReconcileLoop } from "../reconcileLoop.ts";
import type { DeleteResumption } from "../resumeDeletes.ts";
import type { ServerEventHub } from "../serverEvents.ts";
import type { ServerOptions } from "../serverOptions.ts";
import type { Telemetry } from "../telemetry.ts";
import { type StatusUpdatesOptions, statusUpdates } from "./statusUpdates.ts";
import { storeConditions } from "./storeConditions.ts";

/** Computes statuses from the last translation and from what agents answered, and has them written or pushed whenever one of both changed. */
export interface StatusLoop {
  /** Says why this server cannot connect to a cluster, for the status of its KubernetesCluster; undefined: it can again. */
  cannotConnect(clusterName: string, problem: string | undefined): void;
  /** Ends when the loop was aborted. */
  readonly ended: Promise<void>;
}

/** What the status loop is built from. */
export interface StatusLoopOptions
  extends Pick<ServerOptions, "agentName" | "kinds" | "modeOf" | "namespace" | "ownStatus" | "clock" | "sliceMs"> {
  readonly inputs: Pick<ServerInputs, "view" | "store">;
  readonly delivery: DeliveryLog;
  readonly leadership: Leadership;
  /** What users approved of deletes that agents hold back. */
  readonly resumption: DeleteResumption;
  readonly notices: AgentNoticeSender;
  readonly writes: Pick<LeaderWrites, "writeStatuses">;
  readonly sharing: Pick<Sharing, "replicated" | "isLoaded" | "outage" | "room">;
  /** The store that replicas share; undefined where there is none. */
  readonly sharedStore: NonNullable<ServerOptions["sharing"]>["store"] | undefined;
  readonly telemetry: Telemetry;
  /** The conditions of VirtualMeshes about certificates, by `namespace/name`. */
  readonly expiring: StatusUpdatesOptions["expiring"];
  /** How far the meshes of VirtualMeshes are from their roots, by `namespace/name`. */
  readonly phases: StatusUpdatesOptions["phases"];
  readonly cilium: StatusUpdatesOptions["cilium"];
  readonly trustDomains: StatusUpdatesOptions["trustDomains"];
  readonly reconciled: Pick<ReconcileLoop, "translation" | "excluded">;
  readonly events: ServerEventHub;
}

/** Runs after `statusesDue` and `managementChanged`. */
export function startStatusLoop(options: StatusLoopOptions, signal: AbortSignal): StatusLoop {
  const { inputs, kinds, delivery, leadership, resumption, notices, writes, sharing, telemetry, reconciled, events, clock } = options;
  const { view, store } = inputs;
  const slicing = { clock, sliceMs: options.sliceMs ?? SLICE_MS };
  /** Of clusters that this server connects to itself. */
  const problems = new Map<string, string>();
  const { sharedStore } = options;
  const ownConditions = () => (sharedStore === undefined ? [] : storeConditions(sharedStore, sharing));
  const updates = statusUpdates({
    agentName: options.agentName,
    problemIn: (name) => problems.get(name),
    areNamesOpen: () => areNamesOpen(view, options.namespace),
    delivery,
    lateSince: telemetry.lags.lateSince,
    modeOf: options.modeOf,
    excluded: () => reconciled.excluded,
    own: { ref: options.ownStatus, conditions: ownConditions },
    expiring: options.expiring,
    phases: options.phases,
    cilium: options.cilium,
    trustDomains: options.trustDomains,
    view: () => view,
    store,
    kinds,
  });
  let statuses: Statuses | undefined;

  /** What users approved and was passed on, by this replica or by the one that has the agent. */
  function resumed(): ReadonlyMap<string, string> {
    const values = new Map(resumption.resumed);
    for (const [name, { resumedDeletes }] of sharing.replicated) {
      if (resumedDeletes !== undefined && store.clusters.get(name)?.isServed !== true) values.set(name, resumedDeletes);
    }
    return values;
  }

  async function update(): Promise<void> {
    if (!view.isComplete) return;
    resumption.check(view.snapshot.of(kinds.registration));
    const traces = telemetry.takeForStatuses();
    if (reconciled.translation !== undefined) {
      statuses = await runTimeSliced(computeStatuses(reconciled.translation, delivery.state, statuses), slicing, signal);
    }
    // What another replica leads is its to write: when this one gains the lead, it starts over.
    const changed = leadership.isLeader
      ? await runTimeSliced(updates.next({ statuses, resumed: resumed(), now: clock.now() }), slicing, signal)
      : [];
    if (statuses !== undefined) notices.statuses(statuses);
    for (let from = 0; from < changed.length; from += STATUS_SLICE) {
      // Of a fleet that has just been heard there are many: others get their turn in between.
      if (from > 0) await yieldTo(clock, signal);
      writes.writeStatuses(changed.slice(from, from + STATUS_SLICE), traces);
    }
  }

  const loop = coalesced(update, { clock, pauseMs: BATCH_MS, restMs: STATUS_REST_MS }, signal);
  events.on("statusesDue", loop.request);
  events.on("managementChanged", (delta) => {
    // Statuses are restored when somebody edits them.
    if (leadership.isLeader) updates.observed(delta);
    loop.request();
  });
  events.on("leadershipGained", updates.startOver);

  return {
    cannotConnect(clusterName, problem) {
      if (problem === undefined) problems.delete(clusterName);
      else problems.set(clusterName, problem);
      loop.request();
    },
    ended: loop.ended,
  };
}

function yieldTo(clock: Clock, signal: AbortSignal): Promise<void> {
  return clock.sleep(0, signal).catch(() => undefined);
}

// A fleet answers one agent after the other: what is said of a change is written once or twice, not for each answer.
const STATUS_REST_MS = 200;
// Each is compared with what is written: about 3 ms in all.
const STATUS_SLICE = 300;
