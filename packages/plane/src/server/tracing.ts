import type { Clock, Log, Meter } from "@isthmus/core";
import type { Acknowledgement } from "@isthmus/ports";
import { newTraceId } from "../runtime/traceId.ts";

/**
 * Follows changes through the server: received, translated, handed on, acknowledged, status written. A change has an id from
 * where it was first seen; a run of translation that several changes share goes by the ids of some of them.
 */
export interface Tracing {
  /** A change is seen, in the management cluster (""), or by an agent that may have given it ids. */
  received(clusterName: string, change: { readonly put: number; readonly remove: number }, traces?: readonly string[]): void;
  /** Runs what translates and hands on: `current` are the ids of what is translated. `run` says whether it has taken up all there is. */
  translating(run: () => Promise<boolean>): Promise<void>;
  readonly current: readonly string[];
  acknowledged(clusterName: string, acknowledgement: Acknowledgement): void;
  /** The ids of what has been translated or acknowledged since this was asked last: what statuses are written for. */
  takeForStatuses(): readonly string[];
}

export interface TracingOptions {
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  readonly meter: Meter;
  /** A change was applied in a cluster, so many milliseconds after the server has seen it. */
  readonly applied: (clusterName: string, ms: number) => void;
}

/**
 * Keeps the times of the latest 1,024 changes, and at most 8 ids together: what is beyond is dropped from traces, and nothing else depends
 * on it.
 */
export function tracing({ clock, random, log, meter, applied }: TracingOptions): Tracing {
  /** When a change was seen, oldest first; at most MAX_TIMED, then the oldest are forgotten. */
  const seenAt = new Map<string, number>();
  let untranslated: readonly string[] = [];
  let current: readonly string[] = [];
  let unwritten: readonly string[] = [];

  function begin(id: string): void {
    if (seenAt.has(id)) return;
    seenAt.set(id, clock.now());
    const [oldest] = seenAt.keys();
    if (seenAt.size > MAX_TIMED && oldest !== undefined) seenAt.delete(oldest);
  }

  return {
    received(cluster, { put, remove }, traces = [newTraceId(random)]) {
      for (const id of traces) begin(id);
      untranslated = joined(untranslated, traces);
      log.debug({ cluster, traces, put, remove }, "received");
    },
    async translating(run) {
      const started = clock.now();
      [current, untranslated] = [untranslated, []];
      const isAll = await run();
      if (current.length > 0) log.debug({ traces: current, ms: clock.now() - started }, "translated");
      // Nobody knows whose change waits for the next turn.
      if (!isAll) untranslated = joined(current, untranslated);
      unwritten = joined(unwritten, current);
      current = [];
    },
    get current() {
      return current;
    },
    acknowledged(cluster, { revision, rejected, traces = [] }) {
      if (traces.length === 0) return;
      const now = clock.now();
      for (const id of traces) {
        const at = seenAt.get(id);
        if (at === undefined) continue;
        meter.record("gloo_mesh_propagation_time_sec", Math.max(0, now - at) / 1000);
        applied(cluster, Math.max(0, now - at));
      }
      log.debug({ cluster, revision, rejected: rejected.length, traces }, "acknowledged");
      unwritten = joined(unwritten, traces);
    },
    takeForStatuses() {
      const traces = unwritten;
      unwritten = [];
      return traces;
    },
  };
}

const MAX_TIMED = 1_024;
// As many as travel together on the wire.
const MAX_TOGETHER = 8;

function joined(before: readonly string[], more: readonly string[]): readonly string[] {
  if (more.length === 0 || before.length >= MAX_TOGETHER) return before;
  return [...new Set([...before, ...more])].slice(0, MAX_TOGETHER);
}
