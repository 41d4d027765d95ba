import { type CiliumInstallation, type KubernetesCluster, RESUME_DELETES } from "@isthmus/api";
import { type Condition, equalJson, type JsonObject, type Resource, refOf } from "@isthmus/core";
import type { AgentInfo } from "@isthmus/ports";
import { registrationFindings } from "@isthmus/translators";
import type { DesiredStatus } from "../../apply/statusWriter.ts";
import { END_OF_TIME, REVOKED_BEFORE, revocationOf } from "../../identity/registrations.ts";
import type { ClusterState } from "../../snapshots/snapshotStore.ts";
import { trustDomainsField } from "../trustDomainsOfClusters.ts";
import { type CertificateValidity, certificateExpiring } from "./certificateExpiring.ts";
import { ciliumField } from "./ciliumOfClusters.ts";
import { endpointsExcluded } from "./endpointsExcluded.ts";
import { type JoinTokenValidity, joinTokenExpiring } from "./joinTokenExpiring.ts";
import { comparisonField, type ModeState, modeField, writesPaused } from "./writesPaused.ts";
import { type WriteRefusals, writesRefused } from "./writesRefused.ts";

/** What the status of a registered cluster is made of. */
export interface ClusterStatusInputs {
  readonly state: ClusterState | undefined;
  /** How many removals its agent holds back. */
  readonly held: number;
  /** Undefined where what is on hold is a mass deletion; else the servers lack causes: the clusters that have not reported, as a text. */
  readonly lacking: string | undefined;
  /** The last word of a user that held-back removals may go, if it was passed on. */
  readonly resumed: string | undefined;
  /** How the agent's certificate stands; undefined without one. */
  readonly certificate: CertificateValidity | undefined;
  /** How its join token stands; undefined without one. */
  readonly joinToken: JoinTokenValidity | undefined;
  /** Why this server cannot connect to the cluster by its kubeconfig Secret; undefined when it can, or needn't. */
  readonly problem: string | undefined;
  /** Settings let a holder of the shared token take the cluster's name. */
  readonly isNameOpen: boolean;
  /** Other clusters leave its endpoints out. */
  readonly isExcluded: boolean;
  /** Undefined while the cluster has what is desired, or its agent is applying it. */
  readonly late: ClusterLag | undefined;
  /** What may be written, and what would be. */
  readonly writes: ModeState;
  /** What of the desired objects its agent could not write. */
  readonly refusals: WriteRefusals | undefined;
  /** Cilium in the cluster, beside a mesh. */
  readonly cilium: CiliumInstallation | undefined;
  /** The trust domains of its meshes; none where no mesh is known. */
  readonly trustDomains: readonly string[];
}

/** How far a cluster is behind. */
export interface ClusterLag {
  /** Milliseconds since 1970. */
  readonly since: number;
  /** So many objects are not acknowledged, or more: 1, 10, 100 ..., so that a status is not written for each of them. */
  readonly atLeast: number;
}

/** `waiting`: how many objects are not acknowledged. */
export function clusterLagOf(since: number | undefined, waiting: () => number): ClusterLag | undefined {
  return since === undefined ? undefined : { since, atLeast: 10 ** Math.floor(Math.log10(Math.max(1, waiting()))) };
}

/** Whether the same is to be said of both. */
export function isSameClusterStatus(a: ClusterStatusInputs, b: ClusterStatusInputs): boolean {
  const isSameLateness = a.late?.since === b.late?.since && a.late?.atLeast === b.late?.atLeast;
  return (
    a.state === b.state &&
    a.problem === b.problem &&
    a.isNameOpen === b.isNameOpen &&
    a.isExcluded === b.isExcluded &&
    a.held === b.held &&
    (a.held === 0 || a.lacking === b.lacking) &&
    a.resumed === b.resumed &&
    a.certificate === b.certificate &&
    a.joinToken?.state === b.joinToken?.state &&
    a.joinToken?.notAfter === b.joinToken?.notAfter &&
    a.writes.mode === b.writes.mode &&
    a.writes.acknowledged === b.writes.acknowledged &&
    a.writes.comparison === b.writes.comparison &&
    equalJson(a.cilium, b.cilium) &&
    equalJson(a.trustDomains, b.trustDomains) &&
    equalJson(a.refusals, b.refusals) &&
    isSameLateness
  );
}

/**
 * The status of a registered cluster: its agent, whether that is connected, and whether everything in the cluster is known. `agentName`:
 * of its Deployment.
 */
