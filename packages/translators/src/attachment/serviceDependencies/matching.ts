import type { Destination, ServiceDependency, VirtualDestination, Workload } from "@isthmus/api";
import { keyOfResource } from "@isthmus/core";
import type { Matching } from "../../incremental/matching.ts";
import { byLabel, byNamespace, byService, destinationsByCluster } from "../../policy/indexes.ts";
import { selectedDestinations, selectingCandidates, selectionKeys } from "../../policy/selection.ts";
import { selectsDestination, selectsWorkload } from "../../policy/selectors.ts";
import { dependencyFormOf } from "../../policy/serviceDependencyFindings.ts";
import { selectableTraitsOf, traitsOfSources } from "../../policy/workloadTraits.ts";
import { bySelectedTargets, formsOf } from "../virtualDestinations/forms.ts";

/** Whether a ServiceDependency is in force on a Workload, wherever it may be. */
function isSource(dependency: ServiceDependency, workload: Workload): boolean {
  const { sources, source } = dependencyFormOf(dependency);
  // Without entries that are understood it is not known whom it means; a list that is empty as it is written means all.
  return (source !== "open" || (sources ?? NONE).length > 0) && selectsWorkload(sources, workload);
}

/** A Workload and the ServiceDependencies that select it. */
export const selectingSources: Matching<Workload, ServiceDependency> = {
  find(workload, dependencies) {
    const found = new Set([ANY, ...selectableTraitsOf(workload)].flatMap((trait) => dependencies.where(bySourceTrait, trait)));
    return inKeyOrder([...found].filter((dependency) => isSource(dependency, workload)));
  },
  *findBack(dependency, workloads) {
    for (const trait of bySourceTrait(dependency)) {
      if (trait !== ANY) yield* workloads.where(selectableTraitsOf, trait);
      else for (const [, workload] of workloads.entries()) yield workload;
    }
  },
  isSameAsking: (before, after) => before.spec?.kubernetes === after.spec?.kubernetes,
  isSameFound: (before, after) => before === after,
  indexes: [bySourceTrait],
  backIndexes: [selectableTraitsOf],
};

/** A ServiceDependency and a Workload that it selects; the first is enough to know that there are some. */
export const firstWorkload: Matching<ServiceDependency, Workload> = {
  find(dependency, workloads) {
    for (const workload of selectingSources.findBack(dependency, workloads)) if (isSource(dependency, workload)) return [workload];
    return NONE;
  },
  *findBack(workload, dependencies) {
    for (const trait of [ANY, ...selectableTraitsOf(workload)]) yield* dependencies.where(bySourceTrait, trait);
  },
  isSameAsking: (before, after) => before === after,
  isSameFound: (before, after) => before.spec?.kubernetes === after.spec?.kubernetes,
  indexes: [selectableTraitsOf],
  backIndexes: [bySourceTrait],
};

// Traits begin with a word and a space.
const ANY = "any";

function bySourceTrait(dependency: ServiceDependency): readonly string[] {
  const { sources = NONE, source } = dependencyFormOf(dependency);
  if (source === "open" && sources.length === 0) return NONE;
  const traits = traitsOfSources(sources);
  return traits === "any" ? [ANY] : traits;
}

/** A ServiceDependency and the Destinations that it selects, in key order. */
export const dependedOn: Matching<ServiceDependency, Destination> = {
  find(dependency, destinations) {
    const { destinations: selectors } = dependencyFormOf(dependency);
    return selectors === undefined ? NONE : inKeyOrder([...new Set(selectedDestinations(selectors, destinations))]);
  },
  findBack: (destination, dependencies) => selectingCandidates({ where: (key) => dependencies.where(byTargets, key) }, destination),
  isSameAsking: (before, after) => dependencyFormOf(before).destinations === dependencyFormOf(after).destinations,
  isSameFound: (before, after) => before === after,
  indexes: [byLabel, byNamespace, byService, destinationsByCluster],
  backIndexes: [byTargets],
};

function byTargets(dependency: ServiceDependency): readonly string[] {
  const { destinations } = dependencyFormOf(dependency);
  return destinations === undefined ? NONE : [...new Set(selectionKeys(destinations))];
}

/** A Destination and the VirtualDestinations that may lead to it, in key order: those of which some form selects it. */
export const leadingTo: Matching<Destination, VirtualDestination> = {
  find: (destination, table) =>
    inKeyOrder(
      [...selectingCandidates({ where: (key) => table.where(bySelectedTargets, key) }, destination)].filter((one) =>
        formsOf(one).some(({ selectors }) => selectors.length > 0 && selectsDestination(selectors, destination)),
      ),
    ),
  findBack: (virtualDestination, destinations) =>
    formsOf(virtualDestination).flatMap(({ selectors }): readonly Destination[] =>
      selectors.length === 0 ? NONE : [...selectedDestinations(selectors, destinations)],
    ),
  isSameAsking: (before, after) => before.spec?.kubeService === after.spec?.kubeService,
  isSameFound: (before, after) => before === after,
  indexes: [bySelectedTargets],
  backIndexes: [byLabel, byNamespace, byService, destinationsByCluster],
};

function inKeyOrder<R extends Destination | VirtualDestination | ServiceDependency>(found: readonly R[]): readonly R[] {
  if (found.length < 2) return found;
  const byKey = new Map(found.map((one) => [keyOfResource(one), one]));
  return [...byKey.keys()].sort().flatMap((key) => byKey.get(key) ?? []);
}

const NONE: readonly never[] = [];
