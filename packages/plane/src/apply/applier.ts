import {
  type Clock,
  type Delta,
  formatRef,
  type Kind,
  kindKeyOf,
  type Log,
  type Meter,
  messageOf,
  noMeter,
  type Owner,
  ownershipConflict,
  type Resource,
  type ResourceRef,
  refOf,
  resourceKeyOf,
  type Snapshot,
  uptimeOf,
} from "@isthmus/core";
import { type Cluster, ClusterError, type DeleteRequest, type DeletionEvidence, isPendingCode, type Rejection } from "@isthmus/ports";
import { servedVersions } from "../informer/servedVersions.ts";
import { startWorkQueue, type WorkOutcome, type WorkQueueSizes } from "../runtime/workQueue.ts";
import type { DeletionLog } from "./deletionLog.ts";
import { deletionReason } from "./deletionReason.ts";
import { driftConflictMessage, driftConflicts } from "./driftConflicts.ts";
import { alreadyApplied, asAppliedByUs, bearsLabelOf, FIELD_MANAGER, isWrittenByUs, shareBody } from "./ownership.ts";
import { pendingDelete, pendingPut } from "./pendingWrite.ts";
import { writeOrder } from "./writeOrder.ts";

/**
 * Makes a cluster hold what is desired of it, object by object, for ever: applies what differs, removes what must go,
 * restores what somebody changed, and tries again what failed. One object never holds up another.
 */
export interface Applier {
  /** Wants an object. Nothing is written when the cluster already says so. `key`: its `resourceKeyOf`, where the caller holds it. */
  put(resource: Resource, key?: string): void;
  /** Wants an object gone. Refused without evidence, and for an object that does not bear our label or that we never wrote. */
  remove(removal: DeleteRequest): void;
  /**
   * Wants nothing but `keys` (`resourceKeyOf`), and gives what else bears our label, or was written and has not been seen yet, and is not
   * being removed already, of `kinds` (`kindKeyOf`; default: all). To be called with a complete set only.
   */
  surplus(keys: ReadonlySet<string>, kinds?: ReadonlySet<string>): readonly ResourceRef[];
  /** Wants an object gone that a complete set does not hold, under the same conditions as `remove`. */
  prune(ref: ResourceRef, reason: string): void;
  /** Wants nothing any more, neither objects nor their deletion: what stands in the cluster stays as it is. */
  releaseAll(): void;
  /** Wants an object no longer, and leaves it as it is. */
  release(ref: ResourceRef): void;
  /** Whether an object was written, as far as the API server said, and has not been seen since: it may stand though `live` has it not. */
  mayStand(ref: ResourceRef): boolean;
  /** All that is desired here, by `resourceKeyOf`. */
  readonly desired: ReadonlyMap<string, Resource>;
  /** Tells what changed in the cluster, so that drift is reverted. */
  observed(delta: Delta): void;
  /**
   * All objects of a kind (`kindKeyOf`) were listed, and `live` has them: what was written while nobody watched, and undone before it was
   * seen, has changed nothing in what is known, and is written again. Gives what was deleted and is there, for the same reason, or as the
   * list is older than the delete: no change of the cluster tells of it.
   */
  listed(kindKey: string): readonly Resource[];
  /** A kind (`kindKeyOf`) is there again: what waits for it is tried at once. */
  servedAgain(kindKey: string): void;
  /** Something else may be written than before: all that is desired is looked at once more. */
  reconsider(): void;
  readonly sizes: WorkQueueSizes;
  /** What is refused or failing now, by `resourceKeyOf`. */
  readonly rejections: ReadonlyMap<string, Rejection>;
  /** Whether nothing is left to be tried for the first time. */
  readonly isIdle: boolean;
  readonly ended: Promise<void>;
}

