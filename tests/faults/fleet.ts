import { setMaxListeners } from "node:events";
import { allKinds } from "@isthmus/api";
import { type Kind, kindKeyOf, type ResourceRef } from "@isthmus/core";
import {
  type Agent,
  agentAnswers,
  agentRoles,
  RESUME_DELETES_TOPIC,
  type Server,
  serverRoles,
  startAgent,
  startServer,
} from "@isthmus/plane";
import type { AgentLink, AgentLinkHandler, Cluster, Log, ServerLinkHandler } from "@isthmus/plane/ports";
import { inMemoryNetwork } from "@isthmus/relay/inMemory";
import { type RunningServerLink, startAgentLink, startServerLink } from "@isthmus/relay/session";
import { type ClusterImage, type SimulatedCluster, simulatedCluster, type Verb, type VirtualClock, virtualClock } from "@isthmus/simulator";
import { actorPort, type CallFault, type Write } from "./actorPort.ts";
import { type DisturbedNetwork, type DisturbedNetworkOptions, disturbedNetwork } from "./disturbedNetwork.ts";
import { NAMESPACE } from "./objects.ts";
import { type Random, seededRandom } from "./random.ts";

/**
 * What a test puts between the loops and their ports to switch a safety rule off: the suite must notice. Each takes what
 * the loops would get and gives what they get instead.
 */
export interface Tampering {
  readonly agentCluster?: (cluster: Cluster) => Cluster;
  readonly serverCluster?: (cluster: Cluster) => Cluster;
  readonly agentLink?: (link: AgentLink, kinds: readonly string[]) => AgentLink;
  readonly agentHandler?: (handler: AgentLinkHandler) => AgentLinkHandler;
  readonly serverHandler?: (handler: ServerLinkHandler) => ServerLinkHandler;
  readonly network?: Pick<DisturbedNetworkOptions, "outOfTime" | "forged">;
}

export interface FleetOptions {
  readonly clusters: readonly string[];
  readonly seed: number;
  readonly tampering?: Tampering;
  readonly wrote: (write: Write) => void;
  readonly log: Log;
  /** What the clusters hold at the start. Default: nothing. */
  readonly image?: FleetImage;
  /** A loop has thrown: our fault. */
  readonly crashed: (process: string, error: unknown) => void;
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
  /** What goes wrong with the next calls of our processes to a cluster's API server, in order. "" is the management cluster. */
  failNext(clusterName: string, fault: CallFault & { readonly verbs: readonly Verb[] }): void;
  /** Does something once, right after one of our processes has read an object of a cluster by name: the `skip`th time from now. */
  afterRead(clusterName: string, skip: number, act: (ref: ResourceRef) => void): void;
  /** Whether calls to a cluster's API server fail or take their time. */
  isTroubled(clusterName: string): boolean;
  /** No more faults, delays or cuts; what our processes do is left to them. */
  heal(): void;
  readonly server: Server | undefined;
  startServer(): void;
  stopServer(): Promise<void>;
  isAgentRunning(clusterName: string, instance: string): boolean;
  startAgent(clusterName: string, instance: string): void;
  stopAgent(clusterName: string, instance: string): Promise<void>;
  stop(): Promise<void>;
  image(): FleetImage;
}

interface Process {
  readonly stop: AbortController;
  readonly ended: Promise<unknown>;
}

