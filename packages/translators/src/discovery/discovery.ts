import { Destination, Mesh, Workload } from "@isthmus/api";
import {
  type CooperativeTask,
  emptyCollection,
  emptySnapshot,
  emptyTable,
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
import { changesSince } from "../incremental/changes.ts";
import { updated } from "../incremental/derived.ts";
import { transition } from "../incremental/transition.ts";
import { namespaceKey, namespaceLocationOf } from "../policy/podIndexes.ts";
import { inAgentCluster } from "./agentCluster.ts";
import { discoveredDestinations } from "./discoverDestinations.ts";
import { discoveredAppMeshes, discoveredControlPlanes } from "./discoverMeshes.ts";
import { discoveredOtherWorkloads, discoveredWorkloads } from "./discoverWorkloads.ts";
import { type DiscoveredObject, type DiscoveryRow, keyAcrossKinds } from "./discoveryResult.ts";
import { heldControlPlanes } from "./heldControlPlanes.ts";
import { indexedForDiscovery } from "./indexes.ts";
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
import { knownOtherControllers, type OtherController } from "./otherControllers.ts";
import { clusterScopes, type DiscoverySources, discoveryContext, knownControlPlanes } from "./sources.ts";

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
  readonly outputs: OutputSet;
  readonly meshes: NameAssignments<Mesh>;
  readonly workloads: NameAssignments<Workload>;
  readonly destinations: NameAssignments<Destination>;
  /** What rows were computed from; the workloads are all that were discovered, also those that yielded their names. */
  readonly sources: DiscoverySources;
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
  const before = previous !== undefined && isSameTask(previous.sources.context.options, options) ? previous : undefined;
  const was = before ?? nothingDiscovered(options);
  const earlier = before && { before: before.sources, changes: changesSince(before.sources.inputs, snapshot) };
  const after = <S extends Partial<DiscoverySources>>(now: S) => transition({ ...was.sources, ...now, inputs: snapshot, context }, earlier);
  const context = discoveryContext(snapshot, options, before?.sources.context);
  yield* indexedForDiscovery(snapshot);

  const there = yield* updated(was.sources.controlPlanes, knownControlPlanes, after({}));
  const controlPlanes = yield* updated(there, heldControlPlanes, after({ controlPlanes: there }));
  const scopes = yield* updated(was.sources.scopes, clusterScopes, after({ controlPlanes }));
  const ofPlanes = yield* updated(was.meshes.rows, discoveredControlPlanes, after({ controlPlanes, scopes }));
  const meshRows = yield* updated(ofPlanes, discoveredAppMeshes, after({ controlPlanes, scopes }));
  const meshes = yield* assignNames(meshRows, was.meshes, ages);
  const named = meshes.changes.flatMap(({ before: left, after: right }) => [...gone(left), ...here(right)]);
  const ofClusters = { controlPlanes, scopes, meshes: yield* withEach(was.sources.meshes, named) };
  const otherControllers = yield* updated(was.sources.otherControllers, knownOtherControllers, after({}));
  const ofControllers = { ...ofClusters, otherControllers };
  const ownRows = yield* updated(was.workloads.rows, discoveredWorkloads, after(ofClusters));
  const workloadRows = yield* updated(ownRows, discoveredOtherWorkloads, after(ofControllers));
  const workloads = yield* assignNames(workloadRows, was.workloads, ages);
  const found = yield* withEach(was.sources.workloads, yield* backingChanges(workloads, was.workloads));
  const last = after({ ...ofControllers, workloads: found });
  const destinations = yield* assignNames(yield* updated(was.destinations.rows, discoveredDestinations, last), was.destinations, ages);

  const outputs = yield* withEach(was.outputs, [
    ...outputChanges(Mesh, namespace, meshes),
    ...outputChanges(Workload, namespace, workloads),
    ...outputChanges(Destination, namespace, destinations),
  ]);
  const assigned = { meshes: meshes.naming, workloads: workloads.naming, destinations: destinations.naming };
  return {
    outputs,
    get reports() {
      return [...discoveryReports(assigned.meshes), ...discoveryReports(assigned.workloads), ...discoveryReports(assigned.destinations)];
    },
    memory: { outputs, ...assigned, sources: last.now },
  };
}

/** Whether what was discovered before can be reused. */
function isSameTask(before: DiscoveryOptions, now: DiscoveryOptions): boolean {
  const agesOf = ({ ages = "FIRST_SEEN" }: DiscoveryOptions) => ages;
  return before.namespace === now.namespace && before.agentCluster === now.agentCluster && agesOf(before) === agesOf(now);
}

function nothingDiscovered(options: DiscoveryOptions): DiscoveryCache {
  const inputs = emptySnapshot();
  return {
    outputs: outputSet(discoveryOwner(options)),
    meshes: noNameAssignments(),
    workloads: noNameAssignments(),
    destinations: noNameAssignments(),
    sources: {
      inputs,
      context: discoveryContext(inputs, options, undefined),
      controlPlanes: emptyTable(keyAcrossKinds),
      otherControllers: emptyTable<OtherController>(keyAcrossKinds),
      scopes: emptyTable(({ key }) => key),
      meshes: emptyCollection(),
      workloads: emptyCollection(),
    },
  };
}

type MeshEntry = readonly [string, Mesh | undefined];

function gone(object: DiscoveredObject<Mesh> | undefined): readonly MeshEntry[] {
  return object === undefined ? [] : [[keyOfResource(object.resource), undefined]];
}

function here(object: DiscoveredObject<Mesh> | undefined): readonly MeshEntry[] {
  return object === undefined ? [] : [[keyOfResource(object.resource), object.resource]];
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
  { naming, names, changes: assigned }: NameChanges<Workload>,
  before: NameAssignments<Workload>,
): CooperativeTask<readonly (readonly [string, Workload | undefined])[]> {
  const changes: (readonly [string, Workload | undefined])[] = [];
  if (before.nameConflicts.size + naming.nameConflicts.size === 0) {
    for (const { before: was, after } of assigned) {
      if (was !== undefined) changes.push([keyOfResource(was.resource), undefined]);
      if (after !== undefined) changes.push([keyOfResource(after.resource), after.resource]);
      yield;
    }
    return changes;
  }
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
