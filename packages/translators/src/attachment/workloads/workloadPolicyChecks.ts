import { Workload, type WorkloadSelector } from "@isthmus/api";
import { type CooperativeTask, emptyTable, equalJson, type Kind, type Resource, refOf, type Table } from "@isthmus/core";
import { type Finding, reportOf, warningFinding } from "../../findings.ts";
import { type Derived, derived, updated } from "../../incremental/derived.ts";
import { inputKind, inputTable, join } from "../../incremental/join.ts";
import type { Matching } from "../../incremental/matching.ts";
import type { Transition } from "../../incremental/transition.ts";
import { policyScopeFrom, workloadScopeFindings } from "../../policy/policyScope.ts";
import { causeOfNothing, type PlaceNames, rowOfPlaces } from "../doubts/knownPlaces.ts";
import type { CheckedObject } from "../doubts/otherObjects.ts";
import type { DependencyTables } from "./serviceDependencies/checked.ts";

/** A kind whose objects select Workloads, and say by themselves what of them is wrong. */
export interface WorkloadPolicyKind<P extends Resource> {
  readonly kind: Kind<P>;
  /** What of an object is in force, undefined for nothing; and what is to be said of it. */
  readonly formOf: (policy: P) => { readonly selectors: readonly WorkloadSelector[] | undefined; readonly findings: readonly Finding[] };
  readonly first: Matching<P, Workload>;
  /** How a message begins that they select nothing: `spec.workloadSelectors: select`; and what follows: `nothing is logged`. */
  readonly selectors: string;
  readonly consequence: string;
}

/** What is to be said of the objects of such a kind. */
export interface WorkloadPolicyChecks {
  /** Nothing. */
  none(): Table<CheckedObject>;
  after(change: Transition<DependencyTables>, before: Table<CheckedObject>): CooperativeTask<Table<CheckedObject>>;
}

const places = inputTable(
  ({ places: names }: DependencyTables) => rowOfPlaces(names),
  ({ key }) => key,
);
const ONLY_ROW = [""];

/** Checks each object of a kind by itself, and whether it selects something. */
export function workloadPolicyChecks<P extends Resource>(policyKind: WorkloadPolicyKind<P>): WorkloadPolicyChecks {
  const { kind, formOf, first, selectors: field, consequence } = policyKind;
  const policies = inputKind<DependencyTables, P>(kind);

  function noWorkload(selectors: readonly WorkloadSelector[], names: PlaceNames): Finding {
    const matchers = selectors.flatMap(({ kubeWorkloadMatcher }) => kubeWorkloadMatcher ?? []);
    const why = causeOfNothing(matchers, { namespaces: names.namespacesOfWorkloads, clusters: names.clustersOfWorkloads }, "workload");
    return warningFinding("NothingSelected", `${field} no workload in a mesh, so ${consequence}: ${why}`);
  }

  const checked: Derived<DependencyTables, CheckedObject> = derived({
    from: policies,
    context: ({ translationContext }) => translationContext,
    joins: {
      workload: join({ from: policies, to: inputKind<DependencyTables, Workload>(Workload), matching: first, isSame: () => true }),
      places: join({ from: policies, key: () => ONLY_ROW, to: places, select: ({ value }) => value }),
    },
    make: (policy, { key, lookup, context, before }) => {
      const { selectors, findings: own } = formOf(policy);
      const limit = policyScopeFrom(context).limitOf(policy);
      const { clusterName, namespace } = limit;
      const [names] = lookup("places");
      // A limited one learns nothing of what lies beyond.
      const isUnlimited = clusterName === undefined && namespace === undefined;
      const isDoubtful = isUnlimited && names !== undefined && names.clustersOfWorkloads.length > 0 && lookup("workload").length === 0;
      const said = [...own, ...workloadScopeFindings(field.slice(0, field.indexOf(":")), selectors ?? [], limit)];
      const findings = isDoubtful && selectors !== undefined ? [...said, noWorkload(selectors, names)] : said;
      const reports = findings.map((finding) => reportOf(refOf(policy), finding));
      if (reports.length === 0) return undefined;
      return before !== undefined && equalJson(before.reports, reports) ? before : { key, reports };
    },
  });

  return {
    none: () => emptyTable(({ key }) => key),
    *after(change, before) {
      return yield* updated(before, checked, change);
    },
  };
}
