import { Namespace } from "@isthmus/api";
import {
  type Clock,
  compareKeys,
  type Delta,
  emptyDelta,
  type Kind,
  kindKeyOf,
  type Log,
  type Meter,
  type Metric,
  type Owner,
  type Resource,
  type ResourceRef,
  type Snapshot,
} from "@isthmus/core";
import type { AgentLink, AgentLinkHandler, Cluster, LinkState } from "@isthmus/ports";
import type { Scope } from "@isthmus/translators";
import { startApplier } from "../apply/applier.ts";
import type { DeletionLog } from "../apply/deletionLog.ts";
import { bearsLabelOf } from "../apply/ownership.ts";
import { type StatusWriter, startStatusWriter } from "../apply/statusWriter.ts";
import type { Informer } from "../informer/informer.ts";
import { workQueueMetrics } from "../runtime/workQueueMetrics.ts";
import { startCiliumLoop } from "./cilium/ciliumLoop.ts";
import { downstream } from "./downstream.ts";
import { type InternalResources, internalResources } from "./internalResources.ts";
import { lastPods } from "./lastPods.ts";
import { type AgentLimits, isNamespaceWritten, requestCheck, scopeLimit, withinLimit } from "./limits.ts";
import { startModeMarks } from "./modeMarks.ts";
import { noticeBoard } from "./notices.ts";
import { type AgentSettings, DEFAULT_SETTINGS } from "./settings.ts";
import { storedOrders } from "./trust/storedOrders.ts";
import { upstream } from "./upstream.ts";
import { startWasmReports, type WasmFilters } from "./wasm/wasmReports.ts";
import type { WrittenFilters } from "./wasm/writtenFilters.ts";
import { writeGate } from "./writeGate.ts";
import type { WriteRules } from "./writeMode.ts";

/** The relay's loops at the agent's end, for one turn: report what the cluster holds, and make it hold what the server wants. */
export interface RelayLoops {
  readonly linkState: LinkState;
  /** The cluster, as far as the mode permits writes. */
  readonly cluster: Cluster;
  readonly internal: InternalResources;
  /** Writes statuses, as far as the mode permits it. */
  readonly statuses: Pick<StatusWriter, "write">;
  /** Whether the agent may write an object of its own now, by the mode of the cluster and its own limits. */
  mayWrite(ref: ResourceRef): boolean;
  /** The namespaces that are reported of. */
  scope(): Scope;
  /** What of the plane's settings holds here. */
  readonly settings: AgentSettings;
  observed(delta: Delta): void;
  /** All objects of a kind (`kindKeyOf`) were listed. */
  listed(kindKey: string): void;
  /** A kind (`kindKeyOf`) that was not served is there again. */
  servedAgain(kindKey: string): void;
  /** What became of Wasm filters may be something else. */
  wasmChanged(): void;
  resumeDeletes(by: "server" | "cluster"): number;
  desired(): readonly Resource[];
  /** What is desired of an object, by `resourceKeyOf`. */
  desiredOf(key: string): Resource | undefined;
  metrics(): readonly Metric[];
  readonly ended: Promise<void>;
}

/** What an agent deals with, and where. */
export interface AgentParts {
  readonly cluster: Cluster;
  /** Makes the link to the server; called at the start of each turn of leading. The link must end when `turn` is aborted. */
  readonly link: (handler: AgentLinkHandler, turn: AbortSignal) => AgentLink & { readonly closed?: Promise<unknown> };
  /** Kinds whose objects are reported. */
  readonly sentKinds: readonly Kind[];
  /** Those of them by which users ask something of the plane: their statuses are written as the server says. */
  readonly userKinds: readonly Kind[];
  /** Whether the last good form of an object that can't be read stays in use. */
  readonly keepsLastGood: (kind: Kind) => boolean;
  /** Whether the agent does without a kind that it may not read. Default: it waits until it may. */
  readonly isReadIfPermitted?: (kind: Kind) => boolean;
  /** Those of which only what is in namespaces that discovery looks into is reported. */
  readonly scopedKinds: readonly Kind[];
  /** Kinds that the server may have written. */
  readonly writtenKinds: readonly Kind[];
  /** Of those, per `kindKeyOf`, the kinds to whose objects they refer. Default: none. */
  readonly refersTo?: ReadonlyMap<string, readonly Kind[]>;
  /** Kinds that the agent holds in memory and reports, and that its cluster does not store, but where `storesOrders`. */
  readonly computedKinds: readonly Kind[];
  /**
   * What is ordered of computed kinds is stored in the cluster, for an agent there that no server is connected to and that renews a Lease of
   * this name. Default: this agent carries it out.
   */
  readonly storesOrders?: { readonly lease: string };
  /** Whose objects are outputs of ours. */
  readonly owners: readonly Owner[];
  /** Kinds that discovery makes. */
  readonly discoveryKinds: readonly Kind[];
  /** The settings in what a server sent; undefined when it is about something else. Throws InvalidResource. */
  readonly settingsIn: (resource: Resource) => AgentSettings | undefined;
  /** The mode of this cluster in what a server sent; undefined when it is about something else. Throws InvalidResource. */
  readonly modeIn: (resource: Resource) => WriteRules | undefined;
  /** The agent's own namespace. */
  readonly namespace: string;
  /** What the server may do at most. Default: that of an agent without flags. */
  readonly limits?: AgentLimits;
  /** Where the operator of this very cluster lets go what is on hold, and what is said there now; of the cluster as it is known. */
  readonly resumption: { readonly place: string; readonly value: (cluster: Snapshot, clusterName: string) => string | undefined };
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
}

