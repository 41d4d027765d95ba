import { Destination, type KubeService, Workload } from "@isthmus/api";
import { type CooperativeTask, keyOf, type ObjectRef, type Snapshot } from "@isthmus/core";
import { memoizeLast, memoizeRow } from "../incremental/memoizeRow.ts";
import { serviceKeyOf } from "./hosts/hostnames.ts";
import { keyIn } from "./indexKeys.ts";

/** Destinations by the key of their Service. */
export function byService(destination: Destination): readonly string[] {
  const key = serviceKeyOf(destination);
  return key === undefined ? NONE : [key];
}

/** Destinations by the namespace of their Service, in any cluster. */
export function byNamespace({ spec }: Destination): readonly string[] {
  const ref = spec?.kubeService?.ref;
  return ref === undefined ? [] : [ref.namespace];
}

/** Destinations by the cluster of their Service. */
export function destinationsByCluster({ spec }: Destination): readonly string[] {
  const ref = spec?.kubeService?.ref;
  return ref === undefined ? [] : [ref.clusterName];
}

/** Destinations by the name and namespace of their Service, in any cluster. */
export function byServiceName({ spec }: Destination): readonly string[] {
  const ref = spec?.kubeService?.ref;
  return ref === undefined ? [] : [`${ref.name}.${ref.namespace}`];
}

/** Destinations by each label of their Service. */
export function byLabel({ spec }: Destination): readonly string[] {
  return Object.entries(spec?.kubeService?.labels ?? {}).map(([key, value]) => labelKey(key, value));
}

/** Destinations and Workloads by the key of their mesh. */
export function byMesh({ spec }: Destination | Workload): readonly string[] {
  return spec?.mesh === undefined ? NONE : keysOfMesh(spec.mesh);
}

// One object in all that discovery finds in a mesh.
const keysOfMesh = memoizeRow((mesh: ObjectRef): readonly string[] => [keyOf({ ...mesh, clusterName: "" })]);
const NONE: readonly never[] = [];

/** Workloads by cluster, namespace and each label of their pods. */
export function byPodLabel({ spec }: Workload): readonly string[] {
  const { controller, podLabels = {} } = spec?.kubernetes ?? {};
  if (controller === undefined) return [];
  return Object.entries(podLabels).map(([key, value]) => podLabelKey(controller, key, value));
}

/** A label pair of pods in one namespace of one cluster, as `byPodLabel` has it. */
export function podLabelKey(place: { readonly namespace: string; readonly clusterName: string }, key: string, value: string): string {
  return keyIn(place, labelKey(key, value));
}

/** Destinations by one label pair, in their place, that their Service selects workloads by. */
export function bySelector({ spec }: Destination): readonly string[] {
  return spec?.kubeService === undefined ? NONE : selectorKeysOf(spec.kubeService);
}

const selectorKeysOf = memoizeLast(({ ref, workloadSelectorLabels = {} }: KubeService): readonly string[] => {
  const [first] = Object.entries(workloadSelectorLabels);
  return ref === undefined || first === undefined ? NONE : [podLabelKey(ref, ...first)];
});

/** A label pair as `byLabel` has it, and as Kubernetes writes it in selectors: `key=value`. */
export function labelKey(key: string, value: string): string {
  return `${key}=${value}`;
}

/** Builds what attachment looks up in, in steps. */
export function* indexedForAttachment(inputs: Snapshot): CooperativeTask<void> {
  yield* inputs.of(Destination).indexed(byMesh, byService, destinationsByCluster);
}

/** Builds what the inputs of targets are looked up in, in steps. */
export function* indexedForTargets(inputs: Snapshot): CooperativeTask<void> {
  yield* inputs.of(Workload).indexed(byMesh, byPodLabel);
}
