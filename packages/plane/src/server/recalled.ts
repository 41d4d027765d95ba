import { type Index, keyOfResource, kindKeyOf, type Owner, type Resource, type Snapshot } from "@isthmus/core";
import { bearsLabelOf } from "../ownership.ts";
import type { ClusterState } from "./snapshotStore.ts";

/** The label of a discovered object that names the cluster it was found in. */
const DISCOVERED_IN = "cluster.discovery.mesh.gloo.solo.io";

/**
 * What stands for the clusters that are registered and have not been heard since this server started: the objects that
 * were last discovered there, as they are published in the management cluster. So a restart of the server takes nothing
 * away from anyone: see docs/decisions/0011.
 */
export function recalledObjects({
  management,
  discoveryKinds,
  owner,
  registered,
  clusters,
}: {
  readonly management: Snapshot;
  readonly discoveryKinds: ReadonlySet<string>;
  readonly owner: Owner;
  readonly registered: Iterable<string>;
  readonly clusters: ReadonlyMap<string, ClusterState>;
}): ReadonlyMap<string, Resource> {
  const recalled = new Map<string, Resource>();
  for (const clusterName of registered) {
    if ((clusters.get(clusterName)?.phase ?? "unknown") !== "unknown") continue;
    for (const [kindKey, collection] of management.collections()) {
      if (!discoveryKinds.has(kindKey)) continue;
      for (const resource of collection.where(byDiscoveredCluster, clusterName)) {
        if (bearsLabelOf(resource, [owner])) recalled.set(`${kindKeyOf(resource)}|${keyOfResource(resource)}`, resource);
      }
    }
  }
  return recalled;
}

const byDiscoveredCluster: Index<Resource> = (resource) => {
  const clusterName = resource.metadata.labels?.[DISCOVERED_IN];
  return clusterName === undefined ? [] : [clusterName];
};