export interface RelayLoopsOptions extends AgentParts {
  readonly view: Informer;
  /** Takes in what is removed, and why. */
  readonly removals: DeletionLog;
  readonly meter: Meter;
  /** Called when something else is ordered of what the agent computes. */
  readonly ordered: () => void;
  /** Called when the server's Settings may say something else. */
  readonly settingsChanged: () => void;
  /** What serves Wasm filters on this replica; undefined where nothing does. */
  readonly wasm: () => WasmFilters | undefined;
  readonly ours: () => Pick<WrittenFilters, "isOurs" | "isEvaluated">;
}

const NAMESPACE = kindKeyOf(Namespace);

/** Begins with what the view holds already: nothing is carried over from an earlier turn. */
export function startRelayLoops(options: RelayLoopsOptions, signal: AbortSignal): RelayLoops {
  const {
    view,
    sentKinds,
    userKinds,
    keepsLastGood,
    writtenKinds,
    owners,
    clock,
    random,
    log,
    removals,
    meter,
    limits = {},
    resumption,
    computedKinds,
    storesOrders,
  } = options;
  const limited = scopeLimit(limits);
  let linkState: LinkState = "connecting";
  let isReleased = false;

  const link = options.link(
    {
      desired(desired) {
        isReleased = false;
        down.desired(storesOrders !== undefined ? orders.withOrders(desired) : internal.withoutInternal(desired));
      },
      notices(notices) {
        board.onNotices(notices);
        internal.onNotices(notices);
      },
      welcomed: (features) => gate.welcomed(features),
      state(state, detail, code) {
        if (state !== linkState) log.info({ cluster: cluster.name, state }, detail);
        const wasConnected = linkState === "connected";
        linkState = state;
        if (wasConnected && state !== "connected") down.disconnected();
        if (code === "Deregistered") release();
      },
    },
    signal,
  );
  const computed = new Set(computedKinds.map(kindKeyOf));
  const internal = internalResources({
    link,
    kinds: computed,
    changed() {
      if (storesOrders !== undefined) orders.changed();
      options.ordered();
    },
  });
  const orders = storedOrders({ kinds: computed, ordered: () => internal.ordered, applier: () => applier, live: () => view.snapshot });
  const up = upstream({
    link,
    kinds: sentKinds,
    userKinds,
    keepsLastGood,
    scopedKinds: options.scopedKinds,
    owners,
    scope: (snapshot) => limited(board.settings.scopeIn(snapshot, cluster.name)),
    random,
    log,
  });
  const reportedPods = lastPods(
    {
      scope: () => limited(board.settings.scopeIn(view.snapshot, cluster.name)),
      isGone: (name) =>
        view.kinds.get(NAMESPACE) === "known" &&
        view.snapshot.of(Namespace).get({ name, namespace: "", clusterName: cluster.name }) === undefined,
      due: () => up.observed(reportedPods.filtered(emptyDelta)),
      clock,
    },
    signal,
  );
  const gate = writeGate(options.cluster, {
    changed() {
      log.info({ cluster: options.cluster.name, mode: gate.mode }, "mode of this cluster received from the management server");
      down.modeChanged();
      board.modeChanged();
      marks?.changed();
    },
    drained: () => down.applierChanged(),
  });
  const { cluster } = gate;
  const writer = startStatusWriter(
    { cluster, mayWrite: () => gate.mayWriteStatuses, live: () => view.snapshot, clock, random, log, meter },
    signal,
  );
  const board = noticeBoard({
    userKinds,
    view: () => view,
    writer,
    defaults: DEFAULT_SETTINGS,
    settingsIn(resource) {
      const told = options.settingsIn(resource);
      const deleteLimits = told === undefined ? undefined : withinLimit(told.deleteLimits, limits);
      if (told === undefined || deleteLimits === undefined || deleteLimits === told.deleteLimits) return told;
      const { percent, objects } = deleteLimits;
      log.warn(
        { received: told.deleteLimits, kept: deleteLimits },
        `spec.relay.deleteBudget in the server's Settings is higher than this agent allows; using ${percent} % or ${objects} objects: ` +
          "to allow more, raise --delete-budget-percent and --delete-budget-objects of the agent",
      );
      return { ...told, deleteLimits };
    },
    modeIn: options.modeIn,
    mode: gate.setRules,
    changed() {
      up.observed(reportedPods.filtered(emptyDelta));
      cilium.settingsChanged();
      options.settingsChanged();
    },
    log,
  });
  const applier = startApplier(
    {
      cluster,
      kinds: writtenKinds,
      ...(options.refersTo === undefined ? {} : { refersTo: options.refersTo }),
      owners,
      mayWrite: gate.mayWrite,
      ...(storesOrders === undefined ? {} : { isUndecided: orders.isUndecided }),
      live: () => view.snapshot,
      clock,
      random,
      log,
      meter,
      removals,
      onChange: () => down.applierChanged(),
    },
    signal,
  );
  /** What stands in the cluster is its operators' from now on. */
  function release(): void {
    if (!isReleased) log.warn({ cluster: cluster.name }, "this cluster was deregistered: what was applied is kept, and no longer changed");
    isReleased = true;
    down.release();
    board.release();
    internal.release();
  }
  const writtenKeys = new Set(writtenKinds.map(kindKeyOf));
  const down = downstream(
    {
      link,
      applier,
      gate,
      isViewComplete: () => view.isComplete,
      kinds: () => [...view.kinds].filter(([kindKey]) => writtenKeys.has(kindKey)),
      mayHold: (ref) =>
        view.kinds.get(kindKeyOf(ref)) !== "known" ||
        view.snapshot.collections().get(kindKeyOf(ref))?.get(ref) !== undefined ||
        applier.mayStand(ref),
      isOurs: (resource) => bearsLabelOf(resource, owners),
      isConnected: () => linkState === "connected",
      discovered: new Set(options.discoveryKinds.map(kindKeyOf)),
      deleteLimits: () => board.settings.deleteLimits,
      removalsPerHour: limits.removalsPerHour,
      requests: requestCheck({ kinds: writtenKinds, owners, limits }),
      resumedOn: resumption.place,
      clock,
      log,
      meter,
    },
    signal,
  );
  const cilium = startCiliumLoop(
    {
      cluster: options.cluster,
      view,
      link,
      owners,
      mode: () => board.settings.ciliumEndpoints,
      scope: () => limited(board.settings.scopeIn(view.snapshot, cluster.name)),
      clock,
      random,
      log,
    },
    signal,
  );
  // Nobody is connected to the agent that carries out what is ordered: it reads the mode where it reads its orders.
  const marks =
    storesOrders === undefined
      ? undefined
      : startModeMarks(
          { cluster: options.cluster, namespace: options.namespace, owners, view: () => view, rules: () => gate.rules, clock, log },
          signal,
        );
  const wasm = startWasmReports(
    { clusterName: cluster.name, view, link, owners, ours: options.ours, filters: options.wasm, clock },
    signal,
  );
  up.view(view);
  const all = [...view.snapshot.collections().values()].flatMap((collection) => [...collection]);
  up.observed(reportedPods.filtered({ put: all, remove: [] }));
  // Nobody tells of what is not understood: who had the turn before may not have come to say so.
  board.observed({ put: [], remove: [...view.malformed.values()].map(({ ref }) => ref) });

  let resumed = resumption.value(view.snapshot, cluster.name);
  /** A new word of this cluster's operator. */
  function checkResumption(): void {
    const value = resumption.value(view.snapshot, cluster.name);
    if (value === resumed) return;
    resumed = value;
    if (value !== undefined) down.resumeDeletes("cluster");
  }

  return {
    get linkState() {
      return linkState;
    },
    cluster,
    internal,
    statuses: writer,
    mayWrite: (ref) => gate.mayWriteStatuses && gate.mayWrite(ref) && isNamespaceWritten(limits, ref.namespace),
    scope: () => limited(board.settings.scopeIn(view.snapshot, cluster.name)),
    observed(delta) {
      if (signal.aborted) return;
      up.observed(reportedPods.filtered(delta));
      down.observed(delta);
      board.observed(delta);
      cilium.observed(delta);
      wasm.observed(delta);
      marks?.changed();
      checkResumption();
    },
    listed(kindKey) {
      if (signal.aborted) return;
      down.listed(kindKey);
      writer.listed(kindKey);
    },
    servedAgain(kindKey) {
      if (!signal.aborted) applier.servedAgain(kindKey);
    },
    wasmChanged: wasm.changed,
    get settings() {
      return board.settings;
    },
    resumeDeletes: (by) => down.resumeDeletes(by),
    desired: () => [...applier.desired].sort(([a], [b]) => compareKeys(a, b)).map(([, resource]) => resource),
    desiredOf: (key) => applier.desired.get(key),
    metrics: () => [
      ...workQueueMetrics({ apply: applier.sizes, status: writer.sizes }),
      { name: "gloo_mesh_removals_held", labels: {}, value: down.held },
    ],
    ended: Promise.all([applier.ended, writer.ended, cilium.ended, wasm.ended, marks?.ended, link.closed]).then(() => undefined),
  };
}