export interface ApplierOptions {
  readonly cluster: Cluster;
  /** The kinds that may be written; objects of other kinds are rejected. */
  readonly kinds: readonly Kind[];
  /** Kinds (`kindKeyOf`) that are written when nothing else is to be. Default: none. */
  readonly bulk?: ReadonlySet<string>;
  /** The kinds to whose objects those of a kind refer, per `kindKeyOf`: they are written before it, and deleted after it. Default: none. */
  readonly refersTo?: ReadonlyMap<string, readonly Kind[]>;
  /** Whose objects are ours. */
  readonly owners: readonly Owner[];
  /** Whether an object may be written at all; of what may not be, the rejections tell what would become of it. Default: any. */
  readonly mayWrite?: (ref: ResourceRef) => boolean;
  /** Whether it is not known yet what is desired of an object: it stays as it is, and is looked at again. Default: of none. */
  readonly isUndecided?: (resource: Resource) => boolean;
  /** The cluster as it is known now. */
  readonly live: () => Snapshot;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  readonly meter?: Meter;
  /** Keeps why objects went. Default: nobody does, beside the log. */
  readonly removals?: DeletionLog;
  /** Called when `rejections` or `isIdle` changed. */
  readonly onChange: () => void;
}

interface Unseen {
  readonly ref: ResourceRef;
  /** A list did not have it, and may have begun before the write; another one did not. */
  readonly isMissed: boolean;
}

type Task = { readonly put: Resource } | { readonly remove: ResourceRef; readonly reason: string; readonly evidence?: DeletionEvidence };

/**
 * Starts without a desired object. Eight workers write until `signal` is aborted; a write that fails is tried again after about 0.5 s, and
 * then with pauses that grow to a minute.
 */
