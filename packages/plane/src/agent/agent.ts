import { EnvoyFilter, IssuedCertificate, Pod } from "@isthmus/api";
import { type Delta, kindKeyOf, type Meter, type Metric, noMeter, type Resource } from "@isthmus/core";
import type { HttpClient, Leadership, LinkState } from "@isthmus/ports";
import { type DeletionLog, deletionLog } from "../apply/deletionLog.ts";
import { type Informer, startInformer } from "../informer/informer.ts";
import { alwaysLeader, leaderOnlyCluster } from "../leader/leadership.ts";
import { eventHub } from "../runtime/eventHub.ts";
import { scopeLimit } from "./limits.ts";
import { type PodLookup, podAddresses, podsAtAddress } from "./observability/podAddresses.ts";
import { type MeshPod, scrapeTargets } from "./observability/scrapeTargets.ts";
import { processStarter } from "./processes.ts";
import { type AgentParts, startRelayLoops } from "./relayLoops.ts";
import { startSchemaReporter } from "./schemas/schemaReporter.ts";
import { type AgentSettings, DEFAULT_SETTINGS } from "./settings.ts";
import { startCertificateExchange } from "./trust/certificateExchange.ts";
import { startCertificateLoop } from "./trust/certificateLoop.ts";
import type { ReadLeafValidity } from "./trust/leafRenewals.ts";
import { type VaultAuthorityOptions, vaultAuthority } from "./trust/vaultAuthority.ts";
import { vaultToken } from "./trust/vaultToken.ts";
import { type WasmOrder, wasmOrdersIn, wasmOrdersOfPod } from "./wasm/wasmOrders.ts";
import type { WasmFilters } from "./wasm/wasmReports.ts";
import { NO_FILTERS, writtenFilters } from "./wasm/writtenFilters.ts";

export interface AgentOptions extends AgentParts {
  /** Which of several replicas of this agent acts for the cluster. Default: this one, as there is no other. */
  readonly leadership?: Leadership;
  /** Lists everything again so often, in milliseconds, beside watching. Default: never. */
  readonly relistMs?: number;
  /** The Vault servers that sign CAs of meshes here, and how they are called. Default: none may be. */
  readonly vault?: Pick<VaultAuthorityOptions, "http" | "servers" | "accountToken">;
  /** Asks proxies how old their certificates are. Default: nobody does, and each change of roots restarts them. */
  readonly leafValidity?: ReadLeafValidity;
  /** Restarts workloads that use earlier certificates by rollouts. Default: by evictions. */
  readonly restartsByRollout?: boolean;
  /** Calls the Services that serve schemas of APIs. Default: nobody does, as where no agent runs in the cluster. */
  readonly schemas?: { readonly http: HttpClient };
  /** Takes in what is removed, and why. Default: a log of its own. */
  readonly removals?: DeletionLog;
  /** Takes in figures as they arise. Default: nobody does. */
  readonly meter?: Meter;
  /** Starts what scrapes proxies, on the leader. Default: nothing does. */
  readonly meshMetrics?: (sources: MeshMetricsSources, term: AbortSignal) => { readonly ended: Promise<void> };
  /** Starts what takes access logs of proxies, on every replica. Default: nothing does, as where no agent runs in the cluster. */
  readonly accessLogs?: (podsAt: PodLookup, signal: AbortSignal) => { readonly ended: Promise<void> };
  /** Starts what answers the other replicas of this agent, on every replica. Default: nothing does, as where there is one. */
  readonly replicaQueries?: (signal: AbortSignal) => { readonly ended: Promise<void> };
  /** Starts what gives proxies their Wasm filters, on every replica, before `accessLogs`. Default: nothing does. */
  readonly wasmFilters?: (sources: WasmSources, signal: AbortSignal) => WasmFilters;
}

/** What the Wasm filters of a cluster follow from. */
export interface WasmSources {
  readonly podsAt: PodLookup;
  /** All that is ordered in the cluster. */
  readonly orders: () => readonly WasmOrder[];
  /** What is ordered for a pod. */
  readonly ordersOf: (pod: { readonly name: string; readonly namespace: string }) => readonly WasmOrder[];
  /** To be called when a module, or the answer of a proxy, is another one. */
  readonly changed: () => void;
}

