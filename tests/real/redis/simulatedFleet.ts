import { setMaxListeners } from "node:events";
import { allKinds, KubernetesCluster, ServiceEntry, TrafficPolicy, VirtualMesh } from "@isthmus/api";
import { kindKeyOf, type Log, type Resource } from "@isthmus/core";
import {
  type Agent,
  agentRoles,
  answerQuery,
  type Leadership,
  type Server,
  type Store,
  serverRoles,
  startAgent,
  startServer,
  systemClock,
} from "@isthmus/plane";
import { type InMemoryNetwork, inMemoryNetwork } from "@isthmus/relay/inMemory";
import { type RunningServerLink, startAgentLink, startServerLink } from "@isthmus/relay/session";
import { demoClusters, type SimulatedCluster, simulatedCluster, startControllers } from "@isthmus/simulator";

const namespace = "gloo-mesh";
const clock = systemClock;
const environment = { clock, random: Math.random };

/** The demo's two clusters, simulated, and servers and agents over them: what is real in these tests is the store alone. */
export interface SimulatedFleet {
  readonly management: SimulatedCluster;
  cluster(name: string): SimulatedCluster;
  server(name: string): Server;
  startServer(name: string, settings: { readonly store: Store; readonly leadership?: Leadership }): void;
  stopServer(name: string): Promise<void>;
  /** Which server the agent of a cluster connects to from now on. */
  route(clusterName: string, server: string): void;
  startAgent(clusterName: string): void;
  stopAgent(clusterName: string): Promise<void>;
  stop(): Promise<void>;
}

export function simulatedFleet(log: Log): SimulatedFleet {
  const world = quietController();
  const networks = new Map<string, InMemoryNetwork>();
  const routes = new Map<string, string>();
  const servers = new Map<string, { readonly server: Server; readonly stop: AbortController }>();
  const agents = new Map<string, { readonly agent: Agent; readonly stop: AbortController }>();
  const management = simulatedCluster({ name: "", clock, kinds: allKinds() });
  management.load(["gloo-mesh", "bookinfo"].map((name) => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } })));
  const clusters = new Map<string, SimulatedCluster>();
  for (const [name, resources] of Object.entries(demoClusters())) {
    const one = simulatedCluster({ name, clock, kinds: allKinds() });
    one.load(resources);
    clusters.set(name, one);
    management.load([{ apiVersion: KubernetesCluster.apiVersion, kind: KubernetesCluster.kind, metadata: { name, namespace } }]);
    void startControllers(one, { clock, log }, world.signal);
  }

  function found<V>(map: ReadonlyMap<string, V>, name: string): V {
    const value = map.get(name);
    if (value === undefined) throw new Error(`there is no ${name}`);
    return value;
  }

  function networkOf(server: string): InMemoryNetwork {
    const network = networks.get(server) ?? inMemoryNetwork({ clock });
    networks.set(server, network);
    return network;
  }

  async function end<V extends { readonly stop: AbortController }>(map: Map<string, V>, name: string): Promise<void> {
    map.get(name)?.stop.abort(new Error(`${name} was killed`));
    map.delete(name);
  }

  async function stopServer(name: string): Promise<void> {
    const one = found(servers, name);
    networkOf(name).listen(undefined);
    await end(servers, name);
    await one.server.ended;
  }

  async function stopAgent(name: string): Promise<void> {
    const one = found(agents, name);
    await end(agents, name);
    await one.agent.ended;
  }

  return {
    management,
    cluster: (name) => found(clusters, name),
    server: (name) => found(servers, name).server,
    route: (clusterName, server) => void routes.set(clusterName, server),
    startServer(name, { store, leadership }) {
      const stop = quietController();
      let link: RunningServerLink | undefined;
      const server: Server = startServer(
        {
          ...environment,
          log,
          cluster: management,
          link: (handler, reportFilter) => {
            const remembers = (clusterName: string) => server.store.remembers(clusterName);
            link = startServerLink({ ...environment, log, serverId: name, handler, reportFilter, remembers }, stop.signal);
            return link;
          },
          ...serverRoles(namespace),
          resumeDeletes: async () => undefined,
          namespace,
          translation: { namespace, stage: "all" },
          sharing: { store, replica: name, version: "1.4.0" },
          ...(leadership === undefined ? {} : { leadership }),
        },
        stop.signal,
      );
      networkOf(name).listen(link?.accept);
      servers.set(name, { server, stop });
    },
    stopServer,
    startAgent(clusterName) {
      const stop = quietController();
      const connector = {
        connect: (...asked: Parameters<ReturnType<InMemoryNetwork["connector"]>["connect"]>) =>
          networkOf(routes.get(clusterName) ?? "")
            .connector(clusterName)
            .connect(...asked),
      };
      const roles = agentRoles(namespace);
      const agent: Agent = startAgent(
        {
          ...environment,
          log,
          cluster: found(clusters, clusterName),
          link: (handler) =>
            startAgentLink(
              {
                ...environment,
                log,
                clusterName,
                kinds: roles.sentKinds.map(kindKeyOf),
                agent: { instance: `agent-${clusterName}`, version: "test", agentNamespace: namespace, clusterUid: clusterName },
                connector,
                handler,
                answer: answerQuery(() => agent),
              },
              stop.signal,
            ),
          ...roles,
        },
        stop.signal,
      );
      agents.set(clusterName, { agent, stop });
    },
    stopAgent,
    async stop() {
      await Promise.all([...agents.keys()].map(stopAgent));
      await Promise.all([...servers.keys()].map(stopServer));
      world.abort();
    },
  };
}

export const bookinfoMesh: VirtualMesh = {
  apiVersion: VirtualMesh.apiVersion,
  kind: VirtualMesh.kind,
  metadata: { name: "bookinfo", namespace },
  spec: {
    meshes: ["cluster-1", "cluster-2"].map((name) => ({ name: `istiod-istio-system-${name}`, namespace })),
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

/** The names of our ServiceEntries in a cluster. */
export function entriesOf(cluster: SimulatedCluster): readonly string[] {
  return ourObjects(cluster)
    .filter(({ kind }) => kind === ServiceEntry.kind)
    .map(({ metadata }) => metadata.name);
}

/** Our objects in a cluster with their versions: equal before and after means that nothing was written. */
export function written(cluster: SimulatedCluster): readonly string[] {
  return ourObjects(cluster).map(({ kind, metadata: { name, uid, resourceVersion } }) => `${kind} ${name} ${uid} ${resourceVersion}`);
}

function ourObjects(cluster: SimulatedCluster): readonly Resource[] {
  return cluster.objects().filter(({ metadata }) => metadata.labels?.["owner.networking.mesh.gloo.solo.io"] !== undefined);
}

/** Every watch of every kind listens to one signal: that is no leak. */
function quietController(): AbortController {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  return controller;
}
