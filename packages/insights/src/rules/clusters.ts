import { KubernetesCluster, Mesh, TrafficPolicy } from "@isthmus/api";
import type { Index } from "@isthmus/core";
import { shellCommand } from "../insight.ts";
import { defineRule, lookUp, type RuleFinding } from "../rule.ts";
import { isRegistration } from "./registrations.ts";

/** States in which nothing new reaches a cluster. */
const AWAY: ReadonlySet<string> = new Set(["OFFLINE", "UNREACHABLE", "REVOKED"]);

function diagnose(cluster: string, text: string): RuleFinding["remedy"] {
  return { text, command: shellCommand("meshctl", "cluster", "diagnose", cluster) };
}

/** REL1001. */
export const clusterAway = defineRule({
  code: "REL1001",
  of: KubernetesCluster,
  reads: {},
  *find(cluster, { context }) {
    const state = cluster.status?.state ?? "";
    if (!AWAY.has(state) || !isRegistration(cluster, context.namespace)) return;
    yield {
      field: "status.state",
      message: `is ${state}: what runs there continues as it was, and no change reaches it`,
      remedy: diagnose(
        cluster.metadata.name,
        state === "REVOKED" ? "register it again, or delete the KubernetesCluster" : "look at its agent",
      ),
    };
  },
});

const SYNCED_WITHIN_MS = 5 * 60_000;

/** REL1003: pushes and answers share one stream, so an agent that is connected and does not report is one whose first sync does not end. */
export const clusterReportsNothing = defineRule({
  code: "REL1003",
  of: KubernetesCluster,
  reads: {},
  readsTime: true,
  *find(cluster, { context }) {
    const { state, conditions = [] } = cluster.status ?? {};
    if (state !== "SYNCING" || !isRegistration(cluster, context.namespace)) return;
    const since = conditions.find(({ type, status }) => type === "Synced" && status !== "True")?.lastTransitionTime ?? "";
    if (!(context.hour - Date.parse(since) > SYNCED_WITHIN_MS)) return;
    yield {
      field: "status.state",
      message: `is SYNCING since ${since.slice(0, 16)}Z: the agent is connected, and has not reported all of its cluster`,
      remedy: diagnose(cluster.metadata.name, "see in its log which kind it may not list, or which API server does not answer"),
    };
  },
});

/** REL1004. */
export const clusterLags = defineRule({
  code: "REL1004",
  of: KubernetesCluster,
  reads: {},
  *find(cluster, { context }) {
    if (cluster.status?.state !== "LAGGING" || !isRegistration(cluster, context.namespace)) return;
    const message = "is LAGGING: the agent has not acknowledged the last changes";
    yield { field: "status.state", message, remedy: diagnose(cluster.metadata.name, "look at what its API server refuses") };
  },
});

/** What the server says of a cluster by a condition that is True, without what it adds after the first sentence. */
function saidBy({ status }: KubernetesCluster, type: string): string | undefined {
  const condition = status?.conditions?.find((one) => one.type === type && one.status === "True");
  return condition && (condition.message ?? "").split(/[.:] (?=To |Narrow )/, 1)[0];
}

/** REL1005. */
export const writesNotDone = defineRule({
  code: "REL1005",
  of: KubernetesCluster,
  reads: {},
  *find(cluster, { context }) {
    const said = isRegistration(cluster, context.namespace) ? saidBy(cluster, "WritesRefused") : undefined;
    if (said === undefined) return;
    const remedy = "correct what the message names: the policies behind the object, or its other writer";
    yield { field: "status.conditions", message: said, remedy: { text: remedy, command: shellCommand("meshctl", "sync", "status") } };
  },
});

/** REL1010. */
export const deletesHeld = defineRule({
  code: "REL1010",
  of: KubernetesCluster,
  reads: {},
  *find(cluster, { context }) {
    const said = isRegistration(cluster, context.namespace) ? saidBy(cluster, "DeletesPaused") : undefined;
    if (said === undefined) return;
    const remedy =
      "see whether these objects were deleted on purpose; then set annotation isthmus.mesh/resume-deletes to a new value to approve it";
    yield { field: "status.conditions", message: said, remedy: diagnose(cluster.metadata.name, remedy) };
  },
});

