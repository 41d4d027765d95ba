import { type Clock, type Log, type Metric, refOf } from "@isthmus/core";
import { REVOKED_BEFORE, revocationOf } from "@isthmus/plane";
import type { Cluster, DesiredUpdate } from "@isthmus/ports";
import { inMemoryNetwork } from "@isthmus/relay/inMemory";
import { type Acceptor, RelayError } from "@isthmus/relay/session";
import { type ClusterImage, type SimulatedCluster, simulatedCluster, type VirtualClock, virtualClock } from "@isthmus/simulator";
import { type MemoryStore, memoryStore } from "@isthmus/store";
import { actorPort, type Write } from "./actorPort.ts";
import { type CallFaults, callFaults } from "./callFaults.ts";
import { type Certificates, certificates } from "./certificates.ts";
import { type DisturbedNetwork, type Down, disturbedNetwork, type Up } from "./disturbedNetwork.ts";
import type { Modes } from "./modes.ts";
import { kubernetesCluster } from "./objects.ts";
import {
  type AgentProcess,
  agentName,
  killed,
  type ServerProcess,
  startAgentProcess,
  startServerProcess,
  TRUST_MESSAGE_BYTES,
} from "./processes.ts";
import { type Random, seededRandom } from "./random.ts";
import { SIMULATED } from "./roles.ts";
import { type StoreWays, storeWays } from "./storeWay.ts";
import type { Tampering } from "./tampering.ts";
import { type FleetTrust, fleetTrust } from "./trust/fleetTrust.ts";

/** Sees what our processes do. */
export interface FleetWatcher {
  wrote(write: Write): void;
  /** One end of a stream has sent a message. */
  sent(clusterName: string, message: Down | Up): void;
  /** The link of an agent has handed on what is desired. */
  told(process: string, desired: DesiredUpdate): void;
  /** An agent could not list or watch a kind (`kindKeyOf`) of its cluster. */
  failedToRead(clusterName: string, kindKey: string): void;
  /** What an agent receives of what it may write, and its answers. */
  readonly modes: Pick<Modes, "started" | "noticed" | "answered">;
  /** A loop has thrown: our fault. */
  crashed(process: string, error: unknown): void;
}

export interface FleetOptions {
  readonly clusters: readonly string[];
  readonly seed: number;
  readonly tampering?: Tampering;
  readonly watcher: FleetWatcher;
  readonly log: Log;
  /** What the clusters hold at the start. Default: nothing. */
  readonly image?: FleetImage;
  /** Servers share a store, and one of them is elected to lead. Default: there is one server without a store. */
  readonly hasStore?: boolean;
  /** An agent has two replicas, of which one is elected to lead. Default: it is alone, and a second one takes turns with it. */
  readonly hasAgentReplicas?: boolean;
  /** The meshes have control planes and proxies with certificates. Default: they have none. */
  readonly hasTrust?: boolean;
}

/** What all clusters of a fleet hold at one moment. */
export interface FleetImage {
  readonly at: number;
  readonly management: ClusterImage;
  readonly clusters: ReadonlyMap<string, ClusterImage>;
}

/** The real loops over simulated clusters under a virtual clock, and all that can be done to them. */
export interface Fleet {
  readonly clock: VirtualClock;
  /** The date, in milliseconds since 1970: what API servers, kubelets and processes see, which have clocks of their own beside. */
  date(): number;
  /** So much time passes at once, in which nobody does anything: as all machines see it that were asleep. */
  passTime(ms: number): void;
  readonly network: DisturbedNetwork & { cut(name: string): void; silence(name: string): void; mend(name: string): void };
  readonly management: SimulatedCluster;
  readonly clusters: ReadonlyMap<string, SimulatedCluster>;
  /** How long messages and calls take from now on, at most, in milliseconds. */
  delays: { network: number; apiServer: number };
  readonly calls: CallFaults;
  readonly certificates: Certificates;
  /** Undefined where meshes have no certificates. */
  readonly trust: FleetTrust | undefined;
  /** Whether calls to a cluster's API server fail or take their time. */
  isTroubled(clusterName: string): boolean;
  /** No more faults, delays or cuts; what our processes do is left to them. */
  heal(): void;
  /** Those that run, by their ids. */
  readonly servers: ReadonlyMap<string, ServerProcess>;
  /** The server that may write into the management cluster now. */
  leader(): ServerProcess | undefined;
  /** Whether agents have replicas. */
  readonly hasAgentReplicas: boolean;
  /** The replicas of a cluster's agent that run, or its twins. */
  agentsOf(clusterName: string): readonly string[];
  /** The replicas of a cluster's agent that run and lead. */
  leadingAgents(clusterName: string): readonly AgentProcess[];
  /** Undefined where there is one server only. */
  readonly store: MemoryStore | undefined;
  /** How each server reaches it, by the server's id. */
  readonly storeWays: StoreWays;
  /** The clock of a process, of whose name this is, is set forward by so much from now on, against that of all others; or back. */
  setClock(process: string, ms: number): void;
  /** Which server the agent of a cluster goes to from now on, while it runs. */
  route(clusterName: string, server: string): void;
  /** Calls of a process to API servers take so long from now on. */
  slowDown(process: string, ms: number): void;
  /** What all processes tell of themselves when they are asked. */
  figures(): readonly Metric[];
  /** How often the two ends of a stream have found that they hold different objects, since the server has started. */
  resyncs(): number;
  startServer(id?: string): void;
  /** Kills it, or lets it end in order. */
  stopServer(id?: string, inOrder?: boolean): Promise<void>;
  /** Lets time pass until those that end in order have ended. */
  serversEnded(): Promise<void>;
  startAgent(clusterName: string, instance: string): void;
  stopAgent(clusterName: string, instance: string): Promise<void>;
  stop(): Promise<void>;
  image(): FleetImage;
}

