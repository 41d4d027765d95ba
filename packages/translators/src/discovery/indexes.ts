import {
  DaemonSet,
  Deployment,
  EndpointSlice,
  Pod,
  ReplicaSet,
  SERVICE_NAME_LABEL,
  Service,
  StatefulSet,
  type Workload,
} from "@isthmus/api";
import { type CooperativeTask, keyOf, type OwnerReference, type Resource, resourceKeyOf, type Snapshot } from "@isthmus/core";
import { keyIn } from "../policy/indexKeys.ts";
import type { NamespaceLocation } from "../policy/policyScope.ts";

type Labels = Readonly<Record<string, string>>;

/** The index key of a namespace. */
export function namespaceKey({ clusterName, namespace }: NamespaceLocation): string {
  return `${clusterName}/${namespace}`;
}

/** Where an object is. */
export function namespaceLocationOf({ metadata }: Resource): NamespaceLocation {
  return { clusterName: metadata.clusterName ?? "", namespace: metadata.namespace ?? "" };
}

/** Objects by their cluster. */
export function byCluster(resource: Resource): readonly string[] {
  return [resource.metadata.clusterName ?? ""];
}

/** Services by their namespace. */
export function servicesByNamespace(service: Service): readonly string[] {
  return [namespaceKey(namespaceLocationOf(service))];
}

/** Services by `keyIn` of one label pair that they select by; by "" where they select by none. */
export function servicesBySelector(service: Service): readonly string[] {
  return [keyIn(namespaceLocationOf(service), firstLabelPair(service.spec?.selector ?? {}) ?? "")];
}

/** Resources by `keyOf` of the Namespace that they are in. */
export function byNamespaceObject(resource: Resource): readonly string[] {
  const { namespace, clusterName } = namespaceLocationOf(resource);
  return [keyOf({ name: namespace, namespace: "", clusterName })];
}

/** EndpointSlices by `keyOf` their Service. */
export function slicesByService(slice: EndpointSlice): readonly string[] {
  const service = slice.metadata.labels?.[SERVICE_NAME_LABEL];
  return service === undefined ? [] : [keyOf({ name: service, ...namespaceLocationOf(slice) })];
}

/** Pods by `resourceKeyOf` their controller. */
export function podsByController(pod: Pod): readonly string[] {
  return keysByController(namespaceLocationOf(pod), pod.metadata.ownerReferences ?? NO_OWNERS);
}

const NO_OWNERS: readonly OwnerReference[] = [];

// The published API tells controllers by their kind, of whatever API group.
const CONTROLLER_KINDS = new Map([Deployment, DaemonSet, StatefulSet, ReplicaSet].map(({ kind, apiVersion }) => [kind, apiVersion]));

const keysByController = lastInCluster((place, owners: readonly OwnerReference[]) => {
  const { kind = "", name = "" } = owners.find(({ controller }) => controller === true) ?? {};
  const apiVersion = CONTROLLER_KINDS.get(kind);
  return apiVersion === undefined ? [] : [resourceKeyOf({ apiVersion, kind, name, ...place })];
});

/** ReplicaSets by `resourceKeyOf` their controller. */
export function replicaSetsByController(replicaSet: ReplicaSet): readonly string[] {
  return keysByController(namespaceLocationOf(replicaSet), replicaSet.metadata.ownerReferences ?? NO_OWNERS);
}

/** Pods by their namespace, for selectors that name none of the labels below. */
export function podsByNamespace(pod: Pod): readonly string[] {
  return keysByPlace(namespaceLocationOf(pod), ANY);
}

const ANY = {};

const keysByPlace = lastInCluster((place) => [namespaceKey(place)]);

// Labels by which Services nearly always select, the most telling first. Indexing all labels of a million pods would cost
// several times the memory of the pods.
const TELLING_LABELS = ["app", "app.kubernetes.io/name", "k8s-app", "app.kubernetes.io/instance", "name", "run", "istio"];

/** Pods by `keyIn` of each telling label pair. */
export function podsByLabel(pod: Pod): readonly string[] {
  return keysByLabel(namespaceLocationOf(pod), pod.metadata.labels ?? NO_LABELS);
}

const NO_LABELS: Labels = {};

const keysByLabel = lastInCluster((place, labels: Labels) =>
  TELLING_LABELS.filter((key) => labels[key] !== undefined).map((key) => keyIn(place, pairKey(key, labels[key] ?? ""))),
);

/**
 * Index keys by something that the pods of a workload share. The last answer of each cluster is known: in key order the pods of one
 * workload follow one another, with those of its namesakes in other clusters in between.
 */
function lastInCluster<T extends object>(keysOf: (place: NamespaceLocation, shared: T) => readonly string[]) {
  const last = new Map<string, { readonly namespace: string; readonly shared: T; readonly keys: readonly string[] }>();
  return (place: NamespaceLocation, shared: T): readonly string[] => {
    const known = last.get(place.clusterName);
    if (known?.shared === shared && known.namespace === place.namespace) return known.keys;
    const keys = keysOf(place, shared);
    last.set(place.clusterName, { namespace: place.namespace, shared, keys });
    return keys;
  };
}

/** Workloads by `keyIn` (of their controller's namespace) of each label pair of their pods. */
export function workloadsByLabel(workload: Workload): readonly string[] {
  const { controller, podLabels = {} } = workload.spec?.kubernetes ?? {};
  return controller === undefined ? [] : pairsOf(podLabels).map((pair) => keyIn(controller, pair));
}

/** Each label as a pair, as index keys name it. */
export function pairsOf(labels: Labels = {}): readonly string[] {
  return Object.entries(labels).map(([key, value]) => pairKey(key, value));
}

/** The pair of a selector by which to look it up in `podsByLabel`; undefined when it holds no telling label. */
export function indexedLabelPair(selector: Labels): string | undefined {
  const key = TELLING_LABELS.find((telling) => selector[telling] !== undefined);
  return key === undefined ? undefined : pairKey(key, selector[key] ?? "");
}

/** The pair of a selector by which to look it up in `workloadsByLabel`; undefined for an empty selector. */
function firstLabelPair(selector: Labels): string | undefined {
  const key = Object.keys(selector).sort()[0];
  return indexedLabelPair(selector) ?? (key === undefined ? undefined : pairKey(key, selector[key] ?? ""));
}

function pairKey(key: string, value: string): string {
  return `${key}=${value}`;
}

// The labels of agents' pods: of the published product's certificate agent, and of ours under both generations of names.
const AGENT_APPS = new Set(["cert-agent", "gloo-mesh-agent", "enterprise-agent"]);

/** Pods of agents by their cluster. */
export function agentPods(pod: Pod): readonly string[] {
  const app = pod.metadata.labels?.["app"];
  return app !== undefined && AGENT_APPS.has(app) ? [pod.metadata.clusterName ?? ""] : [];
}

// All that discovery looks pods up by: one way through a million of them.
const BY_POD = [podsByNamespace, agentPods, podsByController, podsByLabel];

/** Builds what discovery looks up in, in steps. */
export function* indexedForDiscovery(snapshot: Snapshot): CooperativeTask<void> {
  yield* snapshot.of(Pod).indexed(...BY_POD);
  yield* snapshot.of(Service).indexed(servicesByNamespace);
  yield* snapshot.of(ReplicaSet).indexed(replicaSetsByController);
  yield* snapshot.of(EndpointSlice).indexed(slicesByService);
}
