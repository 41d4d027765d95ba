import type { Cluster, Desired, Log } from "@isthmus/plane/ports";
import { inMemoryNetwork } from "@isthmus/relay/inMemory";
import { type ClusterImage, type SimulatedCluster, simulatedCluster, type VirtualClock, virtualClock } from "@isthmus/simulator";
import { actorPort, type Write } from "./actorPort.ts";
import { type CallFaults, callFaults } from "./callFaults.ts";
import { type DisturbedNetwork, type Down, disturbedNetwork, type Up } from "./disturbedNetwork.ts";
import { killed, type Process, type ServerProcess, startAgentProcess, startServerProcess } from "./processes.ts";
import { type Random, seededRandom } from "./random.ts";
import { SIMULATED } from "./roles.ts";
import type { Tampering } from "./tampering.ts";

/** Sees what our processes do. */
export interface FleetWatcher {
  wrote(write: Write): void;
  /** One end of a stream has sent a message. */
  sent(clusterName: string, message: Down | Up): void;
  /** The link of an agent has handed on what is wanted. */
  told(process: string, desired: Desired): void;
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
  readonly network: DisturbedNetwork & { cut(name: string): void; silence(name: string): void; mend(name: string): void };
  readonly management: SimulatedCluster;
  readonly clusters: ReadonlyMap<string, SimulatedCluster>;
  /** How long messages and calls take from now on, at most, in milliseconds. */
  delays: { network: number; apiServer: number };
  readonly calls: CallFaults;
  /** Whether calls to a cluster's API server fail or take their time. */
  isTroubled(clusterName: string): boolean;
  /** No more faults, delays or cuts; what our processes do is left to them. */
  heal(): void;
  readonly server: ServerProcess | undefined;
  /** How often the two ends of a stream have found that they hold different objects, since the server has started. */
  resyncs(): number;
  startServer(): void;
  stopServer(): Promise<void>;
  startAgent(clusterName: string, instance: string): void;
  stopAgent(clusterName: string, instance: string): Promise<void>;
  stop(): Promise<void>;
  image(): FleetImage;
}

export function startFleet({ clusters: names, seed, tampering = {}, image, watcher, log }: FleetOptions): Fleet {
  const clock = virtualClock(image?.at);
  const random = seededRandom(seed ^ 0x5eed);
  const delays = { network: 0, apiServer: 0 };
  const calls = callFaults();
  const inner = inMemoryNetwork({ clock, delayMs: () => delayed(random, delays.network) });
  const { sent, crashed, wrote } = watcher;
  const network = disturbedNetwork({ network: inner, clock, lateMs: 700, sent, ...tampering.network });
  const simulated = (name: string, from: ClusterImage | undefined) =>
    simulatedCluster({ name, clock, kinds: SIMULATED, historyLimit: 256, ...(from === undefined ? {} : { image: from }) });
  const management = simulated("", image?.management);
  const clusters = new Map(names.map((name) => [name, simulated(name, image?.clusters.get(name))]));
  const agents = new Map<string, Process>();
  let starts = 0;
  let running: ServerProcess | undefined;

  function portOf(cluster: SimulatedCluster, actor: string): Cluster {
    return actorPort(cluster, { actor, clock, wrote, lagMs: () => delayed(random, delays.apiServer), ...calls.hooks(cluster.name) });
  }

  const shared = { clock, random: random.next, log, tampering, crashed };

  function startServer(): void {
    if (running !== undefined) return;
    const name = `server ${++starts}`;
    running = startServerProcess({ ...shared, name, cluster: portOf(management, name) });
    inner.listen(running.link.accept);
  }

  async function stopServer(): Promise<void> {
    if (running === undefined) return;
    const server = running;
    running = undefined;
    inner.listen(undefined);
    await killed(server);
  }

  function startAgent(clusterName: string, id: string): void {
    const cluster = clusters.get(clusterName);
    const name = agentName(clusterName, id);
    if (cluster === undefined || agents.has(name)) return;
    const instance = `${id}-${++starts}`;
    const told = (desired: Desired) => watcher.told(name, desired);
    const connector = network.connector(clusterName);
    agents.set(name, startAgentProcess({ ...shared, name, cluster: portOf(cluster, name), instance, connector, told }));
  }

  async function stopAgent(name: string): Promise<void> {
    const agent = agents.get(name);
    agents.delete(name);
    if (agent !== undefined) await killed(agent);
  }

  return {
    clock,
    network: { ...network, cut: inner.cut, silence: inner.silence, mend: inner.heal },
    management,
    clusters,
    delays,
    calls,
    isTroubled(clusterName) {
      const cluster = clusterName === "" ? management : clusters.get(clusterName);
      return delays.apiServer > 0 || calls.isPlanned(clusterName) || cluster?.faults.isReachable === false;
    },
    heal() {
      calls.heal();
      delays.network = 0;
      delays.apiServer = 0;
      network.heal();
      for (const cluster of [management, ...clusters.values()]) {
        cluster.faults.heal();
        inner.heal(cluster.name);
      }
    },
    get server() {
      return running;
    },
    resyncs() {
      const found = (running?.link.metrics() ?? []).filter(({ name }) => name === "relay_server_resyncs_total");
      return found.reduce((sum, { value }) => sum + value, 0);
    },
    startServer,
    stopServer,
    startAgent,
    stopAgent: (clusterName, id) => stopAgent(agentName(clusterName, id)),
    image: () => ({
      at: clock.now(),
      management: management.image(),
      clusters: new Map([...clusters].map(([name, cluster]) => [name, cluster.image()])),
    }),
    async stop() {
      await Promise.all([...agents.keys()].map(stopAgent));
      await stopServer();
    },
  };
}

function agentName(clusterName: string, id: string): string {
  return `agent ${clusterName}/${id}`;
}

function delayed(random: Random, most: number): number {
  return most === 0 ? 0 : Math.floor(random.next() * (most + 1));
}
