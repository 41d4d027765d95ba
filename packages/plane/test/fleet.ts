import { setMaxListeners } from "node:events";
import { allKinds, TrafficPolicy, VirtualMesh } from "@isthmus/api";
import { type AnyResource, type Kind, kindKeyOf, type Resource } from "@isthmus/core";
import type { AgentService } from "@isthmus/ports";
import { type InMemoryNetwork, inMemoryNetwork } from "@isthmus/relay/inMemory";
import { type Peer, type RunningServerLink, startAgentLink, startServerLink } from "@isthmus/relay/session";
import { demoClusters, type SimulatedCluster, simulatedCluster, startControllers } from "@isthmus/simulator";
import {
  type Agent,
  type AgentOptions,
  agentRoles,
  answerQuery,
  type Cluster,
  type Leadership,
  RESUME_DELETES_TOPIC,
  type Server,
  type Store,
  serverRoles,
  startAgent,
  startServer,
} from "../src/index.ts";
import { reuseKeys } from "./cryptographyAtWork.ts";
import { recordingLog } from "./recordingLog.ts";
import { clock, meanwhile } from "./virtualTime.ts";

const namespace = "gloo-mesh";

/** What a server of a fleet has beside its name. */
export interface ServerSettings {
  readonly store?: Store;
  /** What it says of its version. Default: nothing, as servers of earlier versions. */
  readonly version?: string;
  readonly leadership?: Leadership;
  /** How it reaches its cluster. Default: directly. */
  readonly over?: (cluster: Cluster) => Cluster;
  /** How it reads what agents report. Default: as kinds do. */
  readonly kindOf?: (apiVersion: string, kind: string) => Kind | undefined;
  /** What translation sees of an object of the management cluster. Default: as servers have it. */
  readonly translationView?: (resource: Resource) => Resource;
  /** What the transport says of agents that connect, beside their clusters' names. Default: nothing. */
  readonly presented?: Pick<Peer, "issuedAt" | "expiresAt">;
}

/** One of several agents of a cluster. */
export interface AgentSettings extends Omit<ServerSettings, "store" | "version" | "presented" | "kindOf" | "translationView"> {
  /** Default: "". */
  readonly name?: string;
  /** The Service that it says it has. Default: it does not say. */
  readonly service?: AgentService;
  /** The Vault that it may call. Default: none. */
  readonly vault?: AgentOptions["vault"];
  /** How it asks proxies for the age of their certificates. Default: it does not. */
  readonly leafValidity?: AgentOptions["leafValidity"];
  /** Restarts workloads by rollouts. Default: by evictions. */
  readonly restartsByRollout?: boolean;
  /** What scrapes proxies. Default: nothing does. */
  readonly meshMetrics?: AgentOptions["meshMetrics"];
  /** How it calls the Services that serve schemas. Default: not at all. */
  readonly schemas?: AgentOptions["schemas"];
  /** Of the server's own in a cluster that it connects to itself: orders of CAs are stored there. Default: it is an agent's. */
  readonly storesOrders?: AgentOptions["storesOrders"];
  /** What serves Wasm filters of the cluster, and that they may be written. Default: nothing, and they may not. */
  readonly wasmFilters?: AgentOptions["wasmFilters"];
}

/** The real loops over simulated clusters and a network in memory, in virtual time. */
export interface Fleet {
  readonly management: SimulatedCluster;
  readonly clusters: Readonly<Record<string, SimulatedCluster>>;
  /** The network of one server. */
  readonly network: (server?: string) => InMemoryNetwork;
  readonly log: ReturnType<typeof recordingLog>;
  readonly server: (name?: string) => Server;
  readonly agent: (clusterName: string) => Agent;
  startServer(name?: string, settings?: ServerSettings): void;
  stopServer(name?: string): Promise<void>;
  /** Which server the agent of a cluster connects to from now on. Default: "server". */
  route(clusterName: string, server: string): void;
  startAgent(clusterName: string, settings?: AgentSettings): void;
  stopAgent(clusterName: string): Promise<void>;
  stop(): Promise<void>;
}

