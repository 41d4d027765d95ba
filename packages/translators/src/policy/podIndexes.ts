import type { Pod } from "@isthmus/api";
import { matchesLabels, type Resource } from "@isthmus/core";
import type { LookupTable } from "../incremental/lookupTable.ts";
import { keyIn } from "./indexKeys.ts";
import type { NamespaceLocation } from "./policyScope.ts";

type Labels = Readonly<Record<string, string>>;

/** The index key of a namespace. */
export function namespaceKey({ clusterName, namespace }: NamespaceLocation): string {
  return `${clusterName}/${namespace}`;
}

/** Where an object is. */
export function namespaceLocationOf({ metadata }: Resource): NamespaceLocation {
  return { clusterName: metadata.clusterName ?? "", namespace: metadata.namespace ?? "" };
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
export function lastInCluster<T extends object>(keysOf: (place: NamespaceLocation, shared: T) => readonly string[]) {
  const last = new Map<string, { readonly namespace: string; readonly shared: T; readonly keys: readonly string[] }>();
  return (place: NamespaceLocation, shared: T): readonly string[] => {
    const known = last.get(place.clusterName);
    if (known?.shared === shared && known.namespace === place.namespace) return known.keys;
    const keys = keysOf(place, shared);
    last.set(place.clusterName, { namespace: place.namespace, shared, keys });
    return keys;
  };
}

/** Each label as a pair. */
export function pairsOf(labels: Labels = {}): readonly string[] {
  return Object.entries(labels).map(([key, value]) => pairKey(key, value));
}

/** The pair of a selector by which to look it up in `podsByLabel`; undefined when it holds no telling label. */
export function indexedLabelPair(selector: Labels): string | undefined {
  const key = TELLING_LABELS.find((telling) => selector[telling] !== undefined);
  return key === undefined ? undefined : pairKey(key, selector[key] ?? "");
}

/** A label as a pair, as index keys name it. */
export function pairKey(key: string, value: string): string {
  return `${key}=${value}`;
}

/** The pods of a namespace that have all labels of a selector; all of them without labels, as in the published API. */
export function podsSelectedBy(selector: Labels, place: NamespaceLocation, pods: LookupTable<Pod>): readonly Pod[] {
  const pair = indexedLabelPair(selector);
  const candidates = pair === undefined ? pods.where(podsByNamespace, namespaceKey(place)) : pods.where(podsByLabel, keyIn(place, pair));
  return Object.keys(selector).length === 0 ? candidates : candidates.filter(({ metadata }) => matchesLabels(selector, metadata.labels));
}
