import { EndpointSlice, Endpoints, Node, Pod, type Service, type Workload } from "@isthmus/api";
import { type Collection, matchesLabels, type Owner, type Snapshot } from "@isthmus/core";
import { keyIn } from "../policy/indexKeys.ts";
import type { NamespaceLocation } from "../policy/policyScope.ts";
import { type DiscoveredServiceInputs, isAnnotated } from "./destinations.ts";
import type { MeshesOf } from "./discoverMeshes.ts";
import { addressGroups, nodeNamesOf } from "./endpoints.ts";
import {
  firstLabelPair,
  indexedLabelPair,
  namespaceKey,
  namespaceLocationOf,
  podsByLabel,
  podsByNamespace,
  slicesByService,
  workloadsByLabel,
} from "./indexes.ts";
import { nodeOf } from "./meshes.ts";

/** Where the inputs of a Service come from. */
export interface ServiceSources {
  readonly snapshot: Snapshot;
  readonly meshesOf: MeshesOf;
  readonly workloads: Collection<Workload>;
  readonly owner: Owner;
  readonly namespace: string;
}

type Labels = Readonly<Record<string, string>>;

/** What the translation of one Service reads; undefined when it can't be in a mesh. */
export function discoveredServiceInputs(service: Service, sources: ServiceSources): DiscoveredServiceInputs | undefined {
  const { snapshot, meshesOf, owner, namespace } = sources;
  const place = namespaceLocationOf(service);
  const workloads = workloadsOf(service, sources.workloads);
  if (workloads.length === 0 && !isAnnotated(service)) return undefined;
  const { type, selector = {} } = service.spec ?? {};
  const slices = snapshot.of(EndpointSlice).where(slicesByService, keyIn(place, service.metadata.name));
  const addresses = addressGroups(service, slices, snapshot.of(Endpoints).get({ name: service.metadata.name, ...place }));
  const pods = type === "NodePort" || !isEmpty(selector) ? podsOf(snapshot, service, selector) : [];
  return {
    service,
    annotatedMesh: isAnnotated(service)
      ? meshesOf(place.clusterName)
          .filter(({ spec }) => spec?.istio ?? spec?.osm)
          .at(-1)
      : undefined,
    workloads,
    addresses,
    endpointNodes: nodesNamed(nodeNamesOf(addresses), place, snapshot),
    podNodes: type === "NodePort" ? pods.flatMap((pod) => nodeOf(snapshot, pod) ?? []) : [],
    firstNode: isEmpty(selector) ? undefined : nodeOf(snapshot, pods[0]),
    owner,
    namespace,
  };
}

/** The workloads that a Service selects, in key order; none without a selector. */
function workloadsOf(service: Service, workloads: Collection<Workload>): readonly Workload[] {
  const selector = service.spec?.selector ?? {};
  const pair = firstLabelPair(selector);
  if (pair === undefined) return [];
  return workloads
    .where(workloadsByLabel, keyIn(namespaceLocationOf(service), pair))
    .filter(({ spec }) => matchesLabels(selector, spec?.kubernetes?.podLabels));
}

/** The pods that a selector takes, in key order; all of the namespace for an empty one, as in the published API. */
function podsOf(snapshot: Snapshot, service: Service, selector: Labels): readonly Pod[] {
  const place = namespaceLocationOf(service);
  const pair = indexedLabelPair(selector);
  const pods = snapshot.of(Pod);
  const candidates = pair === undefined ? pods.where(podsByNamespace, namespaceKey(place)) : pods.where(podsByLabel, keyIn(place, pair));
  return candidates.filter(({ metadata }) => matchesLabels(selector, metadata.labels));
}

function nodesNamed(names: readonly string[], { clusterName }: NamespaceLocation, snapshot: Snapshot): readonly Node[] {
  const nodes = snapshot.of(Node);
  return names.flatMap((name) => nodes.get({ name, namespace: "", clusterName }) ?? []);
}

function isEmpty(labels: Labels): boolean {
  return Object.keys(labels).length === 0;
}
