import { Destination, Mesh, Workload } from "@isthmus/api";
import {
  type Collection,
  type CooperativeTask,
  emptyCollection,
  type Kind,
  keyOfResource,
  type Output,
  type OutputSet,
  outputSet,
  type Report,
  type Resource,
  resourceKeyOf,
  runToCompletion,
  type Snapshot,
  withEach,
} from "@isthmus/core";
import { versionsOf } from "../incremental/changes.ts";
import { inAgentCluster } from "./agentCluster.ts";
import { discoverDestinations } from "./discoverDestinations.ts";
import { clustersWithOtherMeshes, discoverMeshes, type MeshesOf, meshesByCluster } from "./discoverMeshes.ts";
import { discoverWorkloads } from "./discoverWorkloads.ts";
import type { DiscoveryRow } from "./discoveryResult.ts";
import { namespaceKey, namespaceLocationOf } from "./indexes.ts";
import { type DiscoveryOptions, discoveryOwner } from "./metadata.ts";
import {
  assignNames,
  discoveryReports,
  type NameAssignments,
  type NameChanges,
  nameLosers,
  nameWinner,
  noNameAssignments,
} from "./nameAssignments.ts";
import { discoveryStep, rescopedClusters, unionOfClusters } from "./step.ts";

/** What was discovered, and what the next discovery can reuse. */
export interface DiscoveryTranslation {
  /** Mesh, Workload and Destination objects for the management cluster. */
  readonly outputs: OutputSet;
  /** Findings about the objects that were looked at. */
  readonly reports: readonly Report[];
  readonly memory: DiscoveryCache;
}

/** What one discovery leaves for the next. */
export interface DiscoveryCache {
  readonly snapshot: Snapshot;
  readonly options: DiscoveryOptions;
  readonly outputs: OutputSet;
  readonly meshes: NameAssignments<Mesh>;
  readonly meshesOf: MeshesOf;
  readonly workloads: NameAssignments<Workload>;
  readonly destinations: NameAssignments<Destination>;
  /** The discovered workloads, with their indexes; those that yielded their names, too. */
  readonly found: Collection<Workload>;
}

/**
 * Discovers meshes, then workloads in them, then destinations, each by what came before. A pure function of the snapshot:
 * `previous` only spares work and keeps unchanged objects identical. Mesh, Workload and Destination objects that exist are not read.
 */
export function translateDiscovery(given: Snapshot, options: DiscoveryOptions, previous?: DiscoveryCache): DiscoveryTranslation {
  return runToCompletion(discoveryIn(given, options, previous));
}

/** The same in steps. */
export function* discoveryIn(given: Snapshot, options: DiscoveryOptions, previous?: DiscoveryCache): CooperativeTask<DiscoveryTranslation> {
  const { namespace, agentCluster, ages = "FIRST_SEEN" } = options;
  const snapshot = agentCluster === undefined ? given : inAgentCluster(given, agentCluster);
  const isContinued =
    previous?.options.namespace === namespace &&
    previous.options.agentCluster === agentCluster &&
    (previous.options.ages ?? "FIRST_SEEN") === ages;
  const before = isContinued ? previous : nothingDiscovered(options);
  const step = discoveryStep(snapshot, options, isContinued ? previous.snapshot : undefined);

  const meshes = yield* assignNames(yield* discoverMeshes(step, before.meshes.rows), before.meshes, ages);
  const meshesOf = meshes.changes.length === 0 ? before.meshesOf : meshesByCluster(resourcesOf(meshes.naming));
  const otherMeshes = [...versionsOf(meshes.changes)].map(({ resource }) => resource);
  const anew = unionOfClusters(rescopedClusters(step), clustersWithOtherMeshes(otherMeshes));
  const workloads = yield* assignNames(yield* discoverWorkloads(step, before.workloads.rows, { meshesOf, anew }), before.workloads, ages);
  const found = yield* withEach(before.found, yield* backingChanges(workloads, before.workloads));
  const sources = { meshesOf, workloads: found, workloadChanges: found.changesSince(before.found), anew };
  const destinations = yield* assignNames(yield* discoverDestinations(step, before.destinations.rows, sources), before.destinations, ages);

  const outputs = yield* withEach(before.outputs, [
    ...outputChanges(Mesh, namespace, meshes),
    ...outputChanges(Workload, namespace, workloads),
    ...outputChanges(Destination, namespace, destinations),
  ]);
  const named = { meshes: meshes.naming, workloads: workloads.naming, destinations: destinations.naming };
  return {
    outputs,
    get reports() {
      return [...discoveryReports(named.meshes), ...discoveryReports(named.workloads), ...discoveryReports(named.destinations)];
    },
    memory: { snapshot, options, outputs, ...named, meshesOf, found },
  };
}

function nothingDiscovered(options: DiscoveryOptions): Omit<DiscoveryCache, "snapshot"> {
  return {
    options,
    outputs: outputSet(discoveryOwner(options)),
    meshes: noNameAssignments(),
    meshesOf: meshesByCluster([]),
    workloads: noNameAssignments(),
    destinations: noNameAssignments(),
    found: emptyCollection(),
  };
}

function resourcesOf<R extends Resource>(naming: NameAssignments<R>): readonly R[] {
  return [...naming.rows].flatMap((row) => {
    const { output } = row.result;
    return output === undefined || nameWinner(naming, output.resource.metadata.name) !== row ? [] : [output.resource];
  });
}

function outputChanges(
  kind: Kind,
  namespace: string,
  { changes }: NameChanges<Resource>,
): readonly (readonly [string, Output | undefined])[] {
  const { apiVersion, kind: kindName } = kind;
  return changes.map(({ key, after }) => [resourceKeyOf({ apiVersion, kind: kindName, name: key, namespace, clusterName: "" }), after]);
}

/** What becomes of the workloads that Services may select. */
function* backingChanges(
  { naming, names }: NameChanges<Workload>,
  before: NameAssignments<Workload>,
): CooperativeTask<readonly (readonly [string, Workload | undefined])[]> {
  const changes: (readonly [string, Workload | undefined])[] = [];
  for (const name of names) {
    for (const workload of backing(before, name)) changes.push([keyOfResource(workload), undefined]);
    for (const workload of backing(naming, name)) changes.push([keyOfResource(workload), workload]);
    yield;
  }
  return changes;
}

/** Who is discovered under a name, and who would be: what could not have its name still backs its Service. */
function backing(naming: NameAssignments<Workload>, name: string): readonly Workload[] {
  const held = nameWinner(naming, name)?.result.output?.resource;
  return [...(held === undefined ? [] : [held]), ...nameLosers(naming, name).flatMap(underItsSource)];
}

/** A workload under a name that no other has. */
function underItsSource({ source, result: { output } }: DiscoveryRow<Workload>): readonly Workload[] {
  if (output === undefined) return [];
  const { resource } = output;
  const name = `${resource.metadata.name}/${namespaceKey(namespaceLocationOf(source))}/${source.metadata.name}`;
  return [{ ...resource, metadata: { ...resource.metadata, name } }];
}
