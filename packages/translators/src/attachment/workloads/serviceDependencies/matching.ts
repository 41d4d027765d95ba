import type { Destination, ServiceDependency, VirtualDestination } from "@isthmus/api";
import type { Matching } from "../../../incremental/matching.ts";
import { byLabel, byNamespace, byService, destinationsByCluster } from "../../../policy/indexes.ts";
import { selectedDestinations, selectingCandidates, selectionKeys } from "../../../policy/selection.ts";
import { selectsDestination } from "../../../policy/selectors.ts";
import { dependencyFormOf } from "../../../policy/serviceDependencyFindings.ts";
import { bySelectedTargets, formsOf } from "../../virtualDestinations/forms.ts";
import { uniqueInKeyOrder, workloadMatching } from "../workloadMatching.ts";

/** ServiceDependencies and the Workloads that they select. */
export const { selecting: selectingSources, first: firstWorkload } = workloadMatching((dependency: ServiceDependency) => {
  const { sources = NONE, source } = dependencyFormOf(dependency);
  // Without entries that are understood it is not known whom it means; a list that is empty as it is written means all.
  return source === "open" && sources.length === 0 ? undefined : sources;
});

/** A ServiceDependency and the Destinations that it selects, in key order. */
export const dependedOn: Matching<ServiceDependency, Destination> = {
  find(dependency, destinations) {
    const { destinations: selectors } = dependencyFormOf(dependency);
    return selectors === undefined ? NONE : uniqueInKeyOrder([...new Set(selectedDestinations(selectors, destinations))]);
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
    uniqueInKeyOrder(
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

const NONE: readonly never[] = [];
