import {
  type AnyResource,
  type Clock,
  type Condition,
  equalJson,
  formatRef,
  intern,
  type JsonObject,
  kindKeyOf,
  type Log,
  type Meter,
  messageOf,
  type ResourceRef,
  resourceKeyOf,
  type Snapshot,
  type TimedCondition,
  timedConditions,
  uptimeOf,
} from "@isthmus/core";
import { type Cluster, ClusterError } from "@isthmus/ports";
import { startPace } from "../runtime/pace.ts";
import { startWorkQueue, type WorkOutcome, type WorkQueueSizes } from "../runtime/workQueue.ts";
import { gvkOf } from "../runtime/workQueueMetrics.ts";
import { driftBackoff } from "./driftBackoff.ts";
import { FIELD_MANAGER } from "./ownership.ts";

/** The status that an object should have. Conditions carry no times: those are added when it is written. */
export interface DesiredStatus {
  readonly ref: ResourceRef;
  readonly status: JsonObject;
  /** Given when the object is there and cannot be parsed: what its status says now. */
  readonly malformed?: { readonly status?: JsonObject };
}

interface Traced {
  readonly update: DesiredStatus;
  /** The conditions are as they stand there already: it can wait. */
  readonly isDetail: boolean;
  readonly traces: readonly string[];
}

/** Writes statuses that differ from what the cluster has; the latest desired status of an object wins. */
export interface StatusWriter {
  /** Statuses that objects should have; of those not named, what was said last stays. `traces`: ids of the changes behind them. */
  write(updates: Iterable<DesiredStatus>, traces?: readonly string[]): void;
  /**
   * All objects of a kind (`kindKeyOf`) were listed, and `live` has them: of what was written while nobody watched it is known again whether it
   * stands there. An object that has come back as it was before makes no news.
   */
  listed(kindKey: string): void;
  readonly sizes: WorkQueueSizes;
  readonly ended: Promise<void>;
}

export interface StatusWriterOptions {
  /** Whether anything may be written now; what may not be is dropped. Default: yes. */
  readonly mayWrite?: () => boolean;
  /**
   * Kinds (`kindKeyOf`) whose statuses are written when no others are to be, as those are of which neither state nor conditions change.
   * Default: none.
   */
  readonly bulk?: ReadonlySet<string>;
  readonly cluster: Cluster;
  readonly live: () => Snapshot;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  readonly meter: Meter;
}

/**
 * Writes with four workers until `signal` is aborted, at most 50 statuses a second of those whose state and conditions do not change. A
 * status that another writer reverts is written again with growing pauses.
 */
