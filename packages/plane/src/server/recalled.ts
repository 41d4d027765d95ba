import { type AnyResource, type Index, type Owner, type Resource, refOf, resourceKeyOf, type Snapshot } from "@isthmus/core";
import { bearsLabelOf } from "../ownership.ts";
import type { ClusterState } from "./snapshotStore.ts";

/** The label of a discovered object that names the cluster it was found in. */
export const DISCOVERED_IN = "cluster.discovery.mesh.gloo.solo.io";

/**
 * What stands for the clusters that are registered and have not been heard since this server started: the objects that
 * were last discovered there, as they are published in the management cluster. So a restart of the server takes nothing
 * away from anyone: see docs/decisions/0011. What was recalled once stays as it was until its cluster is heard, whatever is
 * done to the published object meanwhile: it is the only memory that there is.
 */
export function recalledObjects({
  before,
  management,
  discoveryKinds,
  owner,
  registered,
  clusters,
}: {
  readonly before: ReadonlyMap<string, Resource>;
  readonly management: Snapshot;
  readonly discoveryKinds: ReadonlySet<string>;
  readonly owner: Owner;
  readonly registered: Iterable<string>;
  readonly clusters: ReadonlyMap<string, ClusterState>;
}): ReadonlyMap<string, Resource> {
  const silent = [...registered].filter((clusterName) => (clusters.get(clusterName)?.phase ?? "unknown") === "unknown");
  const recalled = new Map([...before].filter(([, resource]) => silent.includes(resource.metadata.labels?.[DISCOVERED_IN] ?? "")));
  for (const clusterName of silent) {
    for (const [kindKey, collection] of management.collections()) {
      if (!discoveryKinds.has(kindKey)) continue;
      for (const resource of collection.where(byDiscoveredCluster, clusterName)) {
        const key = resourceKeyOf(refOf(resource));
        if (!recalled.has(key) && bearsLabelOf(resource, [owner])) recalled.set(key, resource);
      }
    }
  }
  return recalled;
}

/** A recalled object as it is to be published again. */
export function republished(resource: Resource): Resource {
  const { status: _, metadata, ...body } = resource as AnyResource;
  const { name, namespace, labels, annotations } = metadata;
  const kept = {
    name,
    ...(namespace === undefined ? {} : { namespace }),
    ...(labels === undefined ? {} : { labels }),
    ...(annotations === undefined ? {} : { annotations }),
  };
  return { ...body, metadata: kept };
}

const byDiscoveredCluster: Index<Resource> = (resource) => {
  const clusterName = resource.metadata.labels?.[DISCOVERED_IN];
  return clusterName === undefined ? [] : [clusterName];
};
