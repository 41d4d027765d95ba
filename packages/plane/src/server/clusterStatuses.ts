import { type KubernetesCluster, RESUME_DELETES } from "@isthmus/api";
import { type Condition, type JsonObject, type Resource, refOf } from "@isthmus/core";
import type { AgentInfo } from "../ports.ts";
import { type CertificateStanding, certificateExpiring } from "./certificateExpiring.ts";
import { END_OF_TIME, REVOKED_BEFORE, revocationOf } from "./registrations.ts";
import type { ClusterState } from "./snapshotStore.ts";
import type { StatusUpdate } from "./statusWriter.ts";

/** What the status of a registered cluster is made of. */
export interface ClusterStanding {
  readonly state: ClusterState | undefined;
  /** How many removals its agent holds back. */
  readonly held: number;
  /** The last word of a user that held-back removals may go, if it was passed on. */
  readonly resumed: string | undefined;
  /** How the agent's certificate stands; undefined without one. */
  readonly certificate: CertificateStanding | undefined;
  /** Why this server cannot connect to the cluster by its kubeconfig Secret; undefined when it can, or needn't. */
  readonly problem: string | undefined;
  /** Settings let whoever has the shared token take the cluster's name. */
  readonly isNameOpen: boolean;
  /** Undefined while the cluster has what is wanted, or its agent is at it. */
  readonly late: Lateness | undefined;
}

/** How far a cluster is behind. */
export interface Lateness {
  /** Milliseconds since 1970. */
  readonly since: number;
  /** So many objects are not acknowledged, or more: 1, 10, 100 ..., so that a status is not written for each of them. */
  readonly atLeast: number;
}

/** `waiting`: how many objects are not acknowledged. */
export function latenessOf(since: number | undefined, waiting: () => number): Lateness | undefined {
  return since === undefined ? undefined : { since, atLeast: 10 ** Math.floor(Math.log10(Math.max(1, waiting()))) };
}

/** Whether the same is to be said of both. */
export function isSameStanding(a: ClusterStanding, b: ClusterStanding): boolean {
  const isSameLateness = a.late?.since === b.late?.since && a.late?.atLeast === b.late?.atLeast;
  return (
    a.state === b.state &&
    a.problem === b.problem &&
    a.isNameOpen === b.isNameOpen &&
    a.held === b.held &&
    a.resumed === b.resumed &&
    a.certificate === b.certificate &&
    isSameLateness
  );
}

/** The status of a registered cluster: its agent, whether that is connected, and whether everything in the cluster is known. */
export function clusterStatus(
  kubernetesCluster: Resource,
  { state, held, resumed, certificate, problem, isNameOpen, late }: ClusterStanding,
): StatusUpdate {
  const before = (kubernetesCluster as { readonly status?: JsonObject }).status ?? {};
  const revokedBefore = lockedOut(kubernetesCluster, state);
  const conditions = [
    connected(kubernetesCluster, { state, problem, revokedBefore }),
    synced(state),
    lagging(state, late),
    deletesPaused(held),
    overQuota(state),
    ...certificateExpiring(state?.agent, certificate),
    ...(isNameOpen ? [NAME_OPEN] : []),
  ];
  return {
    ref: refOf(kubernetesCluster),
    status: {
      state: stateOf({ state, problem, late, isRevoked: revokedBefore !== undefined, wasHeard: before["agent"] !== undefined }),
      ...agentOf(state, before),
      ...(resumed === undefined ? {} : { resumedDeletes: resumed }),
      conditions: conditions.map((condition) => ({ ...condition })),
    },
  };
}

/** What is known of the agent. Before it has called, what is written stays: it has not become untrue by a restart of ours. */
function agentOf(state: ClusterState | undefined, before: JsonObject): JsonObject {
  const { agentNamespace: namespace, version } = state?.agent ?? {};
  if (namespace !== undefined && version !== undefined) {
    return { namespace, agent: { version, connected: state?.connected === true, ...shownBy(state?.agent) } };
  }
  const { namespace: known, agent } = before;
  return {
    ...(known === undefined ? {} : { namespace: known }),
    ...(agent === undefined ? {} : { agent: { ...(agent as JsonObject), connected: false } }),
  };
}

/** What the agent's connection has shown of it. */
function shownBy(agent: AgentInfo | undefined): JsonObject {
  const { certificate, trustedRoots } = agent ?? {};
  return {
    ...(certificate === undefined ? {} : { certificateNotAfter: new Date(certificate.notAfter).toISOString() }),
    ...(trustedRoots === undefined ? {} : { trustedRoots }),
  };
}

