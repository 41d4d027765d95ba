import { setMaxListeners } from "node:events";
import { type Clock, kindKeyOf, type Log } from "@isthmus/core";
import { type Agent, answerQuery, RESUME_DELETES_TOPIC, type Server, startAgent, startElection, startServer } from "@isthmus/plane";
import type { Acknowledgement, Cluster, DesiredUpdate, Leadership, Store } from "@isthmus/ports";
import { type Connector, type RunningServerLink, startAgentLink, startServerLink } from "@isthmus/relay/session";
import type { VirtualClock } from "@isthmus/simulator";
import type { Modes } from "./modes.ts";
import { NAMESPACE } from "./objects.ts";
import { ROLES, SERVER_ROLES } from "./roles.ts";
import type { Tampering } from "./tampering.ts";

/** A process of ours, as good as running by itself. */
export interface Process {
  readonly name: string;
  readonly stop: AbortController;
  readonly ended: Promise<unknown>;
}

export interface AgentProcess extends Process {
  readonly agent: Agent;
  readonly leadership: Leadership;
}

export interface ServerProcess extends Process {
  readonly server: Server;
  readonly link: RunningServerLink;
  readonly leadership: Leadership;
  /** Ends it in order: the lead goes to another replica at once. */
  end(): Promise<void>;
}

export interface ProcessOptions {
  readonly name: string;
  /** The cluster as this process reaches it. */
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  readonly tampering: Tampering;
  /** A loop has thrown: our fault. */
  readonly crashed: (process: string, error: unknown) => void;
}

// With messages as small as these every set goes in parts, and an object too large to travel costs little.
export const MAX_MESSAGE_BYTES = 12 * 1024;
/** An object may be smaller by 8 KiB, which belong to what is around it. */
export const MAX_OBJECT_BYTES = 4 * 1024;
/** What is reported of the trust of a mesh has the certificates of several roots in it. */
export const TRUST_MESSAGE_BYTES = 48 * 1024;

export interface ServerProcessOptions extends ProcessOptions {
  /** How many agents may report everything at a time. Default: more than there are. */
  readonly places?: number;
  /** Shared with other replicas, of which one is elected to lead. Undefined: there is no other. */
  readonly store?: Store;
  /** Default: `MAX_MESSAGE_BYTES`. */
  readonly messageBytes?: number;
}

/** The Lease of the servers. */
export const SERVER_LEASE = { name: "gloo-mesh-mgmt-server", namespace: NAMESPACE };

export function startServerProcess(options: ServerProcessOptions): ServerProcess {
  const { name, clock, random, log, tampering, crashed, cluster, store, places, messageBytes = MAX_MESSAGE_BYTES } = options;
  const { maxMessageBytes = messageBytes } = tampering;
  const stop = quietController();
  const shared = { clock, random, log };
  let link: RunningServerLink | undefined;
  const election =
    store === undefined ? undefined : startElection({ ...shared, cluster, lease: SERVER_LEASE, identity: name }, stop.signal);
  const elected: Leadership = election ?? ALONE;
  const leadership = tampering.leadership?.(elected) ?? elected;
  const server: Server = startServer(
    {
      ...shared,
      // Everything else may happen between any two steps.
      sliceMs: 0,
      leadership,
      ...(store === undefined ? {} : { sharing: { store: tampering.store?.(store) ?? store, replica: name } }),
      ...SERVER_ROLES,
      cluster: tampering.serverCluster?.(cluster) ?? cluster,
      link: (handler, reportFilter) => {
        const told = tampering.serverHandler?.(handler) ?? handler;
        const remembers = (clusterName: string) => server.store.remembers(clusterName);
        link = startServerLink(
          {
            ...shared,
            serverId: name,
            handler: told,
            reportFilter,
            remembers,
            tellsFirst: true,
            maxMessageBytes,
            ...(places === undefined ? {} : { places }),
          },
          stop.signal,
        );
        return link;
      },
      resumeDeletes: async (clusterName) => {
        await link?.ask(clusterName, { topic: RESUME_DELETES_TOPIC, body: new Uint8Array() }, stop.signal);
      },
      namespace: NAMESPACE,
      translation: { namespace: NAMESPACE, stage: "all" },
    },
    stop.signal,
  );
  if (link === undefined) throw new Error("the server created no link");
  const ended = Promise.all([server.ended, election?.ended]).catch((error: unknown) => crashed(name, error));
  return {
    name,
    server,
    link,
    leadership: elected,
    stop,
    ended,
    async end() {
      stop.abort(new Error(`${name} ends`));
      await ended;
      await election?.resign().catch(() => undefined);
    },
  };
}

