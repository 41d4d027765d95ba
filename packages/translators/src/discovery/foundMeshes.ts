import { AppMesh, ConfigMap, Deployment, KubernetesCluster, type Mesh, Node, Pod, Service } from "@isthmus/api";
import { compareKeys, keyOfResource, type Resource, refOf, resourceKeyOf, type Steps, type Table } from "@isthmus/core";
import { versionsOf } from "../incremental/changes.ts";
import { remade, steady } from "../incremental/rows.ts";
import { type Ages, precedence } from "../precedence.ts";
import { appMeshesByArn, translateAppMesh } from "./detectors/appMesh.ts";
import { bySourceCluster, type Sourced } from "./found.ts";
import { indexedForMeshes, placeOf } from "./indexes.ts";
import { allControlPlanes, controlPlanesIn, meshInputs, translateMesh } from "./meshes.ts";
import { MeshMemory } from "./meshMemory.ts";
import { DISCOVERED_CLUSTER_LABEL } from "./metadata.ts";
import { type Clusters, type DiscoveryStep, rescopedClusters } from "./step.ts";

/** What comes of every control plane, and of every App Mesh by its ARN. */
export function* discoverMeshes(step: DiscoveryStep, before: Table<Sourced<Mesh>>): Steps<Table<Sourced<Mesh>>> {
  const { snapshot, options, owner, isWanted } = step;
  yield* indexedForMeshes(snapshot);
  const clusters = affectedClusters(step);
  const planes = (
    clusters === "all" ? allControlPlanes(snapshot) : [...clusters].flatMap((name) => controlPlanesIn(snapshot, name))
  ).filter((deployment) => isWanted(placeOf(deployment).clusterName));
  const wanted = new Map(planes.map((deployment) => [resourceKeyOf(refOf(deployment)), deployment]));
  const known = clusters === "all" ? [...before] : [...clusters].flatMap((name) => before.where(bySourceCluster, name));
  const found = yield* remade(before, new Set([...wanted.keys(), ...known.filter(isPlane).map(({ key }) => key)]), (key, row) => {
    const deployment = wanted.get(key);
    return deployment && sourced(key, deployment, translateMesh(meshInputs(snapshot, deployment, options, owner)), row);
  });
  if (step.since !== undefined && !step.since.changes.some(AppMesh)) return found;

  // They are few: each time one changes, all are made anew.
  const arns = new Map(appMeshesByArn(snapshot, isWanted));
  const { namespace } = options;
  return yield* remade(found, new Set([...arns.keys(), ...[...found].filter((row) => !isPlane(row)).map(({ key }) => key)]), (arn, row) => {
    const sources = arns.get(arn);
    return sources && sourced(arn, oldestOf(sources, options.ages), translateAppMesh({ arn, sources, owner, namespace }), row);
  });
}

function oldestOf([first, ...others]: readonly [AppMesh, ...AppMesh[]], ages: Ages = "FIRST_SEEN"): AppMesh {
  const isOlder = precedence(ages);
  return others.reduce((oldest, one) => (isOlder(one, oldest) < 0 ? one : oldest), first);
}

function isPlane({ source }: Sourced<Mesh>): boolean {
  return source.kind === Deployment.kind;
}

/** The clusters in which something that the detection of meshes reads has changed. */
function affectedClusters(step: DiscoveryStep): Clusters {
  const rescoped = rescopedClusters(step);
  if (step.since === undefined || rescoped === "all") return "all";
  const clusters = new Set(rescoped);
  const { changes } = step.since;
  for (const kind of [Deployment, ConfigMap, Service, Pod, Node]) {
    for (const resource of versionsOf<Resource>(changes.of<Resource>(kind))) clusters.add(placeOf(resource).clusterName);
  }
  for (const { cluster } of versionsOf(changes.of(MeshMemory))) clusters.add(cluster);
  for (const registration of versionsOf(changes.of(KubernetesCluster))) clusters.add(registration.metadata.name);
  return clusters;
}

/** What came of one source; the row that was there when it says the same, undefined when nothing came of it. */
export function sourced<R extends Resource>(
  key: string,
  source: Resource,
  result: Sourced<R>["result"],
  before: Sourced<R> | undefined,
): Sourced<R> | undefined {
  if (result.output === undefined && result.reports.length === 0) return undefined;
  const same = steady(result, before?.result);
  return before !== undefined && same === before.result && source === before.source ? before : { key, source, result: same };
}

/** The meshes of a cluster, in key order: those that were found in it, an App Mesh in each cluster that has a resource for it. */
export type MeshesOf = (clusterName: string) => readonly Mesh[];

/** Discovered meshes by their cluster. */
export function meshesByCluster(meshes: readonly Mesh[]): MeshesOf {
  const byCluster = new Map<string, Mesh[]>();
  for (const mesh of [...meshes].sort((a, b) => compareKeys(keyOfResource(a), keyOfResource(b)))) {
    for (const clusterName of clustersOf(mesh)) {
      const list = byCluster.get(clusterName);
      if (list === undefined) byCluster.set(clusterName, [mesh]);
      else list.push(mesh);
    }
  }
  return (clusterName) => byCluster.get(clusterName) ?? NONE;
}

/** The clusters whose meshes are others than before. */
export function clustersWithOtherMeshes(changed: Iterable<Mesh>): Clusters {
  return new Set([...changed].flatMap(clustersOf));
}

const NONE: readonly never[] = [];

/** The clusters that a mesh was found in. That one cluster names an App Mesh puts nothing of another into it. */
function clustersOf({ metadata, spec }: Mesh): readonly string[] {
  const clusterName = metadata.labels?.[DISCOVERED_CLUSTER_LABEL];
  return clusterName === undefined ? [...new Set(spec?.awsAppMesh?.clusters)] : [clusterName];
}
