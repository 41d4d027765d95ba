import { Destination, ServiceDependency, Workload } from "@isthmus/api";
import { type CooperativeTask, emptyTable, equalJson, keyOf, refOf, type Table } from "@isthmus/core";
import { type Finding, reportOf, warningFinding } from "../../../findings.ts";
import { type Derived, derived, updated } from "../../../incremental/derived.ts";
import { inputKind, inputTable, join } from "../../../incremental/join.ts";
import type { Transition } from "../../../incremental/transition.ts";
import { serviceOf } from "../../../policy/hosts/serviceRefs.ts";
import { byService } from "../../../policy/indexes.ts";
import { policyScopeFrom } from "../../../policy/policyScope.ts";
import { selectorFindings } from "../../../policy/references.ts";
import { dependencyFormOf } from "../../../policy/serviceDependencyFindings.ts";
import { causeOfNothing, type PlaceNames, rowOfPlaces } from "../../doubts/knownPlaces.ts";
import type { CheckedObject } from "../../doubts/otherObjects.ts";
import type { InputTables } from "../../policies.ts";
import { dependedOn, firstWorkload } from "./matching.ts";

/** What ServiceDependencies are checked with. */
export interface DependencyTables extends InputTables {
  /** The namespaces and clusters in which something can be selected. */
  readonly places: PlaceNames;
}

const dependencies = inputKind<DependencyTables, ServiceDependency>(ServiceDependency);
const destinations = inputKind<DependencyTables, Destination>(Destination);
const places = inputTable(
  ({ places: names }: DependencyTables) => rowOfPlaces(names),
  ({ key }) => key,
);

/** What is to be said of each ServiceDependency by itself; none of those of which nothing is. */
const checkedDependencies: Derived<DependencyTables, CheckedObject> = derived({
  from: dependencies,
  context: ({ translationContext }) => translationContext,
  joins: {
    named: join({ from: dependencies, key: byNamedServices, to: destinations, index: byService, isSame: () => true }),
    // Whether there is one at all is what is read.
    destinations: join({ from: dependencies, to: destinations, matching: dependedOn, isSame: () => true }),
    workload: join({
      from: dependencies,
      to: inputKind<DependencyTables, Workload>(Workload),
      matching: firstWorkload,
      isSame: () => true,
    }),
    places: join({ from: dependencies, key: () => ONLY_ROW, to: places, select: ({ value }) => value }),
  },
  make: (dependency, { key, lookup, context, before }) => {
    const form = dependencyFormOf(dependency);
    const limit = policyScopeFrom(context).limitOf(dependency);
    const known = new Set(lookup("named").flatMap(byService));
    const [names] = lookup("places");
    const isLimited = limit.clusterName !== undefined || limit.namespace !== undefined;
    const unknown = selectorFindings("spec.destinationSelectors", form.destinations, { hasService: (one) => known.has(one), limit })
      .filter(({ code }) => code === "DestinationUnknown")
      // The others are in force; and when it comes, so is this one.
      .map(({ message }) => warningFinding("DestinationUnknown", message));
    const doubts: Finding[] = [];
    // A limited one learns nothing of what lies beyond.
    if (names !== undefined && !isLimited && form.source !== "open") {
      if (names.clustersOfServices.length > 0 && lookup("destinations").length === 0 && unknown.length === 0)
        doubts.push(...noDestination(form, names));
      if (names.clustersOfWorkloads.length > 0 && lookup("workload").length === 0) doubts.push(noWorkload(form, names));
    }
    const reports = [...form.findings, ...unknown, ...doubts].map((finding) => reportOf(refOf(dependency), finding));
    if (reports.length === 0) return undefined;
    return before !== undefined && equalJson(before.reports, reports) ? before : { key, reports };
  },
});

const ONLY_ROW = [""];

type Form = ReturnType<typeof dependencyFormOf>;

function noDestination({ destinations: selectors }: Form, names: PlaceNames): readonly Finding[] {
  const matchers = (selectors ?? []).flatMap(({ kubeServiceMatcher }) => kubeServiceMatcher ?? []);
  if (matchers.length === 0) return [];
  const why = causeOfNothing(matchers, { namespaces: names.namespacesOfServices, clusters: names.clustersOfServices }, "service");
  return [warningFinding("NothingSelected", `spec.destinationSelectors: select no Service in a mesh, so no workload is limited: ${why}`)];
}

function noWorkload({ sources = [] }: Form, names: PlaceNames): Finding {
  const matchers = sources.flatMap(({ kubeWorkloadMatcher }) => kubeWorkloadMatcher ?? []);
  const why = causeOfNothing(matchers, { namespaces: names.namespacesOfWorkloads, clusters: names.clustersOfWorkloads }, "workload");
  return warningFinding(
    "NothingSelected",
    `spec.sourceSelectors: select no workload in a mesh, so this ServiceDependency has no effect: ${why}`,
  );
}

/** ServiceDependencies by the Services that they name. */
function byNamedServices(dependency: ServiceDependency): readonly string[] {
  const { destinations: selectors = [] } = dependencyFormOf(dependency);
  return [...new Set(selectors.flatMap(({ kubeServiceRefs }) => (kubeServiceRefs?.services ?? []).map((ref) => keyOf(serviceOf(ref)))))];
}

/** No ServiceDependency of which something is to be said. */
export function noDependencies(): Table<CheckedObject> {
  return emptyTable(({ key }) => key);
}

/** What is to be said of each. */
export function* dependenciesAfter(
  change: Transition<DependencyTables>,
  before: Table<CheckedObject>,
): CooperativeTask<Table<CheckedObject>> {
  return yield* updated(before, checkedDependencies, change);
}
