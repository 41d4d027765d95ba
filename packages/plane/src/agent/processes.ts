import { alwaysLeader } from "../leadership.ts";
import type { Leadership } from "../ports.ts";

/** Which names the product bears: `gloo-mesh-agent` with `gloo-mesh-mgmt-server`, or, before, `enterprise-agent` with `enterprise-networking`. */
export type Generation = "gloo-mesh" | "enterprise";

/** What an agent does, as its documentation names it. */
export type AgentProcess =
  | "relay"
  | "discovery"
  | "certificateManagement"
  | "podBouncing"
  | "apiDiscovery"
  | "schemaReporter"
  | "accessLogSink"
  | "wasmXds"
  | "crdVerifier"
  | "readiness";

/** On which of several replicas of an agent a process runs. */
export type Place = "leader" | "everyReplica" | "nowhere";

/**
 * Which process runs where. Sources: seed 000 (“Agent replicas”) for all of them; seed 002 names the first four and the
 * verifier; seeds 001 and 004 know one agent, and no portal.
 */
const AGENT_PROCESSES: Readonly<Record<AgentProcess, Readonly<Record<Generation, Place>>>> = {
  relay: { "gloo-mesh": "leader", enterprise: "leader" },
  discovery: { "gloo-mesh": "leader", enterprise: "leader" },
  certificateManagement: { "gloo-mesh": "leader", enterprise: "leader" },
  podBouncing: { "gloo-mesh": "leader", enterprise: "leader" },
  apiDiscovery: { "gloo-mesh": "leader", enterprise: "nowhere" },
  schemaReporter: { "gloo-mesh": "leader", enterprise: "nowhere" },
  accessLogSink: { "gloo-mesh": "everyReplica", enterprise: "everyReplica" },
  wasmXds: { "gloo-mesh": "everyReplica", enterprise: "everyReplica" },
  crdVerifier: { "gloo-mesh": "everyReplica", enterprise: "everyReplica" },
  readiness: { "gloo-mesh": "everyReplica", enterprise: "everyReplica" },
};

/** Names that differ by generation. */
export const NAMES: Readonly<Record<Generation, { readonly server: string; readonly agent: string }>> = {
  "gloo-mesh": { server: "gloo-mesh-mgmt-server", agent: "gloo-mesh-agent" },
  enterprise: { server: "enterprise-networking", agent: "enterprise-agent" },
};

/** When a process of this replica runs: always, while it leads, or (undefined) never. */
export function leadershipFor(process: AgentProcess, generation: Generation, leadership: Leadership): Leadership | undefined {
  switch (AGENT_PROCESSES[process][generation]) {
    case "leader":
      return leadership;
    case "everyReplica":
      return alwaysLeader;
    case "nowhere":
      return undefined;
  }
}