/** What is read of a cluster's proxies and control planes. */
export interface MeshMetricsSources {
  /** Undefined while not all pods are known, or while the Settings do not ask for their metrics. */
  readonly targets: () => readonly MeshPod[] | undefined;
}

/** A running agent: reports its cluster to the server, and makes it hold what the server wants. */
export interface Agent {
  /** Kept on every replica, so that one that takes over need not read its cluster first. */
  readonly view: Informer;
  /** `closed` on a replica that does not lead. */
  readonly linkState: LinkState;
  /** What of the plane's settings holds here. */
  readonly settings: AgentSettings;
  /** The server's approval of deletes that a mass deletion had put on hold; gives the number of objects. */
  resumeDeletes(): number;
  /** What is desired in the cluster, in order of `resourceKeyOf`. */
  desired(): readonly Resource[];
  /** The last removals, and why. */
  readonly removals: DeletionLog;
  /** Figures as they are now, beside those that the meter was given. */
  metrics(): readonly Metric[];
  /** Ends when the agent was aborted. */
  readonly ended: Promise<void>;
}

/**
 * Starts to watch the cluster at once, on every replica; the relay and the certificates of meshes are served while this replica leads.
 * Everything ends when `signal` is aborted.
 */
export function startAgent(options: AgentOptions, signal: AbortSignal): Agent {
  const {
    sentKinds,
    keepsLastGood,
    isReadIfPermitted,
    writtenKinds,
    leadership = alwaysLeader,
    relistMs,
    clock,
    random,
    log,
    removals = deletionLog(() => clock.now()),
    meter = noMeter,
  } = options;
  const { storesOrders } = options;
  const applied = writtenKinds.filter((kind) => storesOrders !== undefined || !options.computedKinds.includes(kind));
  const processes = processStarter(leadership, signal);
  const changes = eventHub<ClusterChanges>();
  const addresses = podAddresses();
  const view = processes.everyReplica("clusterWatch", (until) =>
    startInformer(
      {
        cluster: options.cluster,
        kinds: [...sentKinds, ...applied.filter((kind) => !sentKinds.includes(kind))],
        ...(relistMs === undefined ? {} : { relistMs }),
        clock,
        random,
        log,
        keepsLastGood,
        ...(isReadIfPermitted === undefined ? {} : { isReadIfPermitted }),
        raw: new Map([[POD, addresses.seen]]),
        changed: (delta) => changes.emit("changed", delta),
        listed: (kindKey) => changes.emit("listed", kindKey),
        servedAgain: (kindKey) => changes.emit("servedAgain", kindKey),
      },
      until,
    ),
  );
  const podsAt: PodLookup = (address) => podsAtAddress(view.snapshot, addresses, { address, clusterName: options.cluster.name });
  let wasm: WasmFilters | undefined;
  let wasmChanged = (): void => undefined;
  let ours = NO_FILTERS;
  processes.everyReplica("wasmFilters", (until) => {
    if (options.wasmFilters === undefined) return { ended: Promise.resolve() };
    const { owners } = options;
    const clusterName = options.cluster.name;
    const judged = (): void => {
      wasm?.changed();
      wasmChanged();
    };
    ours = writtenFilters({ cluster: options.cluster, view, owners, changed: judged, clock, log }, until);
    wasm = options.wasmFilters(
      {
        podsAt,
        orders: () => wasmOrdersIn(view.snapshot, ours.isOurs),
        ordersOf: (pod) => wasmOrdersOfPod(view.snapshot, ours.isOurs, { ...pod, clusterName }),
        changed: () => wasmChanged(),
      },
      until,
    );
    return { ended: Promise.all([ours.ended, wasm.ended]).then(() => undefined) };
  });
  processes.everyReplica("accessLogs", (until) => {
    return options.accessLogs?.(podsAt, until) ?? { ended: Promise.resolve() };
  });
  processes.everyReplica("replicaQueries", (until) => options.replicaQueries?.(until) ?? { ended: Promise.resolve() });
  const cluster = leaderOnlyCluster(options.cluster, leadership);
  const ordered = () => certificates.current?.changed();
  const settingsChanged = () => apis.current?.settingsChanged();
  const relay = processes.leader("relay", (term) =>
    startRelayLoops(
      { ...options, cluster, writtenKinds: applied, view, removals, meter, ordered, settingsChanged, wasm: () => wasm, ours: () => ours },
      term,
    ),
  );
  wasmChanged = () => relay.current?.wasmChanged();
  const certificates = processes.leader("certificates", (term) => {
    // Of the same term: it was started just before.
    const loops = relay.current;
    const { namespace, owners } = options;
    if (storesOrders !== undefined) {
      const { lease } = storesOrders;
      const internal = () => loops?.internal;
      const desiredOf = (key: string) => loops?.desiredOf(key);
      return startCertificateExchange(
        { cluster: loops?.cluster ?? cluster, namespace, lease, owners, view: () => view, desiredOf, internal, clock, random, log },
        term,
      );
    }
    const vault = options.vault && vaultAuthority({ ...options.vault, namespace, tokenIn: (ref) => vaultToken(cluster, ref, term) });
    return startCertificateLoop(
      {
        cluster: loops?.cluster ?? cluster,
        namespace,
        internal: () => loops?.internal,
        vault,
        leafValidity: options.leafValidity,
        restartsByRollout: options.restartsByRollout === true,
        clock,
        log,
      },
      term,
    );
  });
  const apis = processes.leader("apiDiscovery", (term) => {
    const loops = relay.current;
    if (options.schemas === undefined || loops === undefined)
      return { observed: () => undefined, settingsChanged: () => undefined, ended: Promise.resolve() };
    const { http } = options.schemas;
    const { cluster: written, statuses, scope, mayWrite } = loops;
    const isOn = () => loops.settings.apiDiscovery;
    return startSchemaReporter({ cluster: written, view, http, isOn, mayWrite, scope, statuses, clock, log }, term);
  });
  const limited = scopeLimit(options.limits ?? {});
  processes.leader("meshMetrics", (term) => {
    const targets = () => {
      const settings = relay.current?.settings ?? DEFAULT_SETTINGS;
      if (!settings.meshMetrics || !view.isComplete) return undefined;
      return scrapeTargets(view.snapshot, addresses, limited(settings.scopeIn(view.snapshot, options.cluster.name)));
    };
    return options.meshMetrics?.({ targets }, term) ?? { ended: Promise.resolve() };
  });
  changes.on("changed", (delta) => relay.current?.observed(delta));
  changes.on("changed", ({ remove }) => {
    for (const ref of remove) if (kindKeyOf(ref) === POD) addresses.removed(ref);
  });
  changes.on("changed", (delta) => ours.observed(delta));
  // Other labels of a pod mean other filters for it; those of its proxy that is connected are compared by themselves.
  changes.on("changed", ({ put, remove }) => {
    if (isAbout({ put, remove }, WASM_CARRIER)) wasm?.changed();
  });
  if (storesOrders !== undefined) changes.on("changed", (delta) => (isAbout(delta, ORDER) ? ordered() : undefined));
  changes.on("changed", (delta) => apis.current?.observed(delta));
  changes.on("listed", (kindKey) => relay.current?.listed(kindKey));
  changes.on("servedAgain", (kindKey) => relay.current?.servedAgain(kindKey));

  return {
    view,
    get linkState() {
      return leadership.isLeader ? (relay.current?.linkState ?? "connecting") : "closed";
    },
    get settings() {
      return relay.current?.settings ?? DEFAULT_SETTINGS;
    },
    resumeDeletes: () => relay.current?.resumeDeletes("server") ?? 0,
    desired: () => relay.current?.desired() ?? [],
    removals,
    metrics: () => relay.current?.metrics() ?? [],
    ended: processes.run(),
  };
}

const WASM_CARRIER = kindKeyOf(EnvoyFilter);
const POD = kindKeyOf(Pod);
const ORDER = kindKeyOf(IssuedCertificate);

function isAbout({ put, remove }: Pick<Delta, "put" | "remove">, kindKey: string): boolean {
  return [...put, ...remove].some((one) => kindKeyOf(one) === kindKey);
}

/** What changes in the cluster that is watched. */
interface ClusterChanges {
  readonly changed: readonly [delta: Delta];
  /** All objects of a kind (`kindKeyOf`) were listed. */
  readonly listed: readonly [kindKey: string];
  /** A kind (`kindKeyOf`) that was not served is there again. */
  readonly servedAgain: readonly [kindKey: string];
}
