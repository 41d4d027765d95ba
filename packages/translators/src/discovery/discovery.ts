import { type Destination, type Mesh, Service, type Workload } from "@isthmus/api";
import {
  type Collection,
  type OutputSet,
  type Owner,
  outputSet,
  type Report,
  type Resource,
  refOf,
  resourceKeyOf,
  type Snapshot,
} from "@isthmus/core";
import { inAgentCluster } from "./agentCluster.ts";
import { collected, meshesByCluster } from "./collect.ts";
import { type Uncollided, withoutCollisions } from "./collisions.ts";
import { type DestinationInputs, translateDestination } from "./destinations.ts";
import { type AppMeshInputs, appMeshesByArn, translateAppMesh } from "./detectors/appMesh.ts";
import type { MeshInputs } from "./detectors/controlPlane.ts";
import type { Discovery } from "./found.ts";
import { placeOf } from "./indexes.ts";
import { controlPlanes, meshInputs, translateMesh } from "./meshes.ts";
import { type DiscoveryOptions, discoveryOwner } from "./metadata.ts";
import { type Results, translateEach } from "./reuse.ts";
import { discoveryScope, type Scope } from "./scope.ts";
import { destinationInputs } from "./services.ts";
import { controllers, podsOf, translateWorkload, type WorkloadInputs } from "./workloads.ts";

/** What was discovered, and what the next discovery can reuse. */
export interface DiscoveryTranslation {
  /** Mesh, Workload and Destination objects for the management cluster. */
  readonly outputs: OutputSet;
  /** Findings about the objects that were looked at. */
  readonly reports: readonly Report[];
  readonly memory: DiscoveryMemory;
}

/** What one discovery leaves for the next: results by the key of the object that was looked at. */
export interface DiscoveryMemory {
  readonly owner: Owner;
  readonly meshes: Results<MeshInputs, Discovery<Mesh>>;
  readonly appMeshes: Results<AppMeshInputs, Discovery<Mesh>>;
  readonly workloads: Results<WorkloadInputs, Discovery<Workload>>;
  readonly destinations: Results<DestinationInputs, Discovery<Destination>>;
  /** The discovered workloads, with their indexes; those that yielded their names, too. */
  readonly found: Collection<Workload>;
}

/**
 * Discovers meshes, then workloads in them, then destinations, each by what came before. A pure function of the snapshot:
 * `previous` only spares work and keeps unchanged objects identical. Mesh, Workload and Destination objects that exist are not read.
 */
export function translateDiscovery(given: Snapshot, options: DiscoveryOptions, previous?: DiscoveryMemory): DiscoveryTranslation {
  const { namespace, agentCluster } = options;
  const snapshot = agentCluster === undefined ? given : inAgentCluster(given, agentCluster);
  // The previous owner, if it is the same, as it is an input of every target.
  const owner = previous?.owner.value === discoveryOwner(options).value ? previous.owner : discoveryOwner(options);
  // Nothing is discovered in the management cluster as such; registered, it has a name like any other.
  const isWanted = (clusterName: string) => clusterName !== "" && (agentCluster ?? clusterName) === clusterName;
  const isInScope = scopeFilter(snapshot, namespace, isWanted);

  const planes = controlPlanes(snapshot, isWanted);
  const meshTargets = planes.map((deployment) => [keyOfSource(deployment), meshInputs(snapshot, deployment, options, owner)] as const);
  const meshes = translateEach(meshTargets, translateMesh, previous?.meshes);
  const appMeshTargets = appMeshesByArn(snapshot, isWanted).map(([arn, sources]) => [arn, { arn, sources, owner, namespace }] as const);
  const appMeshes = translateEach(appMeshTargets, translateAppMesh, previous?.appMeshes);
  const foundMeshes = discovered([...sourced(meshes, ({ deployment }) => deployment), ...sourced(appMeshes, ({ sources }) => sources[0])]);
  const meshesOf = meshesByCluster(foundMeshes.outputs);

  function* workloadTargets(): Iterable<readonly [string, WorkloadInputs]> {
    for (const controller of controllers(snapshot)) {
      if (!isInScope(controller)) continue;
      const inputs = {
        controller,
        pods: podsOf(snapshot, controller),
        meshes: meshesOf(placeOf(controller).clusterName),
        owner,
        namespace,
      };
      yield [keyOfSource(controller), inputs];
    }
  }
  const workloads = translateEach(workloadTargets(), translateWorkload, previous?.workloads);
  const foundWorkloads = discovered(sourced(workloads, ({ controller }) => controller));
  const found = collected(foundWorkloads, previous?.found);

  function* destinationTargets(): Iterable<readonly [string, DestinationInputs]> {
    for (const service of snapshot.of(Service)) {
      const inputs = isInScope(service)
        ? destinationInputs(service, { snapshot, meshesOf, workloads: found, owner, namespace })
        : undefined;
      if (inputs !== undefined) yield [keyOfSource(service), inputs];
    }
  }
  const destinations = translateEach(destinationTargets(), translateDestination, previous?.destinations);

  const foundDestinations = discovered(sourced(destinations, ({ service }) => service));

  return {
    outputs: outputSet(owner, [...foundMeshes.outputs, ...foundWorkloads.outputs, ...foundDestinations.outputs]),
    reports: [...foundMeshes.reports, ...foundWorkloads.reports, ...foundDestinations.reports],
    memory: { owner, meshes, appMeshes, workloads, destinations, found },
  };
}

function keyOfSource(source: Resource): string {
  return resourceKeyOf(refOf(source));
}

/** What came of one object. */
interface Sourced<R extends Resource> {
  readonly source: Resource;
  readonly result: Discovery<R>;
}

function sourced<I, R extends Resource>(results: Results<I, Discovery<R>>, sourceOf: (inputs: I) => Resource): readonly Sourced<R>[] {
  return [...results.values()].map(({ inputs, result }) => ({ source: sourceOf(inputs), result }));
}

function discovered<R extends Resource>(all: readonly Sourced<R>[]): Uncollided<R> {
  const found = all.flatMap(({ source, result: { output } }) => (output === undefined ? [] : [{ source, output }]));
  const { outputs, displaced, reports } = withoutCollisions(found);
  return { outputs, displaced, reports: [...all.flatMap(({ result }) => result.reports), ...reports] };
}

function scopeFilter(snapshot: Snapshot, namespace: string, isWanted: (clusterName: string) => boolean): (resource: Resource) => boolean {
  const scopes = new Map<string, Scope>();
  return (resource) => {
    const place = placeOf(resource);
    if (!isWanted(place.clusterName)) return false;
    const scope = scopes.get(place.clusterName) ?? discoveryScope(snapshot, place.clusterName, namespace);
    scopes.set(place.clusterName, scope);
    return scope(place.namespace);
  };
}
