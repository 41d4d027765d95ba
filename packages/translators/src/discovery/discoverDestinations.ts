import { type Destination, EndpointSlice, Endpoints, Node, Pod, SERVICE_NAME_LABEL, Service, type Workload } from "@isthmus/api";
import { type Collection, type CooperativeTask, type EntryChange, keyOfResource, type Resource, type Table } from "@isthmus/core";
import { versionsOf } from "../incremental/changes.ts";
import { recompute } from "../incremental/rows.ts";
import { keyIn } from "../policy/indexKeys.ts";
import { translateDestination } from "./destinations.ts";
import { discoveryRow, type MeshesOf } from "./discoverMeshes.ts";
import type { DiscoveryRow } from "./discoveryResult.ts";
import { byCluster, indexedForDestinations, namespaceLocationOf, pairsOf, servicesBySelector, workloadsByLabel } from "./indexes.ts";
import { discoveredServiceInputs } from "./services.ts";
import type { Clusters, DiscoveryStep } from "./step.ts";

/** What Services are discovered by, beside the snapshot. */
export interface DestinationSources {
  readonly meshesOf: MeshesOf;
  /** The workloads that Services may select. */
  readonly workloads: Collection<Workload>;
  readonly workloadChanges: readonly EntryChange<Workload>[];
  /** The clusters in which every Service must be looked at again. */
  readonly anew: Clusters;
}

/** What comes of every Service. */
export function* discoverDestinations(
  step: DiscoveryStep,
  before: Table<DiscoveryRow<Destination>>,
  sources: DestinationSources,
): CooperativeTask<Table<DiscoveryRow<Destination>>> {
  const { snapshot, owner, options } = step;
  const { meshesOf, workloads } = sources;
  yield* indexedForDestinations(snapshot);
  yield* workloads.indexed(workloadsByLabel);
  const affected = yield* affectedServices(step, sources);
  return yield* recompute(before, affected.keys(), (key, row) => {
    const service = affected.get(key);
    if (service === undefined || !step.isInScope(service)) return undefined;
    const inputs = discoveredServiceInputs(service, { snapshot, meshesOf, workloads, owner, namespace: options.namespace });
    return inputs && discoveryRow(key, service, translateDestination(inputs), row);
  });
}

/** The Services to be looked at, by `keyOf`; undefined for one that is gone. */
function* affectedServices(
  { snapshot, since }: DiscoveryStep,
  { anew, workloadChanges }: DestinationSources,
): CooperativeTask<ReadonlyMap<string, Service | undefined>> {
  const affected = new Map<string, Service | undefined>();
  const add = (service: Service | undefined) => service && affected.set(keyOfResource(service), service);
  const services = snapshot.of(Service);
  const addCluster = (clusterName: string) => services.where(byCluster, clusterName).forEach(add);
  if (anew === "all") for (const service of services) add(service);
  else anew.forEach(addCluster);
  if (since === undefined) return affected;

  const { changes } = since;
  for (const { before, after } of changes.of(Service)) {
    if (after !== undefined) add(after);
    else if (before !== undefined) affected.set(keyOfResource(before), undefined);
  }
  const addNamed = (name: string | undefined, object: Resource) =>
    name !== undefined && add(services.get({ name, ...namespaceLocationOf(object) }));
  for (const slice of versionsOf(changes.of(EndpointSlice))) addNamed(slice.metadata.labels?.[SERVICE_NAME_LABEL], slice);
  for (const endpoints of versionsOf(changes.of(Endpoints))) addNamed(endpoints.metadata.name, endpoints);
  for (const pod of versionsOf(changes.of(Pod))) {
    yield;
    // A Service without selector takes every pod of its namespace.
    for (const pair of ["", ...pairsOf(pod.metadata.labels)])
      services.where(servicesBySelector, keyIn(namespaceLocationOf(pod), pair)).forEach(add);
  }
  for (const { spec } of versionsOf(workloadChanges)) {
    yield;
    const { controller, podLabels } = spec?.kubernetes ?? {};
    if (controller === undefined) continue;
    for (const pair of pairsOf(podLabels)) services.where(servicesBySelector, keyIn(controller, pair)).forEach(add);
  }
  // Which Services have endpoints on a node is not worth an index: what we read of a node hardly ever changes.
  for (const node of versionsOf(changes.of(Node))) addCluster(namespaceLocationOf(node).clusterName);
  return affected;
}