export function clusterStatus(
  kubernetesCluster: Resource,
  {
    state,
    held,
    lacking,
    resumed,
    certificate,
    joinToken,
    problem,
    isNameOpen,
    isExcluded,
    late,
    writes,
    refusals,
    cilium,
    trustDomains,
  }: ClusterStatusInputs,
  agentName: string,
): DesiredStatus {
  const before = (kubernetesCluster as { readonly status?: JsonObject }).status ?? {};
  const revokedBefore = lockedOut(kubernetesCluster, state);
  const wasHeard = before["agent"] !== undefined;
  const isNeeded = state?.connected !== true && (revokedBefore !== undefined || (state?.agent === undefined && !wasHeard));
  const warnings = registrationFindings(kubernetesCluster).map(({ message }) => message);
  const conditions = [
    connected(kubernetesCluster, { state, problem, revokedBefore, agentName }),
    synced(state),
    lagging(state, late),
    deletesPaused(held, lacking),
    overQuota(state),
    ...writesPaused(writes, state),
    ...writesRefused(refusals),
    ...certificateExpiring(state?.agent, certificate),
    ...joinTokenExpiring(kubernetesCluster.metadata.name, joinToken, { isNeeded }),
    ...endpointsExcluded(isExcluded),
    ...(isNameOpen ? [NAME_OPEN] : []),
  ];
  return {
    ref: refOf(kubernetesCluster),
    status: {
      state: stateOf({ state, problem, late, isRevoked: revokedBefore !== undefined, wasHeard }),
      ...agentOf(state, before),
      ...(late === undefined ? {} : { lag: { since: new Date(late.since).toISOString(), changes: late.atLeast } }),
      ...(resumed === undefined ? {} : { resumedDeletes: resumed }),
      ...modeField(writes, state, before),
      ...comparisonField(writes),
      ...ciliumField(cilium, { isKnown: (state?.phase ?? "unknown") !== "unknown", before }),
      ...trustDomainsField(trustDomains, before),
      ...(warnings.length === 0 ? {} : { warnings, warningCount: warnings.length }),
      conditions: conditions.map((condition) => ({ ...condition })),
    },
  };
}

