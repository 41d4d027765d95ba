import { EndpointSlice, Pod, ReplicaSet, SERVICE_NAME_LABEL, Service, type Workload } from "@isthmus/api";
import { type CooperativeTask, keyOf, type OwnerReference, type Resource, resourceKeyOf, type Snapshot } from "@isthmus/core";
import { keyIn } from "../policy/indexKeys.ts";
import {
  indexedLabelPair,
  lastInCluster,
  namespaceKey,
  namespaceLocationOf,
  pairKey,
  pairsOf,
  podsByLabel,
  podsByNamespace,
} from "../policy/podIndexes.ts";
import { isOtherController, WATCHED_CONTROLLERS } from "./controllerKinds.ts";
import { byOtherController } from "./otherControllers.ts";

type Labels = Readonly<Record<string, string>>;

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
const NO_KEYS: readonly string[] = [];

const keysByController = lastInCluster((place, owners: readonly OwnerReference[]) => {
  const owner = owners.find(({ controller }) => controller === true);
  if (owner === undefined) return NO_KEYS;
  const { kind, name } = owner;
  const apiVersion = WATCHED_CONTROLLERS.get(kind) ?? (isOtherController(kind) ? owner.apiVersion : undefined);
  return apiVersion === undefined ? NO_KEYS : [resourceKeyOf({ apiVersion, kind, name, ...place })];
});

/** ReplicaSets by `resourceKeyOf` their controller. */
export function replicaSetsByController(replicaSet: ReplicaSet): readonly string[] {
  return keysByController(namespaceLocationOf(replicaSet), replicaSet.metadata.ownerReferences ?? NO_OWNERS);
}

/** Workloads by `keyIn` (of their controller's namespace) of each label pair of their pods. */
export function workloadsByLabel(workload: Workload): readonly string[] {
  const { controller, podLabels = {} } = workload.spec?.kubernetes ?? {};
  return controller === undefined ? [] : pairsOf(podLabels).map((pair) => keyIn(controller, pair));
}

/** The pair of a selector by which to look it up in `workloadsByLabel`; undefined for an empty selector. */
function firstLabelPair(selector: Labels): string | undefined {
  const key = Object.keys(selector).sort()[0];
  return indexedLabelPair(selector) ?? (key === undefined ? undefined : pairKey(key, selector[key] ?? ""));
}

// The labels of agents' pods: of the published product's certificate agent, and of ours under both generations of names.
const AGENT_APPS = new Set(["cert-agent", "gloo-mesh-agent", "enterprise-agent"]);

/** Pods of agents by their cluster. */
export function agentPods(pod: Pod): readonly string[] {
  const app = pod.metadata.labels?.["app"];
  return app !== undefined && AGENT_APPS.has(app) ? [pod.metadata.clusterName ?? ""] : [];
}

// All that discovery looks pods up by: one way through a million of them.
const BY_POD = [podsByNamespace, agentPods, podsByController, byOtherController, podsByLabel];

/** Builds what discovery looks up in, in steps. */
export function* indexedForDiscovery(snapshot: Snapshot): CooperativeTask<void> {
  yield* snapshot.of(Pod).indexed(...BY_POD);
  yield* snapshot.of(Service).indexed(servicesByNamespace);
  yield* snapshot.of(ReplicaSet).indexed(replicaSetsByController, byOtherController);
  yield* snapshot.of(EndpointSlice).indexed(slicesByService);
}
