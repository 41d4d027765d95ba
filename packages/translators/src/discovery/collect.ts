import type { Mesh, Workload } from "@isthmus/api";
import { type Collection, emptyCollection, keyOfResource, putAll } from "@isthmus/core";
import type { Discovered, Uncollided } from "./collisions.ts";
import type { Found } from "./found.ts";
import { placeKey, placeOf } from "./indexes.ts";
import { DISCOVERED_CLUSTER_LABEL } from "./metadata.ts";

/** Discovered meshes by the cluster they were found in, each list in key order. */
export function meshesByCluster(outputs: readonly Found<Mesh>[]): ReadonlyMap<string, readonly Mesh[]> {
  const byCluster = new Map<string, Mesh[]>();
  for (const mesh of emptyCollection<Mesh>().with(putAll(outputs.map(({ resource }) => resource)))) {
    const clusterName = mesh.metadata.labels?.[DISCOVERED_CLUSTER_LABEL] ?? "";
    byCluster.set(clusterName, [...(byCluster.get(clusterName) ?? []), mesh]);
  }
  return byCluster;
}

/** The workloads that Services may select, as a collection made from the previous one so that its indexes need not be built anew. */
export function collected({ outputs, displaced }: Uncollided<Workload>, previous: Collection<Workload> | undefined): Collection<Workload> {
  const changes = putAll([...outputs.map(({ resource }) => resource), ...displaced.map(underItsSource)]);
  for (const workload of previous ?? []) {
    const key = keyOfResource(workload);
    if (!changes.has(key)) changes.set(key, undefined);
  }
  return (previous ?? emptyCollection<Workload>()).with(changes);
}

/** A workload that could not have its name still backs its Service: here it stands under one that no other has. */
function underItsSource({ source, output: { resource } }: Discovered<Workload>): Workload {
  return {
    ...resource,
    metadata: { ...resource.metadata, name: `${resource.metadata.name}/${placeKey(placeOf(source))}/${source.metadata.name}` },
  };
}