/** The Lease of an agent's replicas. */
export const AGENT_LEASE = { name: "gloo-mesh-agent", namespace: NAMESPACE };

/** What an agent is called as a process: the `id` tells replicas, or twins, of one cluster apart. */
export function agentName(clusterName: string, id: string): string {
  return `agent ${clusterName}/${id}`;
}

/** Who holds the Lease, as `FleetWatcher` names it. */
export function processOf(holderIdentity: string): string {
  return holderIdentity.split("#")[0] ?? "";
}

export interface AgentProcessOptions extends ProcessOptions {
  /** No two agents have the same, not even one after the other. */
  readonly instance: string;
  /** It is one of several replicas, of which one is elected to lead. */
  readonly isReplica: boolean;
  readonly connector: Connector;
  /** The link has handed this to the agent's loops. */
  readonly told: (desired: DesiredUpdate) => void;
  readonly modes: Pick<Modes, "started" | "noticed" | "answered">;
}

export function startAgentProcess(options: AgentProcessOptions): AgentProcess {
  const { name, cluster, clock, random, log, tampering, crashed, instance, isReplica, connector, told, modes } = options;
  const stop = quietController();
  const shared = { clock, random, log };
  const lease = { cluster, lease: AGENT_LEASE, identity: `${name}#${instance}` };
  const election = isReplica ? startElection({ ...shared, ...lease }, stop.signal) : undefined;
  const leadership: Leadership = election ?? ALONE;
  const sentKinds = tampering.sentKinds?.(ROLES.sentKinds) ?? ROLES.sentKinds;
  const kinds = sentKinds.map(kindKeyOf);
  let turns = 0;
  const agent: Agent = startAgent(
    {
      ...shared,
      ...ROLES,
      sentKinds,
      leadership: tampering.agentLeadership?.(leadership) ?? leadership,
      cluster: tampering.agentCluster?.(cluster) ?? cluster,
      link: (handler, turn) => {
        const inner = tampering.agentHandler?.(handler) ?? handler;
        modes.started(name);
        const link = startAgentLink(
          {
            ...shared,
            clusterName: cluster.name,
            kinds,
            userKinds: ROLES.userKinds.map(kindKeyOf),
            agent: { instance: `${instance}.${++turns}`, version: "1.0.0", agentNamespace: NAMESPACE, clusterUid: cluster.name },
            answer: answerQuery(() => agent),
            connector,
            handler: {
              ...inner,
              desired(desired) {
                told(desired);
                inner.desired(desired);
              },
              notices(notices) {
                modes.noticed(name, notices.put);
                inner.notices(notices);
              },
            },
          },
          turn,
        );
        void link.closed.catch((error: unknown) => crashed(`link of ${name}`, error));
        const answering = {
          ...link,
          acknowledge(acknowledgement: Acknowledgement) {
            link.acknowledge(acknowledgement);
            if (acknowledgement.mode !== undefined) modes.answered(name);
          },
        };
        return tampering.agentLink?.(answering, kinds) ?? answering;
      },
    },
    stop.signal,
  );
  const ended = Promise.all([agent.ended, election?.ended]).catch((error: unknown) => crashed(name, error));
  return { name, agent, leadership, stop, ended };
}

const ALONE: Leadership = { isLeader: true, fence: 0, onChange: () => () => undefined };

/** Kills a process. What it has asked of others and does not wait for any more may still come to pass. */
export async function killed({ name, stop }: Process, clock: VirtualClock): Promise<void> {
  stop.abort(new Error(`${name} was killed`));
  await clock.settle();
}

/** Every watch of every kind listens to one signal: that is no leak. */
function quietController(): AbortController {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  return controller;
}
