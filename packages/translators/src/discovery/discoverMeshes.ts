import { AppMesh, ConfigMap, Deployment, KubernetesCluster, type Mesh, Node, Pod, Service } from "@isthmus/api";
import { type CooperativeTask, compareKeys, keyOfResource, type Resource, refOf, resourceKeyOf, type Table } from "@isthmus/core";
import { versionsOf } from "../incremental/changes.ts";
import { recompute, reuseIfEqual } from "../incremental/rows.ts";
import { type AgeSource, precedence } from "../policy/precedence.ts";
import { appMeshesByArn, translateAppMesh } from "./detectors/appMesh.ts";
import { bySourceCluster, type DiscoveryRow } from "./discoveryResult.ts";
import { indexedForMeshes, namespaceLocationOf } from "./indexes.ts";
import { LastKnownMesh } from "./lastKnownMesh.ts";
import { allControlPlanes, controlPlaneInputs, controlPlanesIn, translateMesh } from "./meshes.ts";
import { DISCOVERED_CLUSTER_LABEL } from "./metadata.ts";
import { type Clusters, type DiscoveryStep, rescopedClusters } from "./step.ts";

/** What comes of every control plane, and of every App Mesh by its ARN. */
export function* discoverMeshes(step: DiscoveryStep, before: Table<DiscoveryRow<Mesh>>): CooperativeTask<Table<DiscoveryRow<Mesh>>> {
  const { snapshot, options, owner, isWanted } = step;
  yield* indexedForMeshes(snapshot);
  const clusters = affectedClusters(step);
  const planes = (
    clusters === "all" ? allControlPlanes(snapshot) : [...clusters].flatMap((name) => controlPlanesIn(snapshot, name))
  ).filter((deployment) => isWanted(namespaceLocationOf(deployment).clusterName));
  const wanted = new Map(planes.map((deployment) => [resourceKeyOf(refOf(deployment)), deployment]));
  const known = clusters === "all" ? [...before] : [...clusters].flatMap((name) => before.where(bySourceCluster, name));
  const found = yield* recompute(before, new Set([...wanted.keys(), ...known.filter(isPlane).map(({ key }) => key)]), (key, row) => {
    const deployment = wanted.get(key);
    return deployment && discoveryRow(key, deployment, translateMesh(controlPlaneInputs(snapshot, deployment, options, owner)), row);
  });
  if (step.since !== undefined && !step.since.changes.some(AppMesh)) return found;

  // They are few: each time one changes, all are made anew.
  const arns = new Map(appMeshesByArn(snapshot, isWanted));
  const { namespace } = options;
  return yield* recompute(
    found,
    new Set([...arns.keys(), ...[...found].filter((row) => !isPlane(row)).map(({ key }) => key)]),
    (arn, row) => {
      const sources = arns.get(arn);
      return sources && discoveryRow(arn, oldestOf(sources, options.ages), translateAppMesh({ arn, sources, owner, namespace }), row);
    },
  );
}

function oldestOf([first, ...others]: readonly [AppMesh, ...AppMesh[]], ages: AgeSource = "FIRST_SEEN"): AppMesh {
  const isOlder = precedence(ages);
  return others.reduce((oldest, one) => (isOlder(one, oldest) < 0 ? one : oldest), first);
}

function isPlane({ source }: DiscoveryRow<Mesh>): boolean {
  return source.kind === Deployment.kind;
}

/** The clusters in which something that the detection of meshes reads has changed. */
function affectedClusters(step: DiscoveryStep): Clusters {
  const rescoped = rescopedClusters(step);
  if (step.since === undefined || rescoped === "all") return "all";
  const clusters = new Set(rescoped);
  const { changes } = step.since;
  for (const kind of [Deployment, ConfigMap, Service, Pod, Node]) {
    for (const resource of versionsOf<Resource>(changes.of<Resource>(kind))) clusters.add(namespaceLocationOf(resource).clusterName);
  }
  for (const { cluster } of versionsOf(changes.of(LastKnownMesh))) clusters.add(cluster);
  for (const registration of versionsOf(changes.of(KubernetesCluster))) clusters.add(registration.metadata.name);
  return clusters;
}

/** What came of one source; the row that was there when it says the same, undefined when nothing came of it. */
export function discoveryRow<R extends Resource>(
  key: string,
  source: Resource,
  result: DiscoveryRow<R>["result"],
  before: DiscoveryRow<R> | undefined,
): DiscoveryRow<R> | undefined {
  if (result.output === undefined && result.reports.length === 0) return undefined;
  const same = reuseIfEqual(result, before?.result);
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