/** What is known of the agent. Before it has called, what is written stays: it has not become untrue by a restart of ours. */
function agentOf(state: ClusterState | undefined, before: JsonObject): JsonObject {
  const { agentNamespace: namespace, version, service } = state?.agent ?? {};
  if (namespace !== undefined && version !== undefined) {
    const told = service === undefined ? {} : { service: { ...service } };
    return { namespace, agent: { version, connected: state?.connected === true, ...told, ...shownBy(state?.agent) } };
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
  readonly late: ClusterLag | undefined;
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
  // An agent that has registered since then is offline for another reason.
  const isNewer = revokedBefore !== undefined && (state?.agent?.certificate?.notBefore ?? 0) >= revokedBefore;
  return state?.connected || isNewer ? undefined : revokedBefore;
}

function connected(
  { metadata: { name } }: Resource,
  {
    state,
    problem,
    revokedBefore,
    agentName,
  }: {
    readonly state: ClusterState | undefined;
    readonly problem: string | undefined;
    readonly revokedBefore: number | undefined;
    readonly agentName: string;
  },
): Condition {
  if (problem !== undefined) return { type: "Connected", status: "False", reason: "CannotConnect", message: problem };
  if (state?.connected) {
    const message = `agent ${state.agent?.version ?? ""} is connected`.replace("  ", " ");
    if (state.agent?.authentication !== "token") return { type: "Connected", status: "True", reason: "AgentConnected", message };
    return {
      type: "Connected",
      status: "True",
      reason: "WithoutCertificate",
      message: `${message} WITHOUT A CLIENT CERTIFICATE: any holder of the relay token can impersonate this cluster`,
    };
  }
  if (revokedBefore !== undefined) {
    const moment =
      revokedBefore === END_OF_TIME
        ? "all certificates"
        : `certificates issued before ${new Date(revokedBefore).toISOString().slice(0, 19)}Z`;
    return {
      type: "Connected",
      status: "False",
      reason: "Revoked",
      message:
        `${moment} are revoked (annotation ${REVOKED_BEFORE}): let the agent join again with a new join token ` +
        `(meshctl cluster token create --cluster ${name}), or undo the revocation (meshctl cluster revoke ${name} --undo)`,
    };
  }
  return {
    type: "Connected",
    status: "False",
    reason: "AgentAway",
    message: `the agent of this cluster is not connected: check the logs of ${agentName} in the cluster`,
  };
}

function synced(state: ClusterState | undefined): Condition {
  // By the number a person sees that what was reported is the whole cluster.
  const size = state?.syncedObjects === undefined ? "" : ` of ${state.syncedObjects} objects`;
  switch (state?.phase) {
    case "synced":
      return { type: "Synced", status: "True", reason: "Synced", message: `the agent has completed its full sync${size}` };
    case "stale":
      return {
        type: "Synced",
        status: "False",
        reason: "Stale",
        message: "the agent is offline: the last known state of the cluster is used, and nothing is deleted",
      };
    default:
      return {
        type: "Synced",
        status: "Unknown",
        reason: "NotReported",
        message: "the agent has not completed its full sync since this server started: the last discovered state is used",
      };
  }
}

function lagging(state: ClusterState | undefined, late: ClusterLag | undefined): Condition {
  const type = "Lagging";
  if (late === undefined) {
    return state?.connected
      ? { type, status: "False", reason: "UpToDate", message: "no pending changes, or the agent is applying them" }
      : { type, status: "Unknown", reason: "AgentAway", message: "the agent is not connected, so it is unknown what is applied" };
  }
  const since = `${new Date(late.since).toISOString().slice(0, 19)}Z`;
  const isOne = late.atLeast === 1;
  const wait = `${isOne ? "a change" : `at least ${late.atLeast} changes`} of the desired state since ${since} wait${isOne ? "s" : ""} for`;
  return state?.connected
    ? {
        type,
        status: "True",
        reason: "NotAcknowledged",
        message: `${wait} acknowledgement by the agent: check its log, and that its API server answers`,
      }
    : {
        type,
        status: "True",
        reason: "AgentAway",
        message: `${wait} the agent to connect; applied objects are not changed`,
      };
}

const NAME_OPEN: Condition = {
  type: "NameProtected",
  status: "False",
  reason: "AnyName",
  message: "any holder of the relay token can take over the name of this cluster: spec.relay.sharedToken in the Settings is ANY_NAME",
};

function deletesPaused(held: number, lacking: string | undefined): Condition {
  const type = "DeletesPaused";
  if (held === 0) return { type, status: "False", reason: "NothingHeld", message: "no deletes are on hold" };
  const approval = `kubectl annotate --overwrite kubernetescluster NAME ${RESUME_DELETES}="$(date -Is)"`;
  if (lacking !== undefined) {
    const clusters = lacking === "" ? "" : ` (not reported since this server started: ${lacking})`;
    const message =
      `${held} objects that are not desired are kept: this server started without the state of the servers before it, so it cannot tell whether ` +
      `their sources were deleted or are missing, as after a restore${clusters}. What is desired again is kept. To delete the rest: ${approval}`;
    return { type, status: "True", reason: "SourcesUnknown", message };
  }
  return {
    type,
    status: "True",
    reason: "TooManyAtOnce",
    message: `mass deletion on hold, waiting for approval: the source objects of ${held} objects are no longer reported. To approve: ${approval}`,
  };
}

function overQuota(state: ClusterState | undefined): Condition {
  const type = "OverQuota";
  const { excess } = state ?? {};
  if (excess === undefined) {
    return state?.connected
      ? { type, status: "False", reason: "WithinQuota", message: "all objects that the agent reports are accepted" }
      : { type, status: "Unknown", reason: "AgentAway", message: "the agent is not connected" };
  }
  const { limit, quota, kinds, isShared = false } = excess;
  const known = kinds.map((kind) => kind.slice(kind.indexOf("/") + 1)).join(", ");
  if (isShared) {
    const message =
      `all agents together report more than the server keeps, and this one is among the largest with ${quota} bytes: objects of ${known} are refused, and their last accepted versions are used. ` +
      "Narrow discovery.selectors, or give the server more memory";
    return { type, status: "True", reason: "TooManyBytesTogether", message };
  }
  return {
    type,
    status: "True",
    reason: limit === "objects" ? "TooManyObjects" : "TooManyBytes",
    message:
      `the agent reports more than ${quota} ${limit}: objects of ${known} are refused, and their last accepted versions are used. ` +
      `Narrow discovery.selectors, or raise relay.agentQuota.${limit} in the Settings`,
  };
}