/** In one word, for `kubectl get`: the conditions say why. */
function stateOf(cluster: {
  readonly state: ClusterState | undefined;
  readonly problem: string | undefined;
  readonly late: Lateness | undefined;
  readonly isRevoked: boolean;
  readonly wasHeard: boolean;
}): NonNullable<NonNullable<KubernetesCluster["status"]>["state"]> {
  const { state, problem, late, isRevoked, wasHeard } = cluster;
  if (problem !== undefined) return "UNREACHABLE";
  if (!state?.connected) {
    if (isRevoked) return "REVOKED";
    return state?.agent !== undefined || wasHeard ? "OFFLINE" : "REGISTERED";
  }
  if (state.phase !== "synced") return "SYNCING";
  return late === undefined ? "CONNECTED" : "LAGGING";
}

/** Before when certificates do not count, in milliseconds since 1970, if that is why no agent is connected. */
function lockedOut({ metadata }: Resource, state: ClusterState | undefined): number | undefined {
  const { revokedBefore } = revocationOf(metadata.annotations?.[REVOKED_BEFORE]);
  // An agent that has registered since then is away for another reason.
  const isNewer = revokedBefore !== undefined && (state?.agent?.certificate?.notBefore ?? 0) >= revokedBefore;
  return state?.connected || isNewer ? undefined : revokedBefore;
}

function connected(
  { metadata: { name } }: Resource,
  {
    state,
    problem,
    revokedBefore,
  }: { readonly state: ClusterState | undefined; readonly problem: string | undefined; readonly revokedBefore: number | undefined },
): Condition {
  if (problem !== undefined) return { type: "Connected", status: "False", reason: "CannotConnect", message: problem };
  if (state?.connected) {
    const message = `agent ${state.agent?.version ?? ""} is connected`.replace("  ", " ");
    if (state.agent?.authentication !== "token") return { type: "Connected", status: "True", reason: "AgentConnected", message };
    return {
      type: "Connected",
      status: "True",
      reason: "WithoutCertificate",
      message: `${message} WITHOUT A CLIENT CERTIFICATE: whoever has the relay token can speak for this cluster`,
    };
  }
  if (revokedBefore !== undefined) {
    const moment =
      revokedBefore === END_OF_TIME
        ? "all certificates"
        : `certificates from before ${new Date(revokedBefore).toISOString().slice(0, 19)}Z`;
    return {
      type: "Connected",
      status: "False",
      reason: "Revoked",
      message:
        `${moment} are revoked (annotation ${REVOKED_BEFORE}): let an agent in with a new join token ` +
        `(meshctl cluster token create --cluster ${name}), or undo it (meshctl cluster revoke ${name} --undo)`,
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

function lagging(state: ClusterState | undefined, late: Lateness | undefined): Condition {
  const type = "Lagging";
  if (late === undefined) {
    return state?.connected
      ? { type, status: "False", reason: "UpToDate", message: "the agent has answered all that is wanted here, or is at it" }
      : { type, status: "Unknown", reason: "AgentAway", message: "while no agent is connected nobody can say what of that is applied" };
  }
  const since = `${new Date(late.since).toISOString().slice(0, 19)}Z`;
  const isOne = late.atLeast === 1;
  const wait = `${isOne ? "something" : `${late.atLeast} objects or more`} wanted here since ${since} wait${isOne ? "s" : ""} for`;
  return state?.connected
    ? {
        type,
        status: "True",
        reason: "NotAcknowledged",
        message: `${wait} the agent's answer: look at its log, and whether its API server answers`,
      }
    : {
        type,
        status: "True",
        reason: "AgentAway",
        message: `${wait} an agent to connect; what is applied stays as it is`,
      };
}

const NAME_OPEN: Condition = {
  type: "NameProtected",
  status: "False",
  reason: "AnyName",
  message: "whoever has the relay token can take this cluster's name: Settings (spec.relay.sharedToken) are ANY_NAME",
};

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

function overQuota(state: ClusterState | undefined): Condition {
  const type = "OverQuota";
  const { excess } = state ?? {};
  if (excess === undefined) {
    return state?.connected
      ? { type, status: "False", reason: "WithinQuota", message: "everything that the agent reports is taken" }
      : { type, status: "Unknown", reason: "AgentAway", message: "no agent is connected that reports anything" };
  }
  const { limit, quota, kinds } = excess;
  const known = kinds.map((kind) => kind.slice(kind.indexOf("/") + 1)).join(", ");
  return {
    type,
    status: "True",
    reason: limit === "objects" ? "TooManyObjects" : "TooManyBytes",
    message:
      `the agent reports more than ${quota} ${limit}: objects of ${known} are refused, and what was known of them before stays. ` +
      `Narrow discovery.selectors, or raise relay.agentQuota.${limit} in the Settings`,
  };
}
