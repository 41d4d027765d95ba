import {
  AccessPolicy,
  Destination,
  KubernetesCluster,
  Mesh,
  Namespace,
  Settings,
  TrafficPolicy,
  VirtualDestination,
  VirtualMesh,
  Workload,
} from "@isthmus/api";
import type { Kind, Resource } from "@isthmus/core";
import type { Insight } from "@isthmus/insights";
import { type Cluster, ClusterError } from "@isthmus/ports";
import { withRemedy } from "../../cluster/managementCluster.ts";
import { type DeploymentState, DeploymentStates } from "../deployments.ts";
import { type RelayCertificate, readRelayCertificates } from "./relayCertificates.ts";

/** What was read of the management cluster. */
export interface PlaneObjects {
  readonly namespace: string;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** `group/Kind` of all that the API server serves. */
  readonly served: ReadonlySet<string>;
  readonly deployments: readonly DeploymentState[];
  /** Known only where there are no Deployments, and the user may know. */
  readonly isNamespaceMissing?: true;
  readonly clusters: readonly KubernetesCluster[];
  readonly relayCertificates: readonly RelayCertificate[];
  readonly settings: readonly Settings[];
  readonly meshes: readonly Mesh[];
  readonly workloads: readonly Workload[];
  readonly destinations: readonly Destination[];
  readonly trafficPolicies: readonly TrafficPolicy[];
  readonly accessPolicies: readonly AccessPolicy[];
  readonly virtualMeshes: readonly VirtualMesh[];
  readonly virtualDestinations: readonly VirtualDestination[];
}

/** Insights that follow from what was read. */
export interface StateInsights {
  readonly shown: readonly Insight[];
  /** By annotations and Settings. */
  readonly suppressed: readonly Insight[];
}

/** What checks see of the management cluster. */
export interface PlaneState extends PlaneObjects {
  /** What follows from it by the rules of insights; found once. */
  insights(): StateInsights;
  /** The codes of insights that a check of their own prints, of those that are made. */
  readonly grouped: ReadonlySet<string>;
}

/** A part of the state that is read by itself. */
export type StateName = Exclude<keyof PlaneObjects, "namespace" | "now" | "isNamespaceMissing">;

/** What is served is shown to everybody, and a Secret by its name may not be there. */
const UNLISTED: ReadonlySet<StateName> = new Set<StateName>(["served", "relayCertificates"]);

/** The state, and why parts of it are missing. */
export interface ReadState {
  readonly state: PlaneObjects;
  readonly unread: ReadonlyMap<StateName, string>;
}

/**
 * Reads what checks need, and of the state no more. A part that the user may not read, or that is not there, is missing; the others are checked all the same. Throws
 * ClusterError when no object can be read at all, or nobody answers.
 */
export async function readPlaneState(
  cluster: Cluster,
  { namespace, now, needed }: Pick<PlaneObjects, "namespace" | "now"> & { readonly needed: ReadonlySet<StateName> },
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
  const deployments = await all("deployments", DeploymentStates, namespace);
  const isEmpty = deployments.length === 0 && needed.has("deployments") && !unread.has("deployments");
  const state: PlaneObjects = {
    namespace,
    now,
    served,
    deployments,
    ...(isEmpty && (await isMissing(cluster, namespace, signal)) ? { isNamespaceMissing: true } : {}),
    clusters: await all("clusters", KubernetesCluster, namespace),
    relayCertificates: await attempt("relayCertificates", [], () => readRelayCertificates(cluster, namespace, signal)),
    settings: await all("settings", Settings, namespace),
    meshes: await all("meshes", Mesh),
    workloads: await all("workloads", Workload),
    destinations: await all("destinations", Destination),
    trafficPolicies: await all("trafficPolicies", TrafficPolicy),
    accessPolicies: await all("accessPolicies", AccessPolicy),
    virtualMeshes: await all("virtualMeshes", VirtualMesh),
    virtualDestinations: await all("virtualDestinations", VirtualDestination),
  };
  if (firstError !== undefined && [...needed].every((part) => UNLISTED.has(part) || unread.has(part))) throw firstError;
  return { state, unread };

  async function attempt<T>(name: StateName, none: T, read: () => Promise<T>): Promise<T> {
    if (!needed.has(name)) return none;
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

async function isMissing(cluster: Cluster, name: string, signal: AbortSignal): Promise<boolean> {
  try {
    return (await cluster.get(Namespace, { name, namespace: "" }, signal)) === undefined;
  } catch (error) {
    // Not all who may read its Deployments may read a Namespace.
    if (error instanceof ClusterError && error.code !== "Unavailable") return false;
    throw error;
  }
}
