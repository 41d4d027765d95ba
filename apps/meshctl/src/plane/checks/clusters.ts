import { type KubernetesCluster, type Mesh, meshInstallationOf } from "@isthmus/api";
import { skewOf } from "@isthmus/core";
import { groupsBy } from "../../offline/groupsBy.ts";
import { serverVersion, singleCluster } from "../deployments.ts";
import { CATEGORIES, type Check, type CheckFinding, subjectName } from "./check.ts";
import { INSIGHT_GROUPS } from "./insightGroups.ts";
import { insightsWith } from "./readInsights.ts";

const category = CATEGORIES.clusters;

/** Which states of a cluster are worth what. */
const BAD_STATES: ReadonlyMap<string, Pick<CheckFinding, "code" | "severity">> = new Map(
  Object.entries({
    REGISTERED: { code: "REL1001", severity: "error" },
    OFFLINE: { code: "REL1001", severity: "error" },
    UNREACHABLE: { code: "REL1001", severity: "error" },
    REVOKED: { code: "REL1001", severity: "error" },
    LAGGING: { code: "REL1004", severity: "warning" },
    SYNCING: { code: "REL1101", severity: "info" },
  }),
);

/** The agents. */
export const agentsAreConnected: Check = {
  category,
  description: "Gloo Mesh agents are connected for each registered KubernetesCluster",
  reads: ["clusters"],
  findings: ({ clusters, now }) => {
    if (clusters.length === 0) {
      return [{ code: "REL1008", severity: "info", message: "no cluster is registered", remedy: "meshctl cluster register --help" }];
    }
    return clusters.flatMap((cluster) => {
      const { name } = cluster.metadata;
      const state = cluster.status?.state ?? "REGISTERED";
      const bad = BAD_STATES.get(state);
      if (bad === undefined) return [];
      const stuck = state === "SYNCING" ? syncingSince(cluster) : Number.NaN;
      if (now - stuck > SYNCED_WITHIN_MS) {
        const message = `the agent of cluster ${name} is connected since ${new Date(stuck).toISOString()}, and has not reported all of the cluster`;
        return { code: "REL1003" as const, severity: "error" as const, message, remedy: `meshctl cluster diagnose ${name}` };
      }
      const cause = messageOf(cluster, state === "LAGGING" ? "Lagging" : state === "SYNCING" ? "Synced" : "Connected");
      return {
        ...bad,
        message: `cluster ${name} is ${state}${cause === "" ? "" : `: ${cause}`}`,
        remedy: `meshctl cluster diagnose ${name}`,
      };
    });
  },
};

/** Longer than the first sync of a large cluster takes. */
const SYNCED_WITHIN_MS = 5 * 60_000;

/** Milliseconds since 1970; NaN: not known. */
function syncingSince({ status }: KubernetesCluster): number {
  return Date.parse(status?.conditions?.find(({ type, status: value }) => type === "Synced" && value !== "True")?.lastTransitionTime ?? "");
}

/** What else the server says of them. */
export const nothingWaits: Check = {
  category,
  description: "No cluster has deletes on hold, refuses objects, exceeds its quota, or has a certificate or join token that ends",
  codes: INSIGHT_GROUPS.clusters,
  reads: ["clusters", "meshes"],
  findings: (state) => [
    ...insightsWith(state, INSIGHT_GROUPS.clusters),
    ...state.clusters.flatMap((registered) => [...tokenEnding(registered), ...certificateEnded(registered, state.now)]),
  ],
};

function tokenEnding(registered: KubernetesCluster): readonly CheckFinding[] {
  const { name } = registered.metadata;
  const condition = registered.status?.conditions?.find(({ type, status }) => type === "JoinTokenExpiring" && status === "True");
  if (condition === undefined) return [];
  const message = `cluster ${name}: JoinTokenExpiring: ${condition.message ?? ""}`;
  return [{ code: "CRT1102", severity: "warning", message, remedy: `meshctl cluster describe ${name}` }];
}

function certificateEnded({ metadata: { name }, status }: KubernetesCluster, now: number): readonly CheckFinding[] {
  const { certificateNotAfter = "" } = status?.agent ?? {};
  if (!(Date.parse(certificateNotAfter) < now)) return [];
  const message = `cluster ${name}: the certificate of its agent expired at ${certificateNotAfter}`;
  return [{ code: "CRT1001", severity: "error", message, remedy: `meshctl cluster token create --cluster ${name}` }];
}

/** Versions of agents beside that of the server. */
export const versionsGoTogether: Check = {
  category,
  description: "The versions of the agents are supported by the server",
  reads: ["clusters", "deployments"],
  findings: ({ clusters, deployments }) => {
    const server = serverVersion(deployments);
    if (server === undefined) return [];
    return clusters.flatMap(({ metadata: { name }, status }) => {
      const agent = status?.agent?.version;
      if (agent === undefined || skewOf(agent, server) !== "unsupported") return [];
      const message = `cluster ${name}: agent ${agent} is outside of what server ${server} supports: two minor versions older to one newer`;
      return { code: "REL1007", severity: "warning", message, remedy: "upgrade the agent, or the server" };
    });
  },
};

/** What is known, of clusters that are registered once. */
export const clustersAreRegistered: Check = {
  category,
  description: "Each cluster of which something is known is registered, under one name",
  reads: ["clusters", "meshes", "deployments"],
  findings: ({ clusters, meshes, deployments, namespace }) => {
    const registered = new Set([...clusters.map(({ metadata }) => metadata.name), singleCluster(deployments) ?? ""]);
    const unregistered = new Map<string, Mesh>();
    for (const mesh of meshes) {
      const cluster = meshInstallationOf(mesh)?.cluster ?? "";
      if (!registered.has(cluster)) unregistered.set(cluster, mesh);
    }
    return [
      ...[...unregistered].map(([name, mesh]): CheckFinding => {
        const message = `cluster ${name} has no KubernetesCluster in namespace ${namespace}, and ${subjectName(mesh)} is there as it was discovered in it`;
        return {
          code: "REL1002",
          severity: "warning",
          message,
          remedy: "meshctl logs; meshctl cluster register --help, if it is meant to be registered",
        };
      }),
      ...twiceRegistered(clusters),
    ];
  },
};

function twiceRegistered(clusters: readonly KubernetesCluster[]): readonly CheckFinding[] {
  const byUid = groupsBy(clusters, ({ status }) => status?.clusterUid ?? "");
  return [...byUid].flatMap(([uid, same]): readonly CheckFinding[] => {
    if (uid === "" || same.length === 1) return [];
    const names = same.map(({ metadata }) => metadata.name).sort();
    const message = `clusters ${names.join(" and ")} are one cluster: both have UID ${uid}`;
    return [
      { code: "REL1006", severity: "error", message, remedy: `meshctl cluster deregister ${names.at(-1)} --force, or the other one` },
    ];
  });
}

function messageOf({ status }: KubernetesCluster, type: string): string {
  return status?.conditions?.find((condition) => condition.type === type)?.message ?? "";
}