/** REL1012. */
export const agentOverQuota = defineRule({
  code: "REL1012",
  of: KubernetesCluster,
  reads: {},
  *find(cluster, { context }) {
    const said = isRegistration(cluster, context.namespace) ? saidBy(cluster, "OverQuota") : undefined;
    if (said === undefined) return;
    const remedy = "narrow discovery.selectors, or raise relay.agentQuota in the Settings";
    yield { field: "status.conditions", message: `is over its quota: ${said}`, remedy };
  },
});

interface Share {
  readonly cluster: string;
  readonly share: number;
}

/** Shares of the traffic of a policy, by cluster. A single destination gets all, whatever its weight. */
function sharesOf({ spec }: TrafficPolicy): readonly Share[] {
  const destinations = spec?.policy?.trafficShift?.destinations ?? [];
  const total = destinations.reduce((sum, { weight = 0 }) => sum + weight, 0);
  return destinations.flatMap(({ weight = 0, kubeService }) => {
    const share = destinations.length === 1 ? 1 : total === 0 ? 0 : weight / total;
    return kubeService?.clusterName === undefined ? [] : [{ cluster: kubeService.clusterName, share }];
  });
}

const clustersShiftedTo: Index<TrafficPolicy> = (policy) => [...new Set(sharesOf(policy).map(({ cluster }) => cluster))];
const byClusterName: Index<KubernetesCluster> = ({ metadata }) => [metadata.name];

/** RTE1018. */
export const trafficToAbsentClusters = defineRule({
  code: "RTE1018",
  of: TrafficPolicy,
  reads: { clusters: lookUp(KubernetesCluster, { key: clustersShiftedTo, index: byClusterName }) },
  *find(policy, { lookup, context }) {
    const away = new Set(
      lookup("clusters").flatMap((cluster) =>
        AWAY.has(cluster.status?.state ?? "") && isRegistration(cluster, context.namespace) ? [cluster.metadata.name] : [],
      ),
    );
    const shares = sharesOf(policy).filter(({ cluster }) => away.has(cluster));
    const share = shares.reduce((sum, one) => sum + one.share, 0);
    if (share <= 0.5) return;
    const names = [...new Set(shares.map(({ cluster }) => cluster))].sort();
    yield {
      field: "spec.policy.trafficShift.destinations",
      message: `${Math.round(share * 100)} % of the traffic goes to ${names.join(", ")}, which is not connected: to the endpoints that were known last`,
      remedy: "shift the traffic to a cluster that is connected",
    };
  },
});

const DAY_MS = 24 * 3_600_000;

/** RTE1014. */
export const faultsForgotten = defineRule({
  code: "RTE1014",
  of: TrafficPolicy,
  reads: {},
  readsTime: true,
  *find({ spec, metadata }, { context }) {
    const age = context.hour - Date.parse(metadata.creationTimestamp ?? "");
    if (spec?.policy?.faultInjection === undefined || !(age > DAY_MS)) return;
    const { percentage = 100 } = spec.policy.faultInjection;
    yield {
      field: "spec.policy.faultInjection",
      message: `injects faults into ${percentage} % of its requests, and is ${Math.floor(age / DAY_MS)} d old`,
      remedy: "remove faultInjection when the test is over",
    };
  },
});

const agentsOf: Index<KubernetesCluster> = ({ metadata }) => [metadata.name];
const byItsCluster: Index<Mesh> = ({ spec }) => {
  const cluster = spec?.istio?.installation?.cluster;
  return cluster === undefined ? [] : [cluster];
};

/** CRT1002. */
export const agentCertificateEnds = defineRule({
  code: "CRT1002",
  of: KubernetesCluster,
  reads: { meshes: lookUp(Mesh, { key: agentsOf, index: byItsCluster }) },
  readsTime: true,
  *find(cluster, { context, lookup }) {
    const left = Date.parse(cluster.status?.agent?.certificateNotAfter ?? "") - context.hour;
    if (!(left < 3_600_000) || !isRegistration(cluster, context.namespace)) return;
    const meshes = lookup("meshes").map(({ metadata }) => metadata.name);
    const effect = meshes.length === 0 ? "" : `; ${meshes.join(", ")} would get no changes any more`;
    yield {
      field: "status.agent.certificateNotAfter",
      message: `the client certificate of the agent ${left <= 0 ? "has ended" : "ends within an hour"}${effect}`,
      remedy: diagnose(cluster.metadata.name, "look at the log of the agent"),
    };
  },
});
