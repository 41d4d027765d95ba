import type { Destination, DestinationSelector } from "@isthmus/api";
import { type Collection, keyOf, keyOfResource, type Resource } from "@isthmus/core";
import { serviceOf } from "../networking/istio/routes/targets.ts";
import { byCluster, byLabel, byNamespace, byService, labelKey } from "./indexes.ts";
import { entrySelects } from "./selectors.ts";

/** The policies that select each Destination, by its key, in the order in which they are given. */
export function policiesByDestination<P extends Resource>(
  policies: readonly P[],
  selectorsOf: (policy: P) => readonly DestinationSelector[] | undefined,
  destinations: Collection<Destination>,
): ReadonlyMap<string, readonly P[]> {
  const selected = new Map<string, P[]>();
  for (const policy of policies) {
    for (const key of selectedKeys(selectorsOf(policy), destinations)) {
      const list = selected.get(key);
      if (list === undefined) selected.set(key, [policy]);
      else list.push(policy);
    }
  }
  return selected;
}

function selectedKeys(selectors: readonly DestinationSelector[] | undefined, destinations: Collection<Destination>): ReadonlySet<string> {
  const keys = new Set<string>();
  if (selectors === undefined || selectors.length === 0) {
    for (const destination of destinations) keys.add(keyOfResource(destination));
    return keys;
  }
  for (const selector of selectors) {
    for (const destination of candidates(selector, destinations)) {
      if (entrySelects(selector, destination)) keys.add(keyOfResource(destination));
    }
  }
  return keys;
}

/** Few Destinations among which are all that an entry selects. */
function* candidates(selector: DestinationSelector, destinations: Collection<Destination>): Iterable<Destination> {
  for (const ref of selector.kubeServiceRefs?.services ?? []) yield* destinations.where(byService, keyOf(serviceOf(ref)));
  if (selector.kubeServiceMatcher === undefined) return;
  const { labels = {}, namespaces = [], clusters = [] } = selector.kubeServiceMatcher;
  const lists = Object.entries(labels).map(([key, value]) => destinations.where(byLabel, labelKey(key, value)));
  if (namespaces.length > 0) lists.push(namespaces.flatMap((namespace) => destinations.where(byNamespace, namespace)));
  if (clusters.length > 0) lists.push(clusters.flatMap((cluster) => destinations.where(byCluster, cluster)));
  yield* lists.length === 0 ? destinations : lists.reduce((a, b) => (b.length < a.length ? b : a));
}