/** A fleet of the demo's two clusters, nothing of ours running yet. */
export function demoFleet({ random = () => 0 }: { readonly random?: () => number } = {}): Fleet {
  reuseKeys();
  const log = recordingLog();
  const world = quietController();
  const networks = new Map<string, InMemoryNetwork>();
  const routes = new Map<string, string>();
  const management = simulatedCluster({ name: "", clock, kinds: allKinds() });
  management.load(["gloo-mesh", "bookinfo"].map((name) => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } })));
  const clusters: Record<string, SimulatedCluster> = {};
  for (const [name, resources] of Object.entries(demoClusters())) {
    const cluster = simulatedCluster({ name, clock, kinds: allKinds() });
    cluster.load(resources);
    clusters[name] = cluster;
    void startControllers(cluster, { clock, log }, world.signal);
  }
  let instances = 0;
  const agents = new Map<string, { readonly agent: Agent; readonly stop: AbortController }>();
  const running = new Map<string, { readonly server: Server; readonly stop: AbortController }>();

  function network(name = "server"): InMemoryNetwork {
    const known = networks.get(name) ?? inMemoryNetwork({ clock });
    networks.set(name, known);
    return known;
  }

  function start(
    name = "server",
    { store, version, leadership, over = (cluster) => cluster, presented, translationView, ...reading }: ServerSettings = {},
  ): void {
    const stop = quietController();
    const roles = serverRoles(namespace);
    let link: RunningServerLink | undefined;
    const server: Server = startServer(
      {
        cluster: over(management),
        link: (handler, reportFilter) => {
          link = startServerLink(
            {
              serverId: name,
              handler,
              reportFilter,
              remembers: (cluster) => server.store.remembers(cluster),
              tellsFirst: true,
              clock,
              random,
              log,
            },
            stop.signal,
          );
          return link;
        },
        ...roles,
        kinds: { ...roles.kinds, ...reading },
        ...(translationView === undefined ? {} : { translationView }),
        resumeDeletes: async (cluster) => {
          await link?.ask(cluster, { topic: RESUME_DELETES_TOPIC, body: new Uint8Array() }, stop.signal);
        },
        namespace,
        translation: { namespace, stage: "all" },
        ...(store === undefined ? {} : { sharing: { store, replica: name, ...(version === undefined ? {} : { version }) } }),
        ...(leadership === undefined ? {} : { leadership }),
        clock,
        random,
        log,
      },
      stop.signal,
    );
    if (link === undefined) throw new Error("the server created no link");
    const { accept } = link;
    network(name).listen((peer, stream) => accept({ ...peer, ...presented }, stream));
    running.set(name, { server, stop });
  }

  async function stopServer(name = "server"): Promise<void> {
    const one = running.get(name);
    if (one === undefined) return;
    running.delete(name);
    network(name).listen(undefined);
    one.stop.abort(new Error("the server was killed"));
    await meanwhile(one.server.ended);
  }

  function startAgentOf(clusterName: string, settings: AgentSettings = {}): void {
    const {
      name = "",
      leadership,
      vault,
      leafValidity,
      restartsByRollout = false,
      meshMetrics,
      schemas,
      storesOrders,
      wasmFilters,
      service,
      over = (one) => one,
    } = settings;
    const cluster = clusters[clusterName];
    if (cluster === undefined) throw new Error(`no cluster ${clusterName}`);
    const stop = quietController();
    const agent: Agent = startAgent(
      {
        cluster: over(cluster),
        link: (handler, turn) =>
          startAgentLink(
            {
              clusterName,
              kinds: agentRoles(namespace).sentKinds.map(kindKeyOf),
              userKinds: agentRoles(namespace).userKinds.map(kindKeyOf),
              agent: {
                instance: `agent-${++instances}`,
                version: "test",
                agentNamespace: namespace,
                ...(service === undefined ? {} : { service }),
                clusterUid: clusterName,
              },
              connector: {
                connect: (...asked) =>
                  network(routes.get(clusterName))
                    .connector(clusterName)
                    .connect(...asked),
              },
              handler,
              answer: answerQuery(() => agent),
              clock,
              random,
              log,
            },
            turn,
          ),
        ...agentRoles(namespace),
        ...(leadership === undefined ? {} : { leadership }),
        ...(vault === undefined ? {} : { vault }),
        ...(leafValidity === undefined ? {} : { leafValidity }),
        restartsByRollout,
        ...(meshMetrics === undefined ? {} : { meshMetrics }),
        ...(schemas === undefined ? {} : { schemas }),
        ...(storesOrders === undefined ? {} : { storesOrders }),
        ...(wasmFilters === undefined ? {} : { wasmFilters, limits: { wasmFilters: true } }),
        clock,
        random,
        log,
      },
      stop.signal,
    );
    agents.set(`${clusterName}${name}`, { agent, stop });
  }

  async function stopAgentOf(clusterName: string): Promise<void> {
    const agent = agents.get(clusterName);
    agents.delete(clusterName);
    agent?.stop.abort(new Error("the agent was killed"));
    if (agent !== undefined) await meanwhile(agent.agent.ended);
  }

  return {
    management,
    clusters,
    network,
    log,
    server: (name = "server") => {
      const one = running.get(name);
      if (one === undefined) throw new Error(`${name} is down`);
      return one.server;
    },
    agent(clusterName) {
      const running = agents.get(clusterName);
      if (running === undefined) throw new Error(`no agent of ${clusterName} is running`);
      return running.agent;
    },
    route: (clusterName, server) => void routes.set(clusterName, server),
    startServer: start,
    stopServer,
    startAgent: startAgentOf,
    stopAgent: stopAgentOf,
    async stop() {
      for (const name of [...agents.keys()]) await stopAgentOf(name);
      for (const name of [...running.keys()]) await stopServer(name);
      world.abort(new Error("the test is over"));
    },
  };
}

