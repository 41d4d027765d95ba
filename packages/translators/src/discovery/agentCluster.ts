import { agentKinds } from "@isthmus/api";
import { inCluster, type Resource, type ResourceRef, refOf, type Snapshot } from "@isthmus/core";

/** The snapshot as an agent sees it: what names no cluster is in its own. */
export function inAgentCluster(snapshot: Snapshot, clusterName: string): Snapshot {
  const put: Resource[] = [];
  const remove: ResourceRef[] = [];
  for (const kind of agentKinds()) {
    for (const resource of snapshot.of(kind)) {
      if (resource.metadata.clusterName !== undefined && resource.metadata.clusterName !== "") continue;
      put.push(inCluster(resource, clusterName));
      remove.push(refOf(resource));
    }
  }
  return snapshot.apply({ put, remove });
}
