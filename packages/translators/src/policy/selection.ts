import type { Destination, DestinationSelector } from "@isthmus/api";
import { type Index, keyOf } from "@isthmus/core";
import type { LookupTable } from "../incremental/lookupTable.ts";
import type { Matching } from "../incremental/matching.ts";
import { serviceKeyOf } from "./hosts/hostnames.ts";
import { serviceOf } from "./hosts/serviceRefs.ts";
import { byLabel, byNamespace, byService, destinationsByCluster, labelKey } from "./indexes.ts";
import { entrySelects } from "./selectors.ts";

/**
 * Where to look for a Destination by a list of selectors, and for lists of selectors by a Destination: each entry stands under
 * something that all it selects have. What is found there must still be asked whether it is selected.
 */
export function selectionKeys(selectors: readonly DestinationSelector[] | undefined): readonly string[] {
  if (selectors === undefined || selectors.length === 0) return [EVERY];
  return selectors.flatMap(({ kubeServiceRefs, kubeServiceMatcher }) => {
    const keys = (kubeServiceRefs?.services ?? []).map((ref) => keyOf(serviceOf(ref)));
    if (kubeServiceMatcher === undefined) return keys;
    const { labels = {}, namespaces = [], clusters = [] } = kubeServiceMatcher;
    const [label] = Object.entries(labels);
    // The first alone says that there are some of its sort.
    if (label !== undefined) return [...keys, LABEL, `${LABEL}${labelKey(...label)}`];
    if (namespaces.length > 0) return [...keys, NAMESPACE, ...namespaces.map((namespace) => `${NAMESPACE}${namespace}`)];
    if (clusters.length > 0) return [...keys, CLUSTER, ...clusters.map((cluster) => `${CLUSTER}${cluster}`)];
    return [...keys, EVERY];
  });
}

const EVERY = "every";
const LABEL = "label ";
const NAMESPACE = "namespace ";
const CLUSTER = "cluster ";

/** What has lists of selectors, found by their `selectionKeys`. */
export interface SelectorIndex<S> {
  where(key: string): readonly S[];
}

/** Whatever may select a Destination, each once. */
export function selectingCandidates<S>({ where }: SelectorIndex<S>, destination: Destination): Iterable<S> {
  const found = [...where(EVERY)];
  const service = destination.spec?.kubeService;
  if (service?.ref === undefined) return found;
  const key = serviceKeyOf(destination);
  if (key !== undefined) found.push(...where(key));
  if (where(CLUSTER).length > 0) found.push(...where(`${CLUSTER}${service.ref.clusterName}`));
  if (where(NAMESPACE).length > 0) found.push(...where(`${NAMESPACE}${service.ref.namespace}`));
  if (where(LABEL).length > 0) for (const label of byLabel(destination)) found.push(...where(`${LABEL}${label}`));
  return found.length < 2 ? found : new Set(found);
}

/** The Destinations that a list of selectors selects; some of them perhaps twice. */
export function* selectedDestinations(
  selectors: readonly DestinationSelector[] | undefined,
  destinations: LookupTable<Destination>,
): Iterable<Destination> {
  if (selectors === undefined || selectors.length === 0) {
    for (const [, destination] of destinations.entries()) yield destination;
    return;
  }
  for (const selector of selectors) {
    for (const destination of candidates(selector, destinations)) if (entrySelects(selector, destination)) yield destination;
  }
}

/** Few Destinations among which are all that an entry selects. */
function* candidates(selector: DestinationSelector, destinations: LookupTable<Destination>): Iterable<Destination> {
  for (const ref of selector.kubeServiceRefs?.services ?? []) yield* destinations.where(byService, keyOf(serviceOf(ref)));
  if (selector.kubeServiceMatcher === undefined) return;
  const { labels = {}, namespaces = [], clusters = [] } = selector.kubeServiceMatcher;
  // Each is in parts, which are not joined: often only the first of thousands is looked at.
  const lists = Object.entries(labels).map(([key, value]) => [destinations.where(byLabel, labelKey(key, value))]);
  if (namespaces.length > 0) lists.push(namespaces.map((namespace) => destinations.where(byNamespace, namespace)));
  if (clusters.length > 0) lists.push(clusters.map((cluster) => destinations.where(destinationsByCluster, cluster)));
  if (lists.length === 0) for (const [, destination] of destinations.entries()) yield destination;
  else for (const part of lists.reduce((a, b) => (sizeOf(b) < sizeOf(a) ? b : a))) yield* part;
}

function sizeOf(parts: readonly (readonly Destination[])[]): number {
  return parts.reduce((sum, { length }) => sum + length, 0);
}

/** Destinations and what selects them: `selectors` of a row are lists, each of which selects. Some candidates turn out not to. */
export function selectingDestinations<S extends { readonly selectors: readonly (readonly DestinationSelector[] | undefined)[] }>(
  bySelection: Index<S>,
): Matching<Destination, S> {
  return {
    find: (destination, rows) => [...selectingCandidates({ where: (key) => rows.where(bySelection, key) }, destination)],
    *findBack({ selectors }, destinations) {
      for (const list of selectors) yield* selectedDestinations(list, destinations);
    },
    // Other versions of either are other rows to the one who asks.
    isSameAsking: (before, after) => before === after,
    isSameFound: (before, after) => before === after,
    indexes: [bySelection],
    backIndexes: [],
  };
}