export function startApplier(options: ApplierOptions, signal: AbortSignal): Applier {
  const { bulk = new Set<string>(), mayWrite = () => true, cluster, owners, live, clock, random, log, meter = noMeter } = options;
  const { onChange, removals, isUndecided = () => false } = options;
  const order = writeOrder(options.refersTo ?? new Map());
  const kinds = new Map(options.kinds.map((kind) => [kindKeyOf(kind), kind]));
  const versions = servedVersions(cluster);
  const wanted = new Map<string, Resource>();
  const removing = new Set<string>();
  /** What was written, or may have been, and has not been seen since as it was desired; also of what is desired no longer. By `resourceKeyOf`. */
  const unseen = new Map<string, Unseen>();
  /** What was deleted, and has not been seen to be gone, by `resourceKeyOf`. */
  const unseenDeletes = new Map<string, ResourceRef>();
  const rejections = new Map<string, Rejection>();
  const struggles = driftConflicts(() => uptimeOf(clock));
  const queue = startWorkQueue<Task>({ workers: WORKERS, retry: RETRY, isBulk, order, work, idle: onChange, clock, random }, signal);

  function isBulk(task: Task): boolean {
    return bulk.has(kindKeyOf("put" in task ? task.put : task.remove));
  }

  async function work(key: string, task: Task): Promise<WorkOutcome> {
    // Overtaken while it waited to be tried again.
    if ("put" in task ? wanted.get(key) !== task.put : wanted.has(key) || !removing.has(key)) return "done";
    const ref = "put" in task ? refOf(task.put) : task.remove;
    if ("put" in task && isUndecided(task.put)) return { againAfterMs: UNDECIDED_MS };
    const kind = kinds.get(kindKeyOf(ref));
    const refusal: Refusal | undefined =
      kind === undefined
        ? ({ ref, code: "Refused", message: `${formatRef(ref)}: objects of this kind are not written to this cluster` } as const)
        : !mayWrite(ref)
          ? await pending(kind, task)
          : "put" in task
            ? ((await applied(kind, key, task.put)) ?? (await fight(kind, key, task.put)))
            : await removed(kind, task);
    if (refusal === undefined || signal.aborted) {
      if ("remove" in task) {
        removing.delete(key);
        struggles.forget(key);
      }
      rejections.delete(key);
      return "done";
    }
    const { retryAfterMs, ...rejection } = refusal;
    // A put is looked at again as soon as something changes: there is nothing to be tried.
    const isCompared = "put" in task && isPendingCode(rejection.code);
    if (!isPendingCode(rejection.code) && rejections.get(key)?.message !== rejection.message) {
      log.warn({ cluster: cluster.name, object: formatRef(ref), code: rejection.code }, rejection.message);
      meter.add("resource_write_fails_total", { type: kindKeyOf(ref), action: "put" in task ? "upsert" : "delete", code: rejection.code });
    }
    rejections.set(key, rejection);
    if (isCompared) return "done";
    return retryAfterMs === undefined ? "again" : { againAfterMs: retryAfterMs };
  }

  /** What would become of an object that may not be written. */
  async function pending(kind: Kind, task: Task): Promise<Refusal | undefined> {
    if ("remove" in task) return pendingDelete(task.remove, task.reason);
    const ref = refOf(task.put);
    try {
      await versions.asServed(kind, task.put, signal);
      return await pendingPut(task.put, { live: live().of(kind).get(ref), owners, read: () => cluster.get(kind, ref, signal) });
    } catch (error) {
      return signal.aborted ? undefined : rejectionOf(ref, error);
    }
  }

  async function applied(kind: Kind, key: string, resource: Resource): Promise<Refusal | undefined> {
    const ref = refOf(resource);
    if (isAsWanted(live().of(kind).get(ref), resource)) {
      unseen.delete(key);
      struggles.holds(key, resource);
      return undefined;
    }
    try {
      return await written(kind, key, resource);
    } catch (error) {
      return signal.aborted ? undefined : rejectionOf(ref, error);
    }
  }

  /** Whether the cluster has an object as it is desired, as far as is known. */
  function isAsWanted(live: Resource | undefined, wanted: Resource): boolean {
    if (live === undefined || !bearsLabelOf(live, owners) || !alreadyApplied(live, wanted)) return false;
    shareBody(live, wanted);
    return true;
  }

  async function written(kind: Kind, key: string, resource: Resource, tries = 1): Promise<Refusal | undefined> {
    const ref = refOf(resource);
    // Read afresh: what is not ours must not become ours because a watch was a moment late.
    const existing = await cluster.get(kind, ref, signal);
    const conflict = existing && ownershipConflict(existing, { desired: resource, owners });
    if (conflict !== undefined) return { ref, ...conflict };
    const served = await versions.asServed(kind, resource, signal);
    // It may be desired no longer, or otherwise, since the API server was asked.
    if (wanted.get(key) !== resource) return undefined;
    struggles.writing(key, resource, existing);
    const wasUnseen = unseen.has(key);
    unseen.set(key, { ref, isMissed: false });
    try {
      // An apply would join an object that somebody else makes in this moment, where it contradicts ours in nothing.
      if (existing === undefined) await cluster.create(served, signal);
      else {
        const made = asAppliedByUs(existing);
        const latest = made === undefined ? existing : await cluster.update(made, signal);
        // What bears our label is ours to restore, no matter who edited it since; but only as it was when it did.
        await cluster.apply(atVersionOf(latest, served), { fieldManager: FIELD_MANAGER, force: true }, signal);
      }
    } catch (error) {
      if (!wasUnseen && isRefusal(error)) unseen.delete(key);
      // Its CRD may serve another version by now, or none.
      if (error instanceof ClusterError && error.code === "Unserved") versions.forget();
      const isOutdated = error instanceof ClusterError && error.code === (existing === undefined ? "AlreadyExists" : "Conflict");
      if (!isOutdated || tries >= MAX_READS) throw error;
      return written(kind, key, resource, tries + 1);
    }
    meter.add("resources_synced_total", { type: kindKeyOf(ref), result: existing === undefined ? "created" : "updated" });
    struggles.holds(key, resource);
    return undefined;
  }

  /** What is to be said of an object that is as it ought to be, for the moment. */
  async function fight(kind: Kind, key: string, resource: Resource): Promise<Refusal | undefined> {
    const ref = refOf(resource);
    if (!struggles.isOver(key)) return undefined;
    try {
      return driftConflictMessage(ref, await cluster.get(kind, ref, signal), struggles.fieldsOf(key));
    } catch (error) {
      return signal.aborted ? undefined : rejectionOf(ref, error);
    }
  }

  async function removed(kind: Kind, task: Extract<Task, { readonly remove: ResourceRef }>): Promise<Refusal | undefined> {
    const { remove: ref, reason } = task;
    try {
      const existing = await cluster.get(kind, ref, signal);
      if (existing === undefined) return gone(kind, ref);
      if (!bearsLabelOf(existing, owners) || !isWrittenByUs(existing)) {
        log.warn(
          { cluster: cluster.name, object: formatRef(ref), reason },
          `${formatRef(ref)} is kept: it does not have our owner label and field manager`,
        );
        removals?.record({ step: "Left", ...recordOf(task) });
        return undefined;
      }
      const { uid, resourceVersion } = existing.metadata;
      await cluster.delete(
        refOf(existing),
        { ...(uid === undefined ? {} : { uid }), ...(resourceVersion === undefined ? {} : { resourceVersion }) },
        signal,
      );
      meter.add("resources_deleted_total", { type: kindKeyOf(ref) });
      removals?.record({ step: "Removed", ...recordOf(task) });
      log.info({ cluster: cluster.name, object: formatRef(ref), reason }, `deleted ${formatRef(ref)}: ${reason}`);
      return gone(kind, ref);
    } catch (error) {
      if (signal.aborted) return undefined;
      return error instanceof ClusterError && error.code === "NotFound" ? gone(kind, ref) : rejectionOf(ref, error);
    }
  }

  function gone(kind: Kind, ref: ResourceRef): undefined {
    const key = resourceKeyOf(ref);
    unseen.delete(key);
    if (!wanted.has(key) && live().of(kind).get(ref) !== undefined) unseenDeletes.set(key, ref);
    return undefined;
  }

  function drift(ref: ResourceRef, live: Resource | undefined): void {
    const key = resourceKeyOf(ref);
    const want = wanted.get(key);
    if (want === undefined && live !== undefined) unseen.delete(key);
    if (want === undefined || queue.has(key)) return;
    if (mayWrite(ref) && isAsWanted(live, want)) {
      unseen.delete(key);
      return;
    }
    // While another writer changes it, its next try comes of itself.
    if (!struggles.isOver(key)) queue.set(key, { put: want });
  }

  function release(key: string): void {
    wanted.delete(key);
    if (isPendingCode(rejections.get(key)?.code ?? "")) rejections.delete(key);
  }

  return {
    put(resource, key = resourceKeyOf(refOf(resource))) {
      wanted.set(key, resource);
      removing.delete(key);
      unseenDeletes.delete(key);
      queue.set(key, { put: resource });
    },
    remove(removal) {
      const { ref, evidence } = removal;
      const key = resourceKeyOf(ref);
      if (evidence.inputs.length === 0) {
        rejections.set(key, { ref, code: "Refused", message: `${formatRef(ref)}: a delete without a cause is refused` });
        return;
      }
      wanted.delete(key);
      removing.add(key);
      queue.set(key, { remove: ref, reason: deletionReason(evidence), evidence });
    },
    surplus(keys, of) {
      for (const key of [...wanted.keys()]) if (!keys.has(key)) release(key);
      const asked = [...kinds].filter(([kindKey]) => of === undefined || of.has(kindKey));
      const ours = asked.flatMap(([, kind]) => [...live().of(kind)].filter((resource) => bearsLabelOf(resource, owners)).map(refOf));
      const isAbsent = (ref: ResourceRef) => live().collections().get(kindKeyOf(ref))?.get(ref) === undefined;
      const written = [...unseen.values()].flatMap(({ ref }) => ((of?.has(kindKeyOf(ref)) ?? true) && isAbsent(ref) ? [ref] : []));
      return [...ours, ...written].filter((ref) => !keys.has(resourceKeyOf(ref)) && !removing.has(resourceKeyOf(ref)));
    },
    prune(ref, reason) {
      const key = resourceKeyOf(ref);
      if (wanted.has(key)) return;
      removing.add(key);
      queue.set(key, { remove: ref, reason });
    },
    releaseAll() {
      for (const all of [wanted, unseen, unseenDeletes, removing, rejections]) all.clear();
    },
    release: (ref) => release(resourceKeyOf(ref)),
    mayStand: (ref) => unseen.has(resourceKeyOf(ref)),
    desired: wanted,
    observed({ put, remove }) {
      for (const resource of put) drift(refOf(resource), resource);
      for (const ref of remove) {
        unseenDeletes.delete(resourceKeyOf(ref));
        drift(ref, undefined);
      }
    },
    listed(kindKey) {
      const kind = kinds.get(kindKey);
      if (kind === undefined) return [];
      const known = live().of(kind);
      for (const [key, { ref, isMissed }] of [...unseen]) {
        if (kindKeyOf(ref) !== kindKey) continue;
        if (wanted.has(key)) {
          // What failed is tried again of itself, as late as the API server asked for.
          if (rejections.get(key)?.code !== "Failed") drift(ref, known.get(ref));
        } else if (isMissed || known.get(ref) !== undefined) unseen.delete(key);
        else unseen.set(key, { ref, isMissed: true });
      }
      const there: Resource[] = [];
      for (const [key, ref] of unseenDeletes) {
        if (kindKeyOf(ref) !== kindKey) continue;
        const found = known.get(ref);
        if (found === undefined) unseenDeletes.delete(key);
        else there.push(found);
      }
      return there;
    },
    servedAgain(kindKey) {
      for (const [key, { ref, code }] of rejections) {
        const want = wanted.get(key);
        if (code === "Unserved" && kindKeyOf(ref) === kindKey && want !== undefined) queue.set(key, { put: want });
      }
    },
    reconsider() {
      for (const [key, want] of wanted) queue.set(key, { put: want });
    },
    rejections,
    get isIdle() {
      return queue.isIdle;
    },
    get sizes() {
      return queue.sizes;
    },
    ended: queue.ended,
  };
}

