import { randomUUID } from "node:crypto";
import { kindKeyOf, type Resource } from "@isthmus/core";
import {
  type Agent,
  type AgentLink,
  type AgentLinkHandler,
  agentRoles,
  answerQuery,
  type Cluster,
  startAgent,
  systemClock,
} from "@isthmus/plane";
import { grpcConnector, type RelayCredentials } from "@isthmus/relay";
import { type Connector, startAgentLink } from "@isthmus/relay/session";
import { PLANE } from "../planeObjects.ts";
import { benchLog } from "./benchLog.ts";
import type { ServerAddress } from "./serverUnderTest.ts";

/** One agent over real mTLS gRPC. */
export interface RunningAgent {
  /** The last revision that was desired, and the last that was answered; 0: none. */
  readonly progress: { desired: number; answered: number };
  /** When it last heard of a desired set or answered one, in milliseconds of `performance.now()`. */
  readonly lastActiveAt: number;
  /** Settles with the time of the first answer to a complete set. */
  readonly inSync: Promise<number>;
  readonly ended: Promise<unknown>;
}

/** Keeps the certificates of agents that are started again. */
export type Wallet = Map<string, RelayCredentials>;

export interface AgentPlace {
  readonly clusterName: string;
  readonly address: ServerAddress;
  readonly wallet: Wallet;
}

const ROLES = agentRoles(PLANE);

/** The real agent of a cluster. */
export function startWholeAgent(place: AgentPlace, cluster: Cluster, signal: AbortSignal): RunningAgent {
  const watched = watchedLink(place, signal);
  const agent: Agent = startAgent(
    { cluster, link: (handler) => watched.start(handler, () => agent), ...ROLES, clock: systemClock, random: Math.random, log: benchLog },
    signal,
  );
  return watched.running(agent.ended);
}

/** Only an agent's end of the relay: it reports some objects, and says of everything desired that it is applied. */
export function startReporter(place: AgentPlace, objects: readonly Resource[], signal: AbortSignal): RunningAgent {
  const watched = watchedLink(place, signal);
  const link = watched.start({
    desired: ({ revision }) => link.acknowledge({ revision, rejected: [] }),
    notices: () => undefined,
    state: () => undefined,
  });
  link.observe({ put: objects, remove: [] });
  link.synced(ROLES.sentKinds.map(kindKeyOf), []);
  return watched.running(Promise.resolve());
}

/** Of an agent that has the token and keeps its certificate in the wallet. */
export function connectorOf({ clusterName, address, wallet }: AgentPlace): Connector {
  return grpcConnector({
    ...ENVIRONMENT,
    address: `127.0.0.1:${address.port}`,
    clusterName,
    clusterUid: uidOf(clusterName),
    root: async () => address.root,
    token: async () => address.token,
    credentials: {
      load: async () => wallet.get(clusterName),
      save: async (credentials) => void wallet.set(clusterName, credentials),
    },
  });
}

const ENVIRONMENT = { clock: systemClock, random: Math.random, log: benchLog };

function uidOf(clusterName: string): string {
  return `uid-of-${clusterName}`;
}

function watchedLink({ clusterName, address, wallet }: AgentPlace, signal: AbortSignal) {
  const progress = { desired: 0, answered: 0, lastActiveAt: performance.now() };
  let closed: Promise<void> | undefined;
  let synced: (at: number) => void = () => undefined;
  const inSync = new Promise<number>((resolve) => {
    synced = resolve;
  });
  const clusterUid = uidOf(clusterName);
  const connector = connectorOf({ clusterName, address, wallet });

  return {
    start(handler: AgentLinkHandler, agent?: () => Agent): AgentLink {
      const link = startAgentLink(
        {
          ...ENVIRONMENT,
          clusterName,
          kinds: ROLES.sentKinds.map(kindKeyOf),
          userKinds: ROLES.userKinds.map(kindKeyOf),
          agent: { instance: randomUUID(), version: "bench", agentNamespace: PLANE, clusterUid },
          connector,
          handler: {
            desired(desired) {
              progress.desired = desired.revision;
              progress.lastActiveAt = performance.now();
              handler.desired(desired);
            },
            notices: (notices) => handler.notices(notices),
            state: (state, detail) => handler.state(state, detail),
          },
          ...(agent === undefined ? {} : { answer: answerQuery(agent) }),
        },
        signal,
      );
      closed = link.closed;
      return {
        observe: (observation) => link.observe(observation),
        synced: (kinds, unserved) => link.synced(kinds, unserved),
        acknowledge(acknowledgement) {
          progress.answered = acknowledgement.revision;
          progress.lastActiveAt = performance.now();
          synced(progress.lastActiveAt);
          link.acknowledge(acknowledgement);
        },
      };
    },
    running: (ended: Promise<unknown>): RunningAgent => ({
      progress,
      get lastActiveAt() {
        return progress.lastActiveAt;
      },
      inSync,
      ended: Promise.all([ended, closed]),
    }),
  };
}
