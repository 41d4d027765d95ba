import { type AnyResource, type Clock, type Kind, kindKeyOf, type Resource, type ResourceRef, refOf } from "@isthmus/core";
import type { Cluster } from "@isthmus/ports";
import { withoutAbsent } from "./apply/json.ts";
import { evictUnlessForbidden } from "./evictions.ts";
import { type Call, type Fault, FaultPlan, unreachable, type Verb } from "./faults.ts";
import { simulatedKindOf } from "./kinds.ts";
import { getObject, listObjects, ParsedObjects } from "./reads.ts";
import { type ClusterImage, SimulatedState } from "./state.ts";
import { watchObjects } from "./watch.ts";
import { applyObject, applyObjectStatus, createObject, deleteObject, updateObject, updateObjectStatus } from "./writes.ts";

export interface SimulatedClusterOptions {
  /** "" for the management cluster. */
  readonly name: string;
  readonly clock: Clock;
  /** Kinds that are served beside Kubernetes' own, or whose objects `kind.parse` checks on write. */
  readonly kinds?: readonly Kind[];
  /** How many changes per kind a watch can go back, at least. Default: 4096. */
  readonly historyLimit?: number;
  /** Default: 60 s, as API servers do. */
  readonly bookmarkIntervalMs?: number;
  /** Tells the UIDs of two clusters of one name apart. */
  readonly seed?: string;
  /** What the cluster begins with, as `SimulatedCluster.image` gave it. Default: the namespaces that every cluster has. */
  readonly image?: ClusterImage;
}

/** A Kubernetes cluster's API server in memory. Nothing runs in it but what `startControllers` is asked to run. */
export interface SimulatedCluster extends Cluster {
  /** Serves a kind as if its CRD had just been installed; objects of an earlier time are there again. */
  serve(kind: Kind): void;
  /** The kind vanishes from the API server, as when an aggregated API breaks: watches end, and nobody learns of objects that go. */
  unserve(kind: { readonly apiVersion: string; readonly kind: string }): void;
  /** Puts objects unchecked, with their status, owned by no field manager. They get what an API server fills in. */
  load(resources: Iterable<Resource>): void;
  /** Every object that can be reached, in order of kind, namespace and name. */
  objects(): readonly AnyResource[];
  /** One of them as it is now, whichever of its versions the ref names. */
  object(ref: Omit<ResourceRef, "clusterName">): AnyResource | undefined;
  /** All that the cluster holds now, for others to begin with. */
  image(): ClusterImage;
  /** The latest revision of the cluster, a `resourceVersion` as a number. */
  readonly revision: number;
  readonly faults: Faults;
}

/** What tests do to the way between a cluster and its clients. */
export interface Faults {
  /** Fails calls to come. */
  fail(fault: Fault): void;
  /** Ends watches without an error, of all kinds or of one. */
  cutWatches(kind?: { readonly apiVersion: string; readonly kind: string }): void;
  /** Forgets the changes of the past: watches can begin only at the latest version. */
  compact(): void;
  /** The next `times` lists show the state of an earlier revision, as a watch cache that lags. What is forgotten they show as it is now. */
  staleLists(revision: number, times: number): void;
  /**
   * The cluster holds what it held at an earlier time, as after its etcd was restored from a backup; all watches end, and lists that
   * were to be stale show it. `bump` is added to the revision of then, as etcd's tool does it on request; without it revisions come again.
   */
  restore(image: ClusterImage, bump: number): void;
  /** Sends a bookmark to every watcher. */
  bookmark(): void;
  /** Every answer and every event takes so long. */
  delay(ms: number): void;
  /** While false, watches are broken off and every call rejects with `Unavailable`. */
  reachable(isReachable: boolean): void;
  readonly isReachable: boolean;
  /** Back to normal. */
  heal(): void;
}

/**
 * An API server that begins with `image`, or with the namespaces that every cluster has; no watch can begin at an earlier version than
 * that. Everything is in memory, and bookmarks are sent only while something watches.
 */
