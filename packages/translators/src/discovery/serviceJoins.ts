import { EndpointSlice, Endpoints, Pod, Service } from "@isthmus/api";
import { equalJson, keyOfResource } from "@isthmus/core";
import { inputKind, inputTable, join } from "../incremental/join.ts";
import type { LookupTable } from "../incremental/lookupTable.ts";
import type { Matching } from "../incremental/matching.ts";
import { keyIn } from "../policy/indexKeys.ts";
import { namespaceLocationOf, pairsOf, podsByLabel, podsByNamespace, podsSelectedBy } from "../policy/podIndexes.ts";
import { isAnnotated } from "./destinations.ts";
import { meshesByCluster } from "./discoverMeshes.ts";
import { byCluster, servicesBySelector, slicesByService, workloadsByLabel } from "./indexes.ts";
import { isSameOutsideMesh } from "./outsideMesh.ts";
import { serviceAccountOf } from "./serviceAccounts.ts";
import { type DiscoverySources, nodes, scopeJoins } from "./sources.ts";
import { virtualMeshesNaming } from "./standIns.ts";

/** Where the discovery of Destinations begins. */
export const services = inputKind<DiscoverySources, Service>(Service);
const meshes = inputTable(({ meshes: table }: DiscoverySources) => table, keyOfResource);
const workloads = inputTable(({ workloads: table }: DiscoverySources) => table, keyOfResource);

/** Services and the pods that their selectors take; all of the namespace without selector, as in the published API. */
const selectedPods: Matching<Service, Pod> = {
  find: (service, pods) => podsSelectedBy(service.spec?.selector ?? {}, namespaceLocationOf(service), pods),
  *findBack(pod, from: LookupTable<Service>) {
    const place = namespaceLocationOf(pod);
    for (const pair of ["", ...pairsOf(pod.metadata.labels)]) yield* from.where(servicesBySelector, keyIn(place, pair));
  },
  isSameAsking: (before, after) => equalJson(before.spec?.selector, after.spec?.selector),
  isSameFound: (before, after) => equalJson(before.metadata.labels, after.metadata.labels),
  indexes: [podsByNamespace, podsByLabel],
  backIndexes: [servicesBySelector],
};

const meshesOfAnnotated = join({ from: services, when: isAnnotated, key: byCluster, to: meshes, index: meshesByCluster });

/** What a Service looks up. */
export const serviceJoins = {
  ...scopeJoins(services),
  meshes: meshesOfAnnotated,
  virtualMeshes: virtualMeshesNaming(meshesOfAnnotated.source),
  workloads: join({ from: services, key: servicesBySelector, to: workloads, index: workloadsByLabel }),
  slices: join({ from: services, to: inputKind<DiscoverySources, EndpointSlice>(EndpointSlice), index: slicesByService }),
  endpoints: join({ from: services, to: inputKind<DiscoverySources, Endpoints>(Endpoints) }),
  pods: join({ from: services, to: inputKind<DiscoverySources, Pod>(Pod), matching: selectedPods, isSame: isSamePod }),
  nodes: join({ from: services, key: byCluster, to: nodes }),
};

function isSamePod(before: Pod, after: Pod): boolean {
  return (
    before.spec?.nodeName === after.spec?.nodeName &&
    isSameOutsideMesh(before, after) &&
    serviceAccountOf(before) === serviceAccountOf(after) &&
    equalJson(before.metadata.labels, after.metadata.labels) &&
    equalJson(before.metadata.ownerReferences, after.metadata.ownerReferences)
  );
}
