import type { Resource } from "@isthmus/core";

// On Meshes, Workloads and Destinations, which the management cluster holds.
const DISCOVERED_CLUSTER_LABEL = "cluster.discovery.mesh.gloo.solo.io";

/** The cluster that an object is about: its own, that in which it was discovered, or the one that it registers. "" is the management cluster. */
export function clusterOf(resource: Resource): string {
  const { name, clusterName = "", labels } = resource.metadata;
  if (resource.kind === "KubernetesCluster") return name;
  return clusterName === "" ? (labels?.[DISCOVERED_CLUSTER_LABEL] ?? "") : clusterName;
}