/** Registers the demo's clusters as `meshctl cluster register` would. */
export async function register(fleet: Fleet): Promise<void> {
  for (const name of Object.keys(fleet.clusters)) {
    await fleet.management.create({
      apiVersion: "multicluster.solo.io/v1alpha1",
      kind: "KubernetesCluster",
      metadata: { name, namespace },
    });
  }
}

export const bookinfoMesh: VirtualMesh = {
  apiVersion: VirtualMesh.apiVersion,
  kind: VirtualMesh.kind,
  metadata: { name: "bookinfo", namespace },
  spec: {
    meshes: [
      { name: "istiod-istio-system-cluster-1", namespace },
      { name: "istiod-istio-system-cluster-2", namespace },
    ],
    federation: { permissive: {} },
  },
};

/** A timeout for reviews in every cluster. */
export const timeoutPolicy: TrafficPolicy = {
  apiVersion: TrafficPolicy.apiVersion,
  kind: TrafficPolicy.kind,
  metadata: { name: "timeout", namespace: "bookinfo" },
  spec: {
    destinationSelector: [{ kubeServiceMatcher: { namespaces: ["bookinfo"], labels: { app: "reviews" } } }],
    policy: { requestTimeout: "2s" },
  },
};

/** The names of all objects of a kind in a cluster that bear our owner label, sorted. */
export async function ours(cluster: SimulatedCluster, kind: Kind): Promise<string[]> {
  const { items } = await cluster.list(kind, { labels: { matchLabels: { "owner.networking.mesh.gloo.solo.io": namespace } } });
  return items.map(({ metadata }) => `${metadata.name}.${metadata.namespace ?? ""}`).sort();
}

/** The published status of an object in the management cluster, or in the one given as such. */
export async function statusOf({ management }: Pick<Fleet, "management">, resource: Resource): Promise<PublishedStatus> {
  const kind = {
    ...resource,
    plural: "",
    namespaced: true,
    versions: [resource.apiVersion],
    parse: (input: unknown) => input as AnyResource,
  };
  const { name, namespace: ns = "" } = resource.metadata;
  return ((await management.get(kind, { name, namespace: ns }))?.["status"] ?? {}) as PublishedStatus;
}

export interface PublishedStatus {
  readonly state?: string;
  readonly errors?: readonly string[];
  readonly destinations?: Readonly<Record<string, { readonly errors?: readonly string[] }>>;
  readonly conditions?: readonly {
    readonly type: string;
    readonly status: string;
    readonly message?: string;
    readonly reason?: string;
    readonly lastTransitionTime?: string;
  }[];
}

/** Every object that bears our owner label in a workload cluster, with its version: equal before and after means that nothing was written. */
export function written(cluster: SimulatedCluster): readonly string[] {
  return cluster
    .objects()
    .filter(({ metadata }) => metadata.labels?.["owner.networking.mesh.gloo.solo.io"] !== undefined)
    .map(
      ({ kind, metadata }) =>
        `${kind} ${metadata.name}.${metadata.namespace ?? ""} ${metadata.uid ?? ""} ${metadata.resourceVersion ?? ""}`,
    );
}

/** Every watch of every kind listens to one signal: that is no leak. */
function quietController(): AbortController {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  return controller;
}