export function startFleet(options: FleetOptions): Fleet {
  const {
    clusters: names,
    seed,
    tampering = {},
    image,
    watcher,
    log,
    hasStore = false,
    hasAgentReplicas = false,
    hasTrust = false,
  } = options;
  const clock = virtualClock(image?.at);
  const random = seededRandom(seed ^ 0x5eed);
  const delays = { network: 0, apiServer: 0 };
  const calls = callFaults();
  let passed = 0;
  const dates: VirtualClock = {
    ...clock,
    now: () => clock.now() + passed,
    get next() {
      return clock.next;
    },
  };
  const shownCertificates = certificates(dates);
  const inner = inMemoryNetwork({ clock, delayMs: () => delayed(random, delays.network) });
  const { sent, crashed, wrote } = watcher;
  const network = disturbedNetwork({ network: inner, clock, lateMs: 700, sent, ...tampering.network });
  const simulated = (name: string, from: ClusterImage | undefined) =>
    simulatedCluster({ name, clock: dates, kinds: SIMULATED, historyLimit: 256, ...(from === undefined ? {} : { image: from }) });
  const management = simulated("", image?.management);
  const clusters = new Map(names.map((name) => [name, simulated(name, image?.clusters.get(name))]));
  const trust = hasTrust ? fleetTrust({ clock: dates, management, clusters, seed }) : undefined;
  const agents = new Map<string, AgentProcess>();
  const servers = new Map<string, ServerProcess>();
  /** Those that end in order, and have not ended yet. */
  const ending = new Set<ServerProcess>();
  const routes = new Map<string, string>();
  const slow = new Map<string, number>();
  const skews = new Map<string, number>();
  const ways = storeWays();
  let starts = 0;
  const store = hasStore ? memoryStore({ clock, id: () => `store ${++starts}` }) : undefined;

  function portOf(cluster: SimulatedCluster, actor: string): Cluster {
    const lagMs = () => delayed(random, delays.apiServer) + (slow.get(actor) ?? 0);
    const failedToRead = (kindKey: string) => watcher.failedToRead(cluster.name, kindKey);
    return actorPort(cluster, { actor, clock, wrote, lagMs, failedToRead, ...calls.hooks(cluster.name) });
  }

  const shared = { random: random.next, log, tampering, crashed };

  function clockOf(process: string): Clock {
    const own = { now: () => dates.now() + (skews.get(process) ?? 0), uptime: () => clock.now(), sleep: clock.sleep };
    return tampering.clock?.(own) ?? own;
  }

  function isRevoked(clusterName: string): boolean {
    const { annotations = {} } = management.object(refOf(kubernetesCluster(clusterName)))?.metadata ?? {};
    const { revokedBefore = 0 } = revocationOf(annotations[REVOKED_BEFORE]);
    return shownCertificates.issuedAt(clusterName) < revokedBefore;
  }

  /** An agent goes where it is routed to, or else to any server. */
  function accept(peer: Parameters<Acceptor>[0], stream: Parameters<Acceptor>[1]): ReturnType<Acceptor> {
    const server = servers.get(routes.get(peer.clusterName) ?? "1") ?? [...servers.values()][0];
    if (server === undefined) throw new Error("nobody listens");
    if (isRevoked(peer.clusterName)) throw new RelayError("CertificateRefused", `the certificates of ${peer.clusterName} were revoked`);
    const expiresAt = shownCertificates.expiresAt(peer.clusterName);
    return server.link.accept(expiresAt === undefined ? peer : { ...peer, expiresAt }, stream);
  }

  function startServer(id = "1"): void {
    if (servers.has(id) || (id !== "1" && store === undefined)) return;
    const name = `server ${++starts}`;
    const sharing = store === undefined ? {} : { store: ways.over(id, store) };
    const places = seed % 3 === 0 ? { places: 1 } : {};
    const sizes = hasTrust ? { messageBytes: TRUST_MESSAGE_BYTES } : {};
    servers.set(
      id,
      startServerProcess({ ...shared, ...sharing, ...places, ...sizes, clock: clockOf(name), name, cluster: portOf(management, name) }),
    );
    inner.listen(accept);
  }

  async function stopServer(id = "1", inOrder = false): Promise<void> {
    const server = servers.get(id);
    if (server === undefined) return;
    servers.delete(id);
    if (servers.size === 0) inner.listen(undefined);
    // It gives its lead back later than it ends.
    if (!inOrder) return killed(server, clock);
    ending.add(server);
    void server.end().finally(() => ending.delete(server));
  }

  function startAgent(clusterName: string, id: string): void {
    const cluster = clusters.get(clusterName);
    const name = agentName(clusterName, id);
    if (cluster === undefined || agents.has(name)) return;
    const instance = `${id}-${++starts}`;
    const told = (desired: DesiredUpdate) => watcher.told(name, desired);
    const connector = shownCertificates.shown(clusterName, network.connector(clusterName));
    const port = { cluster: portOf(cluster, name), connector, told, modes: watcher.modes };
    agents.set(name, startAgentProcess({ ...shared, ...port, clock: clockOf(name), name, instance, isReplica: hasAgentReplicas }));
  }

  async function stopAgent(name: string): Promise<void> {
    const agent = agents.get(name);
    agents.delete(name);
    if (agent !== undefined) await killed(agent, clock);
  }

  return {
    clock,
    date: dates.now,
    passTime(ms) {
      passed += ms;
    },
    network: { ...network, cut: inner.cut, silence: inner.silence, mend: inner.heal },
    management,
    clusters,
    delays,
    calls,
    certificates: shownCertificates,
    trust,
    servers,
    store,
    storeWays: ways,
    setClock: (process, ms) => void skews.set(process, ms),
    leader: () => [...servers.values()].find(({ leadership }) => leadership.isLeader),
    hasAgentReplicas,
    agentsOf: (clusterName) => ["1", "2"].filter((id) => agents.has(agentName(clusterName, id))),
    leadingAgents: (clusterName) =>
      ["1", "2"].flatMap((id) => agents.get(agentName(clusterName, id)) ?? []).filter(({ leadership }) => leadership.isLeader),
    route: (clusterName, server) => void routes.set(clusterName, server),
    slowDown: (process, ms) => void slow.set(process, ms),
    isTroubled(clusterName) {
      const cluster = clusterName === "" ? management : clusters.get(clusterName);
      return delays.apiServer > 0 || calls.isPlanned(clusterName) || cluster?.faults.isReachable === false;
    },
    heal() {
      calls.heal();
      shownCertificates.heal();
      // The one who was revoked registers again.
      for (const name of clusters.keys()) if (isRevoked(name)) shownCertificates.rotate(name);
      delays.network = 0;
      delays.apiServer = 0;
      slow.clear();
      skews.clear();
      ways.heal();
      store?.faults.full(false);
      store?.faults.slow(0);
      store?.faults.start();
      network.heal();
      for (const cluster of [management, ...clusters.values()]) {
        cluster.faults.heal();
        inner.heal(cluster.name);
      }
    },
    figures: () => [
      ...[...servers.values()].flatMap(({ server, link }) => [...server.metrics(), ...link.metrics()]),
      ...[...agents.values()].flatMap(({ agent }) => agent.metrics()),
    ],
    resyncs() {
      const all = [...servers.values()].flatMap(({ link }) => link.metrics());
      const found = all.filter(({ name }) => name === "relay_server_resyncs_total");
      return found.reduce((sum, { value }) => sum + value, 0);
    },
    startServer,
    stopServer,
    async serversEnded() {
      while (ending.size > 0) await clock.advance(ENDING_MS);
    },
    startAgent,
    stopAgent: (clusterName, id) => stopAgent(agentName(clusterName, id)),
    image: () => ({
      at: dates.now(),
      management: management.image(),
      clusters: new Map([...clusters].map(([name, cluster]) => [name, cluster.image()])),
    }),
    async stop() {
      await Promise.all([...agents.keys()].map(stopAgent));
      await Promise.all([...servers.keys()].map((id) => stopServer(id)));
    },
  };
}

/** How often is looked whether servers have ended. */
const ENDING_MS = 100;

function delayed(random: Random, most: number): number {
  return most === 0 ? 0 : Math.floor(random.next() * (most + 1));
}
