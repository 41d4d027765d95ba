import { type Clock, type Delta, isEmpty, type Log, type Meter, type OutputSet, type ResourceRef } from "@isthmus/core";
import type { Acknowledgement, DeletionCause, DeletionEvidence, Observation } from "@isthmus/ports";
import { type DeletionLog, deletionLog } from "../apply/deletionLog.ts";
import { deletionReason } from "../apply/deletionReason.ts";
import { countMerged } from "./serverMetrics.ts";
import { type Lags, lags } from "./statuses/lag.ts";
import { type SyncDurations, syncDurations } from "./statuses/syncDurations.ts";
import { tracing } from "./tracing.ts";

/** Sees what passes through the server, and keeps what people ask for later: ids of changes, activity, removals, and lags. It changes nothing. */
export interface Telemetry {
  readonly deletions: DeletionLog;
  readonly lags: Lags;
  readonly durations: SyncDurations;
  /** Takes in an agent's report; what is merged meanwhile comes from there. */
  observed(clusterName: string, observation: Observation, take: () => void): void;
  /** Something that translation reads has changed. */
  merged(delta: Delta): void;
  /** Runs what translates and hands on. */
  reconciled(run: () => Promise<boolean>): Promise<void>;
  /** The desired state of a cluster: gives what is to be sent with it. */
  desired(clusterName: string, wanted: OutputSet, why: DeletionCause): DeletionCause;
  acknowledged(clusterName: string, acknowledgement: Acknowledgement, wanted: OutputSet): void;
  /** Ids of the changes that statuses follow from which are written now. */
  takeForStatuses(): readonly string[];
}

export interface TelemetryOptions {
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  readonly meter: Meter;
  /** Called when something is to be said that only time has brought: a lag, a certificate that was not renewed. */
  readonly late: () => void;
}

/** Keeps all of it in memory. Calls `late` every minute, and when a cluster starts to lag, until `signal` is aborted. */
export function startTelemetry({ clock, random, log, meter, late }: TelemetryOptions, signal: AbortSignal): Telemetry {
  const durations = syncDurations(clock);
  const traces = tracing({ clock, random, log, meter, applied: durations.record });
  const removals = deletionLog(() => clock.now());
  const behind = lags({ clock, late }, signal);
  /** Counts the changes of what translation reads. */
  let snapshot = 0;
  /** How many there were when what is being translated was taken up. */
  let translated = 0;
  /** Whose report is being taken in at this moment, and the ids of its changes. */
  let arriving: { readonly clusterName: string; readonly traces: readonly string[] | undefined } | undefined;

  /** Says and keeps why an object is no longer desired, and in which snapshot. */
  function ordered(object: ResourceRef, evidence: DeletionEvidence): DeletionEvidence {
    const dated = { ...evidence, snapshot: translated };
    removals.record({ step: "Ordered", object, reason: deletionReason(dated), evidence: dated, traces: traces.current });
    return dated;
  }

  async function lookAgain(): Promise<void> {
    while (!signal.aborted) {
      // Rejects when there is nothing to do any more.
      await clock.sleep(LOOK_AGAIN_MS, signal).catch(() => undefined);
      if (!signal.aborted) late();
    }
  }
  void lookAgain();

  return {
    deletions: removals,
    lags: behind,
    durations,
    observed(clusterName, observation, take) {
      arriving = { clusterName, traces: observation.traces };
      take();
      arriving = undefined;
    },
    merged(delta) {
      if (isEmpty(delta)) return;
      snapshot++;
      countMerged(meter, delta);
      traces.received(arriving?.clusterName ?? "", { put: delta.put.length, remove: delta.remove.length }, arriving?.traces);
    },
    async reconciled(run) {
      const started = clock.now();
      translated = snapshot;
      await traces.translating(run);
      meter.record("gloo_mesh_reconciler_time_sec", (clock.now() - started) / 1000);
    },
    desired(clusterName, wanted, { evidenceOf }) {
      behind.setDesired(clusterName, wanted);
      return { evidenceOf: (ref) => ordered(ref, evidenceOf(ref)), traces: traces.current };
    },
    acknowledged(clusterName, acknowledgement, wanted) {
      behind.acknowledged(clusterName, wanted);
      traces.acknowledged(clusterName, acknowledgement);
    },
    takeForStatuses: traces.takeForStatuses,
  };
}

const LOOK_AGAIN_MS = 60_000;