// The API server answers writes in a few milliseconds; eight at a time keep it busy without crowding out other clients.
const WORKERS = 8;
// What is ordered puts the object again.
const UNDECIDED_MS = 1_000;
const RETRY = { firstMs: 500, lastMs: 60_000 };
// Somebody else who writes the same object at the same time is seldom that fast twice.
const MAX_READS = 3;

/** `wanted`, to be written only while the object is as it was read. */
function atVersionOf({ metadata: { resourceVersion } }: Resource, wanted: Resource): Resource {
  return resourceVersion === undefined ? wanted : { ...wanted, metadata: { ...wanted.metadata, resourceVersion } };
}

function recordOf({ remove: object, reason, evidence }: Extract<Task, { readonly remove: ResourceRef }>) {
  return { object, reason, ...(evidence === undefined ? {} : { evidence }) };
}

/** A rejection, and how long the API server asked to wait before the next try. */
interface Refusal extends Rejection {
  readonly retryAfterMs?: number;
}

/** Whether the API server has said that nothing was changed: all else may have been. */
function isRefusal(error: unknown): boolean {
  return error instanceof ClusterError && error.code !== "Unavailable";
}

function rejectionOf(ref: ResourceRef, error: unknown): Refusal {
  if (!(error instanceof ClusterError)) throw error;
  const message = `${formatRef(ref)}: ${messageOf(error)}`;
  switch (error.code) {
    case "Conflict":
    case "Invalid":
    case "Unserved":
      return { ref, code: error.code, message };
    default: {
      const { retryAfterMs } = error.details;
      return { ref, code: "Failed", message, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
    }
  }
}