export function simulatedCluster(options: SimulatedClusterOptions): SimulatedCluster {
  const { name, clock, kinds = [], historyLimit = 4096, bookmarkIntervalMs = 60_000, seed = "", image } = options;
  const state = new SimulatedState({ name, clock, kinds, historyLimit, seed, image });
  const plan = new FaultPlan();
  let watches = 0;
  let bookmarks = new AbortController();

  function answer<T>(verb: Verb, ref: Call["ref"], signal: AbortSignal | undefined, work: () => T): Promise<T> {
    return plan.answer({ verb, ref }, { clock, signal, work });
  }

  function bookmark(): void {
    for (const { store } of state.all()) {
      for (const watcher of store.watchers) {
        watcher.bookmark = true;
        watcher.wake();
      }
    }
  }

  async function sendBookmarks(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      // Rejects only when there is no watch left.
      await clock.sleep(bookmarkIntervalMs, signal).catch(() => undefined);
      if (!signal.aborted) bookmark();
    }
  }

  if (image === undefined)
    load([...SYSTEM_NAMESPACES].map((namespace) => ({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } })));
  for (const { store } of state.all()) store.compact(state.revision);

  function load(resources: Iterable<Resource>): void {
    const byKind = new Map<string, AnyResource[]>();
    for (const resource of resources) {
      const key = kindKeyOf(resource);
      const list = byKind.get(key) ?? [];
      list.push(withoutAbsent(resource) as AnyResource);
      byKind.set(key, list);
    }
    for (const [, list] of byKind) state.load(state.served(list[0] as AnyResource), list);
  }

  const cluster: SimulatedCluster = {
    name,
    servedKinds: (signal) => answer("servedKinds", NOTHING, signal, () => state.servedKinds()),
    get: (kind, ref, signal) => answer("get", refWithin(kind, ref), signal, () => getObject(state, kind, ref)),
    list: (kind, list = {}, signal) =>
      answer("list", refWithin(kind), signal, () => listObjects(state, objects, { ...list, kind, asOf: plan.takeOld() })),
    async *watch(kind, resourceVersion, list, signal) {
      await answer("watch", refWithin(kind), signal, () => undefined);
      watches++;
      if (watches === 1) {
        bookmarks = new AbortController();
        void sendBookmarks(bookmarks.signal);
      }
      try {
        yield* watchObjects(state, objects, { kind, resourceVersion, options: list, delayMs: () => plan.delayMs }, signal);
      } finally {
        watches--;
        if (watches === 0) bookmarks.abort();
      }
    },
    apply: (resource, how, signal) => answer("apply", refOf(resource), signal, () => applyObject(state, resource, how)),
    applyStatus: (resource, how, signal) => answer("applyStatus", refOf(resource), signal, () => applyObjectStatus(state, resource, how)),
    create: (resource, signal) => answer("create", refOf(resource), signal, () => createObject(state, resource)),
    update: (resource, signal) => answer("update", refOf(resource), signal, () => updateObject(state, resource)),
    updateStatus: (resource, signal) => answer("updateStatus", refOf(resource), signal, () => updateObjectStatus(state, resource)),
    delete: (ref, preconditions = {}, signal) => answer("delete", ref, signal, () => deleteObject(state, ref, preconditions)),
    evict: (pod, preconditions = {}, signal) => answer("evict", pod, signal, () => evictUnlessForbidden(state, pod, preconditions)),

    serve: (kind) => state.serve(simulatedKindOf(kind)),
    unserve: (kind) => state.unserve(kindKeyOf(kind)),
    load,
    objects: () => state.objects(),
    object: (ref) => state.find(ref),
    image: () => state.image(),
    get revision() {
      return state.revision;
    },
    faults: {
      fail: (fault) => plan.add(fault),
      cutWatches(kind) {
        for (const { kindKey, store } of state.all()) if (kind === undefined || kindKey === kindKeyOf(kind)) store.end();
      },
      compact() {
        for (const { store } of state.all()) store.compact(state.revision);
      },
      staleLists: (revision, times) => plan.showOld(revision, times),
      restore(before, bump) {
        // An API server that has started again has seen nothing later than its etcd holds, and so nothing stale either.
        plan.showOld(0, 0);
        state.restore(before, bump);
      },
      bookmark,
      delay(ms) {
        plan.delayMs = ms;
      },
      reachable(isReachable) {
        plan.isReachable = isReachable;
        if (!isReachable) for (const { store } of state.all()) store.end(unreachable());
      },
      get isReachable() {
        return plan.isReachable;
      },
      heal: () => plan.clear(),
    },
  };
  states.set(cluster, state);
  return cluster;
}

const states = new WeakMap<Cluster, SimulatedState>();

/** What a simulated cluster holds, for those who serve it otherwise than through the port. Throws Error for any other cluster. */
export function stateOf(cluster: SimulatedCluster): SimulatedState {
  const state = states.get(cluster);
  if (state === undefined) throw new Error("the cluster is not a simulated one");
  return state;
}

/** Of all clusters: what one image holds, many of them may begin with. */
const objects = new ParsedObjects();
/** What a call is about. Only that is copied of a kind, which has its schema and its documentation too. */
function refWithin(
  { apiVersion, kind }: Kind,
  { namespace, name }: { readonly namespace: string; readonly name: string } = NOTHING,
): Call["ref"] {
  return { apiVersion, kind, namespace, name };
}

const NOTHING = { apiVersion: "", kind: "", namespace: "", name: "" };
/** Those that every cluster has from its start. */
const SYSTEM_NAMESPACES = ["default", "kube-node-lease", "kube-public", "kube-system"];
