import type { Clock, Log, Metric } from "@isthmus/core";
import type { Acceptor } from "./connection.ts";
import type { ServerLink, ServerLinkHandler } from "./link.ts";
import type { Query } from "./queries.ts";
import type { ReportFilter } from "./reportFilter.ts";

export interface ServerLinkOptions {
  /** Names this replica to the agents, for instance by its Pod's name. */
  readonly serverId: string;
  readonly handler: ServerLinkHandler;
  readonly clock: Clock;
  /** 0..1 */
  readonly random: () => number;
  readonly log: Log;
  /** How often both ends say that they are there. Default: 10 s (decisions §5.6). */
  readonly heartbeatMs?: number;
  /** The most that one message of either end may hold; agents obey it. Default: 1 MiB, which is also the most (decisions §4.7). */
  readonly maxMessageBytes?: number;
  /**
   * Whether the loops still know everything that they received of a cluster on earlier connections. Where they do, an agent
   * that comes back reports only what has changed meanwhile. Default: never.
   */
  readonly remembers?: (clusterName: string) => boolean;
  /** How many agents may be bringing everything across at a time; others wait for their turn. Default: 16. */
  readonly places?: number;
  /**
   * The loops `tell` every cluster something as soon as they can: agents report nothing before they have heard it. Default: they
   * report at once.
   */
  readonly tellsFirst?: boolean;
  /** What of agents' reports is taken. Default: everything. */
  readonly reportFilter?: ReportFilter;
}

export interface RunningServerLink extends ServerLink {
  /** Takes streams; for transports. */
  readonly accept: Acceptor;
  /** Asks a connected agent. Rejects when it is not connected, has no answer, or goes away. */
  ask(clusterName: string, query: Query, signal: AbortSignal): Promise<Uint8Array>;
  /** Sends all agents away, to connect again (perhaps to another replica) after about this time. */
  drain(reconnectAfterMs: number): void;
  /** Settles when the link was aborted and its streams have ended. */
  readonly closed: Promise<void>;
  metrics(): readonly Metric[];
}
