import { ConfigMap, Deployment, type Mesh, Namespace, Node, Service } from "@isthmus/api";
import { type Kind, type Report, type Resource, snapshotOf } from "@isthmus/core";
import type { ApiServer, Permission } from "@isthmus/kubernetes";
import { type Cluster, ClusterError } from "@isthmus/ports";
import { isControlPlane, translate } from "@isthmus/translators";
import { withRemedy } from "../../cluster/managementCluster.ts";
import { type DeploymentState, DeploymentStates } from "../deployments.ts";
import { type MeshPolicies, readMeshPolicies } from "./meshPolicies.ts";
import { INSTALLING, type NeededPermission } from "./permissions.ts";

/** What checks see of a cluster before, or after, an agent is installed in it. */
export interface TargetState {
  /** Namespace of the agent. */
  readonly namespace: string;
  /** Such as `v1.31.2`. */
  readonly kubernetes: string;
  /** Deployments of the agent's namespace. */
  readonly agents: readonly DeploymentState[];
  /** What discovery would report of the cluster. */
  readonly discovered: { readonly meshes: readonly Mesh[]; readonly reports: readonly Report[] };
  /** Those of what an installation needs that the user lacks. */
  readonly lacking: readonly Permission[];
  readonly policies: MeshPolicies;
  /** How far the clock of its API server is ahead of that of the management cluster, in milliseconds; undefined: not known. */
  readonly aheadMs: number | undefined;
}

/** What is read of a cluster. */
export interface TargetReading {
  /** Namespace of the agent. */
  readonly namespace: string;
  /** Those of `TargetState`; others are left empty. */
  readonly needed: ReadonlySet<string>;
  /** How far the clock of the management cluster is ahead of this machine's, in milliseconds. */
  readonly managementAheadMs: number | undefined;
}

type Part = Exclude<keyof TargetState, "namespace">;

/** The state, and why parts of it are missing. */
export interface ReadTarget {
  readonly state: TargetState;
  readonly unread: ReadonlyMap<string, string>;
}

/** Reads a cluster. A part that the user may not read is missing; the others are checked all the same. */
export async function readTarget(
  { cluster, api }: { readonly cluster: Cluster; readonly api: ApiServer },
  { namespace, needed, managementAheadMs }: TargetReading,
  signal: AbortSignal,
): Promise<ReadTarget> {
  const unread = new Map<string, string>();
  const state: TargetState = {
    namespace,
    kubernetes: await attempt("kubernetes", "unknown", () => api.version(signal)),
    agents: await attempt("agents", [], async () => (await cluster.list(DeploymentStates, { namespace }, signal)).items),
    discovered: await attempt("discovered", { meshes: [], reports: [] }, () => discoveredIn(cluster, namespace, signal)),
    lacking: await attempt("lacking", [], () => lackingOf(api, { namespace, needed: INSTALLING }, signal)),
    policies: await attempt("policies", NO_POLICIES, () => readMeshPolicies(cluster, signal)),
    aheadMs: await attempt("aheadMs", undefined, async () => {
      const aheadMs = await api.clockAheadMs(signal);
      return aheadMs === undefined || managementAheadMs === undefined ? undefined : aheadMs - managementAheadMs;
    }),
  };
  return { state, unread };

  async function attempt<T>(part: Part, none: T, read: () => Promise<T>): Promise<T> {
    if (!needed.has(part)) return none;
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof ClusterError) || error.code === "Unavailable") throw error;
      unread.set(part, withRemedy(error));
      return none;
    }
  }
}

/** As in a cluster without Istio. */
export const NO_POLICIES: MeshPolicies = {
  peerAuthentications: [],
  requestAuthentications: 0,
  authorizationPolicies: [],
  virtualServices: [],
};

/** Those of the needed permissions that the user lacks. */
export async function lackingOf(
  api: Pick<ApiServer, "isAllowed">,
  { namespace, needed }: { readonly namespace: string; readonly needed: readonly NeededPermission[] },
  signal: AbortSignal,
): Promise<readonly Permission[]> {
  const lacking: Permission[] = [];
  for (const { isNamespaced, ...wanted } of needed) {
    const permission = isNamespaced ? { ...wanted, namespace } : wanted;
    if (!(await api.isAllowed(permission, signal))) lacking.push(permission);
  }
  return lacking;
}

/** The meshes that an agent would find: discovery itself, on what of the cluster it needs for them. */
async function discoveredIn(cluster: Cluster, namespace: string, signal: AbortSignal): Promise<TargetState["discovered"]> {
  const all = async <R extends Resource>(kind: Kind<R>, within?: string): Promise<readonly R[]> => {
    const { items } = await cluster.list(
      kind,
      { ...(within === undefined ? {} : { namespace: within }), transform: (item) => project(kind, item) },
      signal,
    );
    return items;
  };
  const deployments = await all(Deployment);
  // ConfigMaps may be many and large: those beside a control plane tell its settings.
  const namespaces = new Set(deployments.filter(isControlPlane).map(({ metadata }) => metadata.namespace ?? ""));
  const configMaps = [];
  for (const within of namespaces) configMaps.push(...(await all(ConfigMap, within)));
  const resources = [...(await all(Namespace)), ...(await all(Node)), ...(await all(Service)), ...deployments, ...configMaps];
  const given = snapshotOf(resources.map((resource) => ({ ...resource, metadata: { ...resource.metadata, clusterName: CLUSTER } })));
  const { discovery, reports } = translate(given, { namespace, stage: "discovery", ages: "CREATED", agentCluster: CLUSTER });
  const meshes = [...discovery].flatMap(({ resource }) => (resource.kind === "Mesh" ? [resource as Mesh] : []));
  return { meshes, reports };
}

function project<R extends Resource>(kind: Kind<R>, resource: R): R {
  return kind.project?.(resource) ?? resource;
}

// The name does not matter: it has none yet.
const CLUSTER = "cluster";
