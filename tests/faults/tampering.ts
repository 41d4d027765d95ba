import type { Clock, Kind } from "@isthmus/core";
import type { AgentLink, AgentLinkHandler, Cluster, Leadership, ServerLinkHandler, Store } from "@isthmus/ports";
import type { DisturbedNetworkOptions } from "./disturbedNetwork.ts";

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
  /** The kinds that agents report. */
  readonly sentKinds?: (kinds: readonly Kind[]) => readonly Kind[];
  readonly maxMessageBytes?: number;
  readonly leadership?: (leadership: Leadership) => Leadership;
  readonly agentLeadership?: (leadership: Leadership) => Leadership;
  readonly store?: (store: Store) => Store;
  readonly clock?: (clock: Clock) => Clock;
  readonly network?: Pick<DisturbedNetworkOptions, "outOfTime" | "forged">;
}
