import type { KubernetesCluster } from "@isthmus/api";

/** Whether an object registers a cluster of the management plane: it does so in its namespace alone. */
export function isRegistration({ metadata }: KubernetesCluster, namespace: string): boolean {
  return (metadata.clusterName ?? "") === "" && metadata.namespace === namespace;
}
