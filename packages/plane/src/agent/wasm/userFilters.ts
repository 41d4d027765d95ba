import { EnvoyFilter } from "@isthmus/api";
import { type Index, matchesLabels, type Owner, type Resource, type Snapshot } from "@isthmus/core";
import { bearsLabelOf } from "../../apply/ownership.ts";
import { selectorOf, type WasmOrder } from "./wasmOrders.ts";

/**
 * The EnvoyFilters of users that change HTTP filters of all pods of an order, at a place where one of its own filters stands: in the same
 * namespace, with no other labels than those of the order. Those of Istio's root namespace are not looked for.
 */
export function userFiltersBeside(snapshot: Snapshot, owners: readonly Owner[], order: WasmOrder): { readonly userFilters?: string[] } {
  const all = snapshot.of(EnvoyFilter).where(byNamespace, order.namespace);
  const own = all.find(({ metadata }) => metadata.name === order.name);
  if (own === undefined) return {};
  const places = placesOf(own);
  const names = all.flatMap((filter) => {
    if (bearsLabelOf(filter, owners) || !selectsAll(filter, order)) return [];
    const isBeside = placesOf(filter).some((place) => places.some((ours) => isSamePlace(place, ours)));
    return isBeside ? [`${filter.metadata.namespace ?? ""}/${filter.metadata.name}`] : [];
  });
  return names.length === 0 ? {} : { userFilters: names.sort().slice(0, MOST_NAMED) };
}

const MOST_NAMED = 10;

function selectsAll(filter: Resource, { labels }: WasmOrder): boolean {
  const { spec } = filter as { readonly spec?: { readonly workloadSelector?: unknown } };
  if (spec?.workloadSelector === undefined) return true;
  const selector = selectorOf(filter);
  return selector !== undefined && matchesLabels(selector, labels);
}

/** Where in the chain of HTTP filters. */
interface Place {
  readonly context: string;
  /** "" for the whole chain. */
  readonly filter: string;
}

function isSamePlace(one: Place, other: Place): boolean {
  const isSameContext = one.context === other.context || one.context === "ANY" || other.context === "ANY";
  return isSameContext && (one.filter === other.filter || one.filter === "" || other.filter === "");
}

function placesOf(filter: Resource): readonly Place[] {
  const patches = member(member(filter, "spec"), "configPatches");
  if (!Array.isArray(patches)) return [];
  return (patches as readonly unknown[]).slice(0, MOST_PATCHES).flatMap((patch) => {
    if (member(patch, "applyTo") !== "HTTP_FILTER") return [];
    const match = member(patch, "match");
    const subFilter = member(member(member(member(match, "listener"), "filterChain"), "filter"), "subFilter");
    const [context, name] = [member(match, "context"), member(subFilter, "name")];
    return [{ context: typeof context === "string" ? context : "ANY", filter: typeof name === "string" ? name : "" }];
  });
}

const MOST_PATCHES = 100;

function member(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined;
}

const byNamespace: Index<Resource> = ({ metadata }) => [metadata.namespace ?? ""];
