import { EnvoyFilter, Pod, type WasmFilterOrder, wasmOrdersOf } from "@isthmus/api";
import { type Index, keyOfResource, matchesLabels, type Resource, type Snapshot } from "@isthmus/core";

/** The Wasm filters of one EnvoyFilter that was written for the plane (docs/decisions/0120). */
export interface WasmOrder {
  /** `keyOfResource` of the EnvoyFilter. */
  readonly key: string;
  readonly name: string;
  readonly namespace: string;
  /** The EnvoyFilter as the cluster has it. */
  readonly resource: Resource;
  readonly labels: Readonly<Record<string, string>>;
  readonly filters: readonly WasmFilterOrder[];
}

/** The orders in a cluster, in key order. */
export function wasmOrdersIn(snapshot: Snapshot, isOurs: (filter: Resource) => boolean): readonly WasmOrder[] {
  return [...snapshot.of(EnvoyFilter)].flatMap((filter) => orderIn(filter, isOurs));
}

/** Whether an EnvoyFilter has Wasm filters as we write them. */
export function hasOrders(filter: Resource): boolean {
  return parsedOrders(filter).length > 0;
}

/** Another EnvoyFilter of these is ours than before. */
export function forgetOrders(snapshot: Snapshot): void {
  ordersByPod.delete(snapshot.of(EnvoyFilter));
}

/** Those for a pod: of its own namespace, and by its labels as the cluster has them. */
export function wasmOrdersOfPod(
  snapshot: Snapshot,
  isOurs: (filter: Resource) => boolean,
  pod: { readonly name: string; readonly namespace: string; readonly clusterName: string },
): readonly WasmOrder[] {
  const found = snapshot.of(Pod).get(pod);
  const filters = snapshot.of(EnvoyFilter);
  // Each stream of a proxy asks, again and again: while neither its pod nor any filter is another one, nothing is compared.
  const known = ordersByPod.get(filters) ?? new WeakMap<Resource, readonly WasmOrder[]>();
  ordersByPod.set(filters, known);
  const before = found && known.get(found);
  if (found === undefined || before !== undefined) return before ?? [];
  const { labels = {} } = found.metadata;
  const orders = filters
    .where(byNamespace, pod.namespace)
    .flatMap((filter) => orderIn(filter, isOurs).filter((order) => matchesLabels(order.labels, labels)));
  known.set(found, orders);
  return orders;
}

// By all EnvoyFilters of a cluster, and there by the pod. An agent has one set of owners.
const ordersByPod = new WeakMap<object, WeakMap<Resource, readonly WasmOrder[]>>();

function orderIn(filter: Resource, isOurs: (filter: Resource) => boolean): readonly WasmOrder[] {
  if (!isOurs(filter)) return [];
  const filters = parsedOrders(filter);
  const labels = selectorOf(filter);
  if (filters.length === 0 || labels === undefined || Object.keys(labels).length === 0) return [];
  const { name, namespace = "" } = filter.metadata;
  return [{ key: keyOfResource(filter), name, namespace, resource: filter, labels, filters }];
}

// An object is another one once it has changed.
const parsed = new WeakMap<Resource, readonly WasmFilterOrder[]>();

function parsedOrders(filter: Resource): readonly WasmFilterOrder[] {
  const before = parsed.get(filter);
  if (before !== undefined) return before;
  const filters = wasmOrdersOf(filter);
  parsed.set(filter, filters);
  return filters;
}

/** The labels that an EnvoyFilter selects pods by; undefined where it has none, or what it has is no such thing. */
export function selectorOf(filter: Resource): Readonly<Record<string, string>> | undefined {
  const { spec } = filter as { readonly spec?: { readonly workloadSelector?: { readonly labels?: unknown } } };
  const labels = spec?.workloadSelector?.labels;
  if (typeof labels !== "object" || labels === null || Array.isArray(labels)) return undefined;
  return Object.values(labels).every((value) => typeof value === "string") ? (labels as Readonly<Record<string, string>>) : undefined;
}

const byNamespace: Index<Resource> = ({ metadata }) => [metadata.namespace ?? ""];
