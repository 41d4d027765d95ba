import type { Destination, Mesh, Settings } from "@isthmus/api";
import { formatRef, type Resource, refOf } from "@isthmus/core";
import { type Finding, invalid } from "../findings.ts";

/**
 * What a user's resource may target. Those of the management cluster may target everything, and so may those of workload clusters,
 * unless the Settings narrow them to what is in their own cluster.
 */
export interface Reach {
  /** Whether all is in reach, whatever resource asks. */
  readonly isUnlimited: boolean;
  /** Whether a resource may target what is in a cluster; "" is no cluster or several. */
  includes(resource: Resource, clusterName: string): boolean;
}

/** The reach that the Settings give. */
export function reachIn(settings: Settings | undefined): Reach {
  const { targets = "ANY_DESTINATION", clusters = {} } = settings?.spec?.workloadClusterResources ?? {};
  const isUnlimited = [targets, ...Object.values(clusters)].every((word) => word === "ANY_DESTINATION");
  return {
    isUnlimited,
    includes({ metadata }, clusterName) {
      const { clusterName: own = "" } = metadata;
      if (isUnlimited || own === "" || own === clusterName) return true;
      return (clusters[own] ?? targets) === "ANY_DESTINATION";
    },
  };
}

/** The cluster of a Destination; "" when it is in no one cluster. */
export function destinationCluster({ spec }: Destination): string {
  return spec?.kubeService?.ref?.clusterName ?? "";
}

/** The cluster of a mesh; "" when it is in no one cluster. */
export function meshCluster({ spec }: Mesh): string {
  const { istio, osm, linkerd, consulConnect, awsAppMesh } = spec ?? {};
  const [only = "", ...others] = awsAppMesh?.clusters ?? [];
  return (istio ?? osm ?? linkerd ?? consulConnect)?.installation?.cluster ?? (others.length === 0 ? only : "");
}

/** That a resource of a workload cluster targets what is not in its own. `path` is the field that does; none where a selector finds it. */
export function outOfReach(resource: Resource, target: Resource, path?: string): Finding {
  const own = resource.metadata.clusterName ?? "";
  const where = path === undefined ? "" : `${path}: `;
  const remedy = path === undefined ? `narrow the destinationSelector to clusters: [${own}]` : "remove it here";
  return invalid(
    "OutOfReach",
    `${where}${formatRef(refOf(target))} is not in ${own}, and the Settings limit what lives in ${own} to that cluster ` +
      `(workloadClusterResources): ${remedy}, or write it in the management cluster`,
  );
}
