import type { Resource } from "@isthmus/core";
import type { Fleet } from "../data/fleet.ts";
import { clusterOf } from "./clusters/clusterOf.ts";
import { registrationsIn } from "./clusters/registrations.ts";
import { remembering } from "./memo.ts";
import { objectCounts } from "./objectCounts.ts";
import { targetsOf } from "./policyTargets.ts";

/** Names of the clusters to which all lists keep; none: they keep to nothing. */
export type Scope = ReadonlySet<string>;

/** All clusters. */
export const NO_SCOPE: Scope = new Set();

// More than anybody chooses one by one.
const MOST_CLUSTERS = 100;

/** The clusters that an address names, with commas between them: the same set for the same text. */
export const scopeOf = remembering((text: string): Scope => {
  const names = text.split(",").filter((name) => name !== "");
  return names.length === 0 ? NO_SCOPE : new Set(names.slice(0, MOST_CLUSTERS));
});

/** The text that `scopeOf` reads as these clusters; undefined for all. */
export function scopeText(names: Iterable<string>): string | undefined {
  const text = [...names].join(",");
  return text === "" ? undefined : text;
}

/** Whether something that is about these clusters is shown. What is about none in particular always is: "" is the management cluster. */
export function isInScope(scope: Scope, clusters: readonly string[]): boolean {
  if (scope.size === 0) return true;
  const named = clusters.filter((name) => name !== "");
  return named.length === 0 || named.some((name) => scope.has(name));
}

/** The clusters that a policy is about: its own, and those of its targets. */
export function policyClusters(fleet: Fleet, policy: Resource): readonly string[] {
  const targets = targetsOf(fleet, policy).flatMap(({ destination, mesh, workload }) => destination ?? mesh ?? workload ?? []);
  return [...new Set([policy, ...targets].map(clusterOf))];
}

/** All clusters: those that are registered, and those of which something is known. */
export function clusterNames(fleet: Fleet): readonly string[] {
  const names = new Set([
    ...registrationsIn(fleet).map(({ metadata }) => metadata.name),
    ...objectCounts(fleet.snapshot).byCluster.keys(),
    ...(fleet.clock?.clusters ?? []).map(({ name }) => name),
  ]);
  names.delete("");
  return [...names].sort();
}