export function startFleet({ clusters: names, seed, tampering = {}, image, wrote, log, crashed }: FleetOptions): Fleet {
  const clock = virtualClock(image?.at);
  const random = seededRandom(seed ^ 0x5eed);
  const delays = { network: 0, apiServer: 0 };
  const inner = inMemoryNetwork({ clock, delayMs: () => delayed(random, delays.network) });
  const network = disturbedNetwork({ network: inner, clock, lateMs: 700, ...tampering.network });
  const simulated = (name: string, from: ClusterImage | undefined) =>
    simulatedCluster({ name, clock, kinds: SIMULATED, historyLimit: 256, ...(from === undefined ? {} : { image: from }) });
  const management = simulated("", image?.management);
  const clusters = new Map(names.map((name) => [name, simulated(name, image?.clusters.get(name))]));
  const agents = new Map<string, Process>();
  const world = quietController();
  let starts = 0;
  let running: (Process & { readonly server: Server }) | undefined;

  const readers = new Map<string, readonly { readonly skip: number; readonly act: (ref: ResourceRef) => void }[]>();
  const faults = new Map<string, (CallFault & { readonly verbs: readonly Verb[] })[]>();

  function portOf(cluster: SimulatedCluster, actor: string): Cluster {
    const lagMs = () => delayed(random, delays.apiServer);
    const faultOf = (verb: Verb) => {
      const planned = faults.get(cluster.name) ?? [];
      const next = planned.findIndex(({ verbs }) => verbs.includes(verb));
      return next < 0 ? undefined : planned.splice(next, 1)[0];
    };
    const wasRead = (ref: ResourceRef) => {
      const next = (readers.get(cluster.name) ?? []).map((reader) => ({ ...reader, skip: reader.skip - 1 }));
      readers.set(
        cluster.name,
        next.filter(({ skip }) => skip >= 0),
      );
      for (const { skip, act } of next) if (skip < 0) act(ref);
    };
    return actorPort(cluster, { actor, clock, wrote, lagMs, faultOf, wasRead });
  }

  const shared = { clock, random: random.next, log };

  function watched(process: string, ended: Promise<unknown>): Promise<unknown> {
    return ended.catch((error: unknown) => crashed(process, error));
  }

  function startOneServer(): void {
    if (running !== undefined) return;
    const stop = quietController();
    const serverId = `server ${++starts}`;
    let link: RunningServerLink | undefined;
    const server: Server = startServer(
      {
        ...shared,
        cluster: tampering.serverCluster?.(portOf(management, serverId)) ?? portOf(management, serverId),
        link: (handler) => {
          const told = tampering.serverHandler?.(handler) ?? handler;
          const remembers = (name: string) => server.store.remembers(name);
          link = startServerLink({ ...shared, serverId, handler: told, remembers }, stop.signal);
          return link;
        },
        ...SERVER_ROLES,
        resumeDeletes: async (name) => {
          await link?.ask(name, { topic: RESUME_DELETES_TOPIC, body: new Uint8Array() }, stop.signal);
        },
        namespace: NAMESPACE,
        translation: { namespace: NAMESPACE, stage: "all" },
      },
      stop.signal,
    );
    inner.listen(link?.accept);
    running = { server, stop, ended: watched(serverId, server.ended) };
  }

  async function stopOneServer(): Promise<void> {
    if (running === undefined) return;
    const { stop, ended } = running;
    running = undefined;
    inner.listen(undefined);
    stop.abort(new Error("the server was killed"));
    await ended;
  }

  function startOneAgent(clusterName: string, instance: string): void {
    const cluster = clusters.get(clusterName);
    const process = `agent ${clusterName}/${instance}`;
    if (cluster === undefined || agents.has(process)) return;
    const stop = quietController();
    const kinds = ROLES.sentKinds.map(kindKeyOf);
    const port = portOf(cluster, process);
    const agent: Agent = startAgent(
      {
        ...shared,
        ...ROLES,
        cluster: tampering.agentCluster?.(port) ?? port,
        link: (handler) => {
          const info = { instance: `${instance}-${++starts}`, version: "1.0.0", agentNamespace: NAMESPACE, clusterUid: clusterName };
          const link = startAgentLink(
            {
              ...shared,
              clusterName,
              kinds,
              agent: info,
              answer: agentAnswers(() => agent),
              connector: network.connector(clusterName),
              handler: tampering.agentHandler?.(handler) ?? handler,
            },
            stop.signal,
          );
          void watched(`link of ${process}`, link.closed);
          return tampering.agentLink?.(link, kinds) ?? link;
        },
      },
      stop.signal,
    );
    agents.set(process, { stop, ended: watched(process, agent.ended) });
  }

  async function stopOneAgent(process: string): Promise<void> {
    const agent = agents.get(process);
    agents.delete(process);
    agent?.stop.abort(new Error("the agent was killed"));
    await agent?.ended;
  }

  return {
    clock,
    network: { ...network, cut: inner.cut, silence: inner.silence, mend: inner.heal },
    management,
    clusters,
    delays,
    failNext: (clusterName, fault) => void faults.set(clusterName, [...(faults.get(clusterName) ?? []), fault]),
    afterRead: (clusterName, skip, act) => void readers.set(clusterName, [...(readers.get(clusterName) ?? []), { skip, act }]),
    isTroubled(clusterName) {
      const cluster = clusterName === "" ? management : clusters.get(clusterName);
      return delays.apiServer > 0 || (faults.get(clusterName) ?? []).length > 0 || cluster?.faults.isReachable === false;
    },
    heal() {
      faults.clear();
      readers.clear();
      delays.network = 0;
      delays.apiServer = 0;
      network.heal();
      for (const cluster of [management, ...clusters.values()]) {
        cluster.faults.heal();
        inner.heal(cluster.name);
      }
    },
    get server() {
      return running?.server;
    },
    startServer: startOneServer,
    stopServer: stopOneServer,
    isAgentRunning: (clusterName, instance) => agents.has(`agent ${clusterName}/${instance}`),
    startAgent: startOneAgent,
    stopAgent: (clusterName, instance) => stopOneAgent(`agent ${clusterName}/${instance}`),
    image: () => ({
      at: clock.now(),
      management: management.image(),
      clusters: new Map([...clusters].map(([name, cluster]) => [name, cluster.image()])),
    }),
    async stop() {
      await Promise.all([...agents.keys()].map(stopOneAgent));
      await stopOneServer();
      world.abort();
    },
  };
}

function delayed(random: Random, most: number): number {
  return most === 0 ? 0 : Math.floor(random.next() * (most + 1));
}

// What these schedules never have (nodes, OSM) is left out: it would only cost time.
const UNUSED = new Set(["Node", "Endpoints", "DaemonSet", "StatefulSet", "Sidecar", "OsmMeshConfig", "TrafficSplit", "TrafficTarget"]);
const UNUSED_TOO = new Set([
  "HTTPRouteGroup",
  "TCPRoute",
  "IssuedCertificate",
  "PodBounceDirective",
  "CertificateRequest",
  "VirtualDestination",
]);
const isUsed = ({ kind }: Kind) => !UNUSED.has(kind) && !UNUSED_TOO.has(kind);
const SIMULATED = allKinds().filter(isUsed);
const ALL = agentRoles(NAMESPACE);

/** What the agents deal with. */
export const ROLES = { ...ALL, sentKinds: ALL.sentKinds.filter(isUsed), writtenKinds: ALL.writtenKinds.filter(isUsed) };
/** What the server reads in the management cluster. */
export const SERVER_ROLES = serverRoles(NAMESPACE);

/** Every watch of every kind listens to one signal: that is no leak. */
function quietController(): AbortController {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  return controller;
}
