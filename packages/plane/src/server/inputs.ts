import { type Delta, isEmpty, type Kind, kindKeyOf, refOf, resourceKeyOf, type Snapshot, snapshotOf } from "@isthmus/core";
import type { ReportFilter, ServerLinkHandler } from "@isthmus/ports";
import { type Informer, startInformer } from "../informer/informer.ts";
import type { ChangeOrigin } from "../snapshots/joinQueue.ts";
import { countObjects, type SnapshotStore, snapshotStore } from "../snapshots/snapshotStore.ts";
import type { DeliveryLog } from "./delivery.ts";
import { publishedOf } from "./lastKnownObjects.ts";
import { managementEventFilter } from "./managementEventFilter.ts";
import type { ServerEventHub } from "./serverEvents.ts";
import type { ServerOptions } from "./serverOptions.ts";
import { sharedQuota } from "./sharedQuota.ts";
import type { Telemetry } from "./telemetry.ts";

/** What the server knows of all clusters: the management cluster by its own watches, workload clusters by what their agents report. */
export interface ServerInputs {
  /** The management cluster. */
  readonly view: Informer;
  /** The workload clusters. */
  readonly store: SnapshotStore;
  /** What is accepted of an agent's report. */
  readonly reportFilter: ReportFilter;
  /** Takes in what agents report. */
  readonly handler: ServerLinkHandler;
  /** Whether a KubernetesCluster of this name exists in the management namespace. */
  isRegistered(clusterName: string): boolean;
}

type InputSettings = Pick<
  ServerOptions,
  | "cluster"
  | "kinds"
  | "namespace"
  | "discoveryOwner"
  | "translationView"
  | "memory"
  | "lastKnownRequests"
  | "agentQuota"
  | "heapBytes"
  | "sharing"
>;

/** What the inputs of a server are built from. */
export interface ServerInputsOptions extends InputSettings, Pick<ServerOptions, "ownUid" | "clock" | "random" | "log"> {
  readonly delivery: DeliveryLog;
  readonly telemetry: Telemetry;
  readonly events: ServerEventHub;
}

/** Watches the management cluster, and emits `inputChanged` for each change that translation reads, wherever it comes from. */
export function startServerInputs(options: ServerInputsOptions, signal: AbortSignal): ServerInputs {
  const { cluster, kinds, namespace, discoveryOwner, translationView, memory, clock, random, log, delivery, telemetry, events } = options;
  const hasStore = options.sharing !== undefined;
  const untranslated = managementEventFilter({ discovery: kinds.discovery, discoveryOwner, translationView, memory });

  function inputChanged(delta: Delta, origin: ChangeOrigin): void {
    telemetry.merged(delta);
    events.emit("inputChanged", delta, origin);
  }

  const changed = (delta: Delta) => events.emit("managementChanged", delta);
  const namespaceOf = (kind: Kind) => (kinds.own.includes(kind) ? namespace : undefined);
  const { management, keepsLastGood } = kinds;
  const listed = (kindKey: string) => events.emit("managementListed", kindKey);
  const view = startInformer({ cluster, kinds: management, namespaceOf, clock, random, log, keepsLastGood, changed, listed }, signal);

  function isRegistered(clusterName: string): boolean {
    return view.snapshot.of(kinds.registration).get({ name: clusterName, namespace, clusterName: "" }) !== undefined;
  }

  /** What published statuses say of the policies of a cluster: a restart without a store finds their ages there. */
  function repeated(clusterName: string): Snapshot {
    const published = publishedOf(view.snapshot, kinds.discovery.map(kindKeyOf), clusterName);
    const requests = published.flatMap(options.lastKnownRequests).filter(({ metadata }) => metadata.clusterName === clusterName);
    return snapshotOf([...new Map(requests.map((request) => [resourceKeyOf(refOf(request)), request])).values()]);
  }

  const store: SnapshotStore = snapshotStore({
    kindOf: kinds.kindOf,
    isReported: kinds.isReported,
    ages: { kinds: kinds.aged, now: () => clock.now(), areKept: hasStore },
    isReadElsewhere: (name, kindKey) =>
      options.ownUid !== undefined && store.clusters.get(name)?.agent?.clusterUid === options.ownUid && kinds.isContributed(kindKey),
    // What is repeated of a cluster's objects has been read by then.
    isRegistered: (name) => (hasStore || view.isComplete) && isRegistered(name),
    repeated,
    log,
    changed: inputChanged,
  });

  events.on("clusterRemoved", store.forget);

  /** What was known of each kind when something last changed. */
  let known = "";
  let wasComplete = false;
  events.on("managementChanged", (delta) => {
    const untold = untranslated.of(delta);
    const nowKnown = [...view.kinds.values()].join();
    // That more is known is news by itself, even if the last kind to be read holds nothing but what we wrote.
    if (nowKnown !== known || isEmpty(delta) || !isEmpty(untold)) inputChanged(untold, { clusterName: "" });
    known = nowKnown;
    if (wasComplete || !view.isComplete) return;
    wasComplete = true;
    // Agents may have been here before all of it was read.
    for (const { metadata } of view.snapshot.of(kinds.registration)) store.registered(metadata.name);
  });

  const shared = sharedQuota();
  const { heapBytes = USUAL_HEAP_BYTES } = options;
  events.on("clusterRemoved", shared.forget);
  const reportFilter: ReportFilter = {
    isAccepted: kinds.isReported,
    quota: () => shared.of(options.agentQuota(view.snapshot, heapBytes), heapBytes * SHARE_OF_AGENTS),
    heldObjects: (name) => countObjects(store.snapshotIn(name)),
    isHeld: (ref) => store.snapshotIn(ref.clusterName).collections().get(kindKeyOf(ref))?.get(ref) !== undefined,
  };
  const handler: ServerLinkHandler = {
    connected(name, agent) {
      store.connected(name, agent);
      events.emit("agentConnected", name);
      events.emit("clusterChanged", name);
    },
    observed: (name, observation) => telemetry.observed(name, observation, () => store.observed(name, observation)),
    synced(name, complete) {
      store.synced(name, complete);
      events.emit("clusterChanged", name);
    },
    acknowledged(name, acknowledgement, desired) {
      delivery.acknowledged(name, acknowledgement, desired);
      telemetry.acknowledged(name, acknowledgement, desired);
      events.emit("deliveryAcknowledged", name, acknowledgement, desired);
      events.emit("statusesDue");
    },
    disconnected(name) {
      store.disconnected(name);
      events.emit("clusterChanged", name);
    },
    booked: shared.booked,
    exceeded(name, excess) {
      store.exceeded(name, excess);
      events.emit("clusterChanged", name);
    },
  };
  return { view, store, reportFilter, handler, isRegistered };
}

// Of the heap of the server: objects take at least as much of it as their JSON has bytes, and what follows from them the rest.
const SHARE_OF_AGENTS = 0.5;
// With the chart's memory limit: for servers that are no process of their own, as in a browser.
const USUAL_HEAP_BYTES = 1536 * 1024 ** 2;
