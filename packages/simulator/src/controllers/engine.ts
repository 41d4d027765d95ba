import {
  type Clock,
  type Delta,
  emptySnapshot,
  formatRef,
  type Kind,
  kindKeyOf,
  type Log,
  type Resource,
  type ResourceRef,
  refOf,
  resourceKeyOf,
} from "@isthmus/core";
import { type ReflectorEvent, runReflector, startWorkQueue } from "@isthmus/plane";
import { type Cluster, ClusterError } from "@isthmus/ports";
import type { Context, SimulatedController } from "./controller.ts";

export interface EngineOptions {
  readonly cluster: Cluster;
  readonly controllers: readonly SimulatedController[];
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
}

interface Pass {
  readonly controller: SimulatedController;
  readonly ref: ResourceRef;
}

const RETRY = { firstMs: 50, lastMs: 10_000 };

/**
 * Follows all kinds that the controllers read, and runs their passes one after the other: none begins before every kind has
 * been listed, and each sees what the earlier ones wrote. Resolves when aborted.
 */
export async function runControllers(options: EngineOptions, signal: AbortSignal): Promise<void> {
  const { cluster, controllers, clock, random, log } = options;
  const kinds = new Map<string, Kind>(controllers.flatMap(({ reads }) => reads.map((kind) => [kindKeyOf(kind), kind])));
  const unread = new Set(kinds.keys());
  let snapshot = emptySnapshot();
  const early = new Map<string, Pass>();
  let enqueue = (key: string, pass: Pass): void => void early.set(key, pass);

  const context: Context = {
    cluster: echoing(cluster, (delta) => changed(delta)),
    get snapshot() {
      return snapshot;
    },
    clock,
    random,
    log,
  };

  function changed(delta: Delta): void {
    const before = snapshot;
    snapshot = snapshot.apply(delta);
    const refs = [...delta.put.map(refOf), ...delta.remove];
    for (const ref of refs) {
      const kindKey = kindKeyOf(ref);
      const kind = kinds.get(kindKey);
      if (kind === undefined) continue;
      const change = { before: before.of(kind).get(ref), after: snapshot.of(kind).get(ref) };
      if (change.before === change.after) continue;
      for (const controller of controllers) {
        if (!controller.reads.some((read) => kindKeyOf(read) === kindKey)) continue;
        for (const affected of controller.affected(change, snapshot)) {
          enqueue(`${controller.name} ${resourceKeyOf(affected)}`, { controller, ref: affected });
        }
      }
    }
  }

  function on(kind: Kind, event: ReflectorEvent<Resource>): void {
    if (event.type === "unavailable") log.debug({ cluster: cluster.name, kind: kind.kind }, event.message);
    else if (event.type === "put") changed({ put: isKnown(event.resource) ? [] : [event.resource], remove: [] });
    else if (event.type === "removed") changed({ put: [], remove: [event.ref] });
    else if (event.type === "listed") changed({ put: event.items.filter((item) => !isKnown(item)), remove: gone(kind, event) });
    else if (event.type === "malformed") log.warn({ cluster: cluster.name }, event.malformed.message);
    if (event.type === "unavailable" || !unread.delete(kindKeyOf(kind)) || unread.size > 0) return;
    start();
  }

  /** Whether we hold this very version or a newer one: our own writes are there before their events. */
  function isKnown(resource: Resource): boolean {
    const held = kinds.get(kindKeyOf(resource));
    const known = held === undefined ? undefined : snapshot.of(held).get(refOf(resource))?.metadata;
    return known?.uid === resource.metadata.uid && Number(resource.metadata.resourceVersion) <= Number(known?.resourceVersion);
  }

  function gone(kind: Kind, { items, malformed }: Extract<ReflectorEvent<Resource>, { readonly type: "listed" }>): readonly ResourceRef[] {
    const present = new Set([...items.map(refOf), ...malformed.map(({ ref }) => ref)].map(resourceKeyOf));
    return [...snapshot.of(kind)].map(refOf).filter((ref) => !present.has(resourceKeyOf(ref)));
  }

  const running: Promise<void>[] = [];
  function start(): void {
    // One at a time: a pass relies on what the one before it wrote.
    const queue = startWorkQueue<Pass>({ workers: 1, retry: RETRY, work: (_, pass) => work(pass), clock, random }, signal);
    running.push(queue.ended);
    enqueue = (key, pass) => queue.set(key, pass);
    for (const [key, pass] of early) queue.set(key, pass);
    early.clear();
  }

  async function work({ controller, ref }: Pass): Promise<"done" | "again"> {
    try {
      await controller.reconcile(ref, context, signal);
      return "done";
    } catch (error) {
      if (signal.aborted) return "done";
      if (!(error instanceof ClusterError)) throw error;
      const level = error.code === "Invalid" || error.code === "Forbidden" ? "warn" : "debug";
      log[level]({ cluster: cluster.name, controller: controller.name, object: formatRef(ref) }, error.message);
      return "again";
    }
  }

  await Promise.all(
    [...kinds.values()].map((kind) => runReflector({ cluster, kind, clock, random, emit: (event) => on(kind, event) }, signal)),
  );
  await Promise.all(running);
}

/** The cluster, telling of each successful write. */
function echoing(cluster: Cluster, wrote: (delta: Delta) => void): Cluster {
  async function put<R extends Resource>(write: Promise<R>): Promise<R> {
    const resource = await write;
    wrote({ put: [resource], remove: [] });
    return resource;
  }
  return {
    ...cluster,
    create: (resource, signal) => put(cluster.create(resource, signal)),
    update: (resource, signal) => put(cluster.update(resource, signal)),
    updateStatus: (resource, signal) => put(cluster.updateStatus(resource, signal)),
    apply: (resource, options, signal) => put(cluster.apply(resource, options, signal)),
    applyStatus: (resource, options, signal) => put(cluster.applyStatus(resource, options, signal)),
    async delete(ref, preconditions, signal) {
      await cluster.delete(ref, preconditions, signal);
      wrote({ put: [], remove: [ref] });
    },
  };
}
