import { type Condition, type JsonObject, type Resource, refOf } from "@isthmus/core";
import type { ClusterState } from "./snapshotStore.ts";
import type { StatusUpdate } from "./statusWriter.ts";

/** Annotation on a KubernetesCluster: each new value lets go, once, what is held back in that cluster. */
export const RESUME_DELETES = "isthmus.mesh/resume-deletes";

/** What the status of a registered cluster is made of. */
export interface ClusterStanding {
  readonly state: ClusterState | undefined;
  /** How many removals its agent holds back. */
  readonly held: number;
  /** The last word of a user that held-back removals may go, if it was passed on. */
  readonly resumed: string | undefined;
}

/** The status of a registered cluster: its agent, whether that is connected, and whether everything in the cluster is known. */
export function clusterStatus(kubernetesCluster: Resource, { state, held, resumed }: ClusterStanding): StatusUpdate {
  const before = (kubernetesCluster as { readonly status?: JsonObject }).status ?? {};
  const conditions = [connected(state), synced(state), deletesPaused(held)];
  return {
    ref: refOf(kubernetesCluster),
    status: {
      ...agentOf(state, before),
      ...(resumed === undefined ? {} : { resumedDeletes: resumed }),
      conditions: conditions.map((condition) => ({ ...condition })),
    },
  };
}

/** What is known of the agent. Before it has called, what is written stays: it has not become untrue by a restart of ours. */
function agentOf(state: ClusterState | undefined, before: JsonObject): JsonObject {
  const { agentNamespace: namespace, version } = state?.agent ?? {};
  if (namespace !== undefined && version !== undefined) return { namespace, agent: { version, connected: state?.connected === true } };
  const { namespace: known, agent } = before;
  return {
    ...(known === undefined ? {} : { namespace: known }),
    ...(agent === undefined ? {} : { agent: { ...(agent as JsonObject), connected: false } }),
  };
}

function connected(state: ClusterState | undefined): Condition {
  if (state?.connected) {
    return {
      type: "Connected",
      status: "True",
      reason: "AgentConnected",
      message: `agent ${state.agent?.version ?? ""} is connected`.replace("  ", " "),
    };
  }
  return {
    type: "Connected",
    status: "False",
    reason: "AgentAway",
    message: "no agent of this cluster is connected: look at the logs of gloo-mesh-agent there",
  };
}

function synced(state: ClusterState | undefined): Condition {
  switch (state?.phase) {
    case "synced":
      return { type: "Synced", status: "True", reason: "Synced", message: "everything in this cluster is known" };
    case "stale":
      return {
        type: "Synced",
        status: "False",
        reason: "Stale",
        message: "the agent is away: what was last known stays in use, nothing is removed",
      };
    default:
      return {
        type: "Synced",
        status: "Unknown",
        reason: "NotReported",
        message: "the agent has not reported everything since this server started: what was last discovered stays in use",
      };
  }
}

function deletesPaused(held: number): Condition {
  const type = "DeletesPaused";
  if (held === 0) return { type, status: "False", reason: "NothingHeld", message: "no removal is held back" };
  return {
    type,
    status: "True",
    reason: "TooManyAtOnce",
    message:
      `${held} objects stay though what they came from is no longer seen. If they may go: ` +
      `kubectl annotate --overwrite kubernetescluster NAME ${RESUME_DELETES}="$(date -Is)"`,
  };
}
