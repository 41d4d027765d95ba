import { AccessPolicy, Destination, KubernetesCluster, Mesh, TrafficPolicy, VirtualMesh } from "@isthmus/api";
import type { Kind, Resource } from "@isthmus/core";
import { type Cluster, ClusterError } from "@isthmus/plane/ports";
import { withRemedy } from "../../cluster/managementCluster.ts";
import { type DeploymentState, DeploymentStates } from "../deployments.ts";

/** What checks see of the management cluster. */
export interface PlaneState {
  readonly namespace: string;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** `group/Kind` of all that the API server serves. */
  readonly served: ReadonlySet<string>;
  readonly deployments: readonly DeploymentState[];
  readonly clusters: readonly KubernetesCluster[];
  readonly meshes: readonly Mesh[];
  readonly destinations: readonly Destination[];
  readonly trafficPolicies: readonly TrafficPolicy[];
  readonly accessPolicies: readonly AccessPolicy[];
  readonly virtualMeshes: readonly VirtualMesh[];
}

/** A part of the state that is read by itself. */
export type StateName = Exclude<keyof PlaneState, "namespace" | "now">;

const PARTS: readonly StateName[] = [
  "deployments",
  "clusters",
  "meshes",
  "destinations",
  "trafficPolicies",
  "accessPolicies",
  "virtualMeshes",
];

/** The state, and why parts of it are missing. */
export interface ReadState {
  readonly state: PlaneState;
  readonly unread: ReadonlyMap<StateName, string>;
}

/**
 * Reads what checks need. A part that the user may not read, or that is not there, is missing; the others are checked all the same. Throws
 * ClusterError when no object can be read at all, or nobody answers.
 */
export async function readPlaneState(
  cluster: Cluster,
  { namespace, now }: Pick<PlaneState, "namespace" | "now">,
  signal: AbortSignal,
): Promise<ReadState> {
  const unread = new Map<StateName, string>();
  let firstError: ClusterError | undefined;
  const served = await attempt("served", new Set<string>(), async () => {
    const kinds = await cluster.servedKinds(signal);
    return new Set(kinds.map(({ apiVersion, kind }) => `${apiVersion.split("/").slice(0, -1).join("/")}/${kind}`));
  });
  const all = async <R extends Resource>(name: StateName, kind: Kind<R>, within?: string): Promise<readonly R[]> =>
    attempt(name, [], async () => (await cluster.list(kind, within === undefined ? {} : { namespace: within }, signal)).items);
  const state: PlaneState = {
    namespace,
    now,
    served,
    deployments: await all("deployments", DeploymentStates, namespace),
    clusters: await all("clusters", KubernetesCluster, namespace),
    meshes: await all("meshes", Mesh),
    destinations: await all("destinations", Destination),
    trafficPolicies: await all("trafficPolicies", TrafficPolicy),
    accessPolicies: await all("accessPolicies", AccessPolicy),
    virtualMeshes: await all("virtualMeshes", VirtualMesh),
  };
  // What is served is told to everybody.
  if (firstError !== undefined && PARTS.every((part) => unread.has(part))) throw firstError;
  return { state, unread };

  async function attempt<T>(name: StateName, none: T, read: () => Promise<T>): Promise<T> {
    try {
      return await read();
    } catch (error) {
      // One that does not answer would be asked ten times for nothing.
      if (!(error instanceof ClusterError) || error.code === "Unavailable") throw error;
      firstError ??= error;
      unread.set(name, withRemedy(error));
      return none;
    }
  }
}