export function startStatusWriter(
  { mayWrite = () => true, bulk = new Set<string>(), cluster, live, clock, random, log, meter }: StatusWriterOptions,
  signal: AbortSignal,
): StatusWriter {
  /**
   * What was written last, and over what: `ARRIVED` as soon as the cluster is seen to have it. `update`: until then, what is desired of that
   * object, which may be newer.
   */
  const written = new Map<string, { readonly status: JsonObject; readonly over: unknown; readonly update?: DesiredStatus }>();
  const restored = driftBackoff(() => uptimeOf(clock));
  const details = startPace(DETAILS_PER_SECOND, clock);
  const queue = startWorkQueue<Traced>({ workers: WORKERS, retry: RETRY, isBulk, work, clock, random }, signal);

  function isBulk({ update, isDetail }: Traced): boolean {
    return isDetail || bulk.has(kindKeyOf(update.ref));
  }

  function liveOf(ref: ResourceRef): AnyResource | undefined {
    const collection = live().collections().get(kindKeyOf(ref));
    return collection?.get(ref) as AnyResource | undefined;
  }

  /** The status to write, or undefined when the cluster has it. */
  function pending(key: string, { ref, status, malformed }: DesiredStatus): { resource: AnyResource; status: JsonObject } | undefined {
    const resource = liveOf(ref);
    if (resource === undefined) return malformed === undefined ? undefined : pendingUnread(key, { ref, status }, malformed.status);
    const before = (resource["status"] ?? {}) as JsonObject;
    // The object may have changed since the status was made: what is said of the one before must not count for this one.
    const observed = status["observedGeneration"];
    const next = withTimes(status, before, clock.now(), typeof observed === "number" ? observed : resource.metadata.generation);
    const last = written.get(key);
    if (equalJson(next, before)) {
      // What both say is held once.
      if (last !== undefined && last.status !== before) written.set(key, { status: before, over: ARRIVED });
      return undefined;
    }
    // Somebody else adds to this status: what we have to say stands there already.
    if (last !== undefined && last.over === before && equalJson(withoutTimes(last.status), withoutTimes(next))) return undefined;
    return { resource, status: next };
  }

  /** Of an object that cannot be parsed only the status is known; `live`, until the watch tells of what was written over it. */
  function pendingUnread(
    key: string,
    { ref, status }: DesiredStatus,
    live: JsonObject | undefined,
  ): { resource: AnyResource; status: JsonObject } | undefined {
    const { apiVersion, kind, name, namespace } = ref;
    const last = written.get(key);
    const before = (last !== undefined && last.over === live ? last.status : live) ?? {};
    const next = withTimes(status, before, clock.now(), undefined);
    if (equalJson(next, before)) return undefined;
    return { resource: { apiVersion, kind, metadata: { name, ...(namespace === "" ? {} : { namespace }) }, status: live }, status: next };
  }

  /** Whether a status may be written now; somebody who reverts it each time is answered less and less often. */
  function isDue(key: string, { ref }: DesiredStatus, status: JsonObject): boolean {
    const last = written.get(key);
    if (last === undefined || !equalJson(withoutTimes(last.status), withoutTimes(status))) {
      restored.forget(key);
      return true;
    }
    const wasFought = restored.isInConflict(key);
    const isDue = restored.mayRestore(key);
    if (restored.isInConflict(key) && !wasFought) {
      log.warn(
        { object: formatRef(ref) },
        "its status is repeatedly changed by another writer; backing off. Cause: two management servers run without --leader-election, or two " +
          "agents run in its cluster. Stop one of them, or start the servers with --leader-election",
      );
    }
    return isDue;
  }

  function forget(key: string): void {
    written.delete(key);
    restored.forget(key);
  }

  async function work(key: string, { update, traces, isDetail }: Traced): Promise<WorkOutcome> {
    if (isDetail && pending(key, update) !== undefined) await details.turn(signal).catch(() => undefined);
    if (signal.aborted || !mayWrite()) return "done";
    const todo = pending(key, update);
    if (todo === undefined) {
      if (liveOf(update.ref) === undefined && update.malformed === undefined) forget(key);
      return "done";
    }
    if (!isDue(key, update, todo.status)) return "again";
    const { name, namespace, resourceVersion } = todo.resource.metadata;
    // Of that very version: a write that was long under way must not undo what another replica has said since.
    const metadata = {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
    };
    const body = { apiVersion: todo.resource.apiVersion, kind: todo.resource.kind, metadata, status: todo.status };
    try {
      await cluster.applyStatus(body, { fieldManager: FIELD_MANAGER, force: true }, signal);
      meter.add("gloo_mesh_statuses_written_total", { gvk: gvkOf(update.ref) });
      if (traces.length > 0) log.debug({ object: formatRef(update.ref), traces }, "status written");
      written.set(key, { status: todo.status, over: todo.resource["status"], update });
      return "done";
    } catch (error) {
      if (signal.aborted) return "done";
      if (!(error instanceof ClusterError)) throw error;
      if (error.code === "NotFound") {
        forget(key);
        return "done";
      }
      // Changed a moment ago: the watch will tell.
      if (error.code === "Conflict" || !mayWrite()) return "again";
      log.warn({ object: formatRef(update.ref) }, `cannot write its status: ${messageOf(error)}; retrying`);
      const { retryAfterMs } = error.details;
      return retryAfterMs === undefined ? "again" : { againAfterMs: retryAfterMs };
    }
  }

  return {
    write(updates, traces = []) {
      if (!mayWrite()) return;
      for (const update of updates) {
        const key = intern(resourceKeyOf(update.ref));
        const todo = pending(key, update);
        const last = written.get(key);
        if (last?.update !== undefined) written.set(key, { ...last, update });
        if (todo === undefined) queue.delete(key);
        else queue.set(key, { update, traces, isDetail: isDetail(todo.status, (todo.resource["status"] ?? {}) as JsonObject) });
      }
    },
    listed(kindKey) {
      for (const [key, { status, update }] of written) {
        if (update === undefined || kindKeyOf(update.ref) !== kindKey) continue;
        written.set(key, { status, over: ARRIVED });
        if (!queue.has(key)) queue.set(key, { update, traces: [], isDetail: false });
      }
    },
    get sizes() {
      return queue.sizes;
    },
    ended: queue.ended,
  };
}

// Nothing that stands anywhere.
const ARRIVED = Symbol("arrived");

const WORKERS = 4;
// Where a cluster joins, what policies list may change of all of them: that each knows its conditions comes first.
const DETAILS_PER_SECOND = 50;
// The first retry comes soon: what was changed meanwhile is seen within milliseconds.
const RETRY = { firstMs: 50, lastMs: 30_000 };

function withTimes(status: JsonObject, before: JsonObject, nowMs: number, generation: number | undefined): JsonObject {
  if (status["conditions"] === undefined) return status;
  const now = `${new Date(nowMs).toISOString().slice(0, 19)}Z`;
  const conditions = timedConditions(
    status["conditions"] as unknown as readonly Condition[],
    conditionsOf(before) as unknown as readonly TimedCondition[],
    now,
    generation,
  );
  return { ...status, conditions: conditions as unknown as JsonObject[] };
}

/** Whether two statuses differ only in what their state and conditions say nothing of: lists, and counts of them. */
function isDetail(next: JsonObject, before: JsonObject): boolean {
  const said = conditionsOf(next);
  return said.length > 0 && next["state"] === before["state"] && equalJson(said, conditionsOf(before));
}

function withoutTimes(status: JsonObject): JsonObject {
  return { ...status, conditions: conditionsOf(status).map(({ lastTransitionTime: _, ...condition }) => condition) };
}

/** The conditions of a status that anybody may have written. */
function conditionsOf({ conditions }: JsonObject): readonly JsonObject[] {
  if (!Array.isArray(conditions)) return [];
  return (conditions as readonly unknown[]).filter(
    (condition): condition is JsonObject => typeof condition === "object" && condition !== null,
  );
}
