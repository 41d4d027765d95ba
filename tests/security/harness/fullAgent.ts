import { kindKeyOf, type Log, type Meter } from "@isthmus/core";
import { type Agent, type AgentLimits, agentRoles, answerQuery, startAgent, systemClock } from "@isthmus/plane";
import type { Connector } from "@isthmus/relay/session";
import { startAgentLink } from "@isthmus/relay/session";
import type { SimulatedCluster } from "@isthmus/simulator";
import { NAMESPACE } from "./replicas.ts";

export interface FullAgentOptions {
  readonly cluster: SimulatedCluster;
  readonly clusterUid: string;
  readonly connector: Connector;
  readonly log: Log;
  /** What it lets its server do at most. Default: as an agent without flags. */
  readonly limits?: AgentLimits;
  readonly meter?: Meter;
  /** Hears how its connection is. */
  readonly state?: (state: string, detail: string) => void;
}

/** An agent with all its loops, which reports its cluster and applies what the server wants. */
export function startFullAgent(
  { cluster, clusterUid, connector, log, limits, meter, state }: FullAgentOptions,
  signal: AbortSignal,
): Agent {
  const roles = agentRoles(NAMESPACE);
  const clock = systemClock;
  const random = Math.random;
  const agent: Agent = startAgent(
    {
      cluster,
      link: (handler) =>
        startAgentLink(
          {
            clusterName: cluster.name,
            kinds: roles.sentKinds.map(kindKeyOf),
            agent: { instance: `agent of ${cluster.name}`, version: "test", agentNamespace: NAMESPACE, clusterUid },
            connector,
            handler: {
              ...handler,
              state(now, detail) {
                state?.(now, detail);
                handler.state(now, detail);
              },
            },
            answer: answerQuery(() => agent),
            clock,
            random,
            log,
          },
          signal,
        ),
      ...roles,
      ...(limits === undefined ? {} : { limits }),
      ...(meter === undefined ? {} : { meter }),
      clock,
      random,
      log,
    },
    signal,
  );
  return agent;
}
