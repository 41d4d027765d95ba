import type { Mesh, Workload } from "@isthmus/api";
import { type Collection, emptyCollection, keyOfResource, putAll } from "@isthmus/core";
import type { Discovered, Uncollided } from "./collisions.ts";
import type { Found } from "./found.ts";
import { placeKey, placeOf } from "./indexes.ts";
import { DISCOVERED_CLUSTER_LABEL } from "./metadata.ts";

/** The meshes of a cluster, in key order: those that were found in it, then those that are in no one cluster. */
export type MeshesOf = (clusterName: string) => readonly Mesh[];

/** Discovered meshes by their cluster. */
export function meshesByCluster(outputs: readonly Found<Mesh>[]): MeshesOf {
  const byCluster = new Map<string, Mesh[]>();
  for (const mesh of emptyCollection<Mesh>().with(putAll(outputs.map(({ resource }) => resource)))) {
    const clusterName = mesh.metadata.labels?.[DISCOVERED_CLUSTER_LABEL] ?? "";
    byCluster.set(clusterName, [...(byCluster.get(clusterName) ?? []), mesh]);
  }
  const shared = byCluster.get("") ?? [];
  return (clusterName) => {
    const ofCluster = byCluster.get(clusterName);
    return ofCluster === undefined ? shared : shared.length === 0 ? ofCluster : [...ofCluster, ...shared];
  };
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
