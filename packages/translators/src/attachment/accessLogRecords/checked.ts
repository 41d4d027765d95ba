import { AccessLogRecord, Workload } from "@isthmus/api";
import { type CooperativeTask, emptyTable, equalJson, refOf, type Table } from "@isthmus/core";
import { type Finding, reportOf, warningFinding } from "../../findings.ts";
import { type Derived, derived, updated } from "../../incremental/derived.ts";
import { inputKind, inputTable, join } from "../../incremental/join.ts";
import type { Transition } from "../../incremental/transition.ts";
import { accessLogRecordFormOf } from "../../policy/accessLogRecordForm.ts";
import { policyScopeFrom } from "../../policy/policyScope.ts";
import { causeOfNothing, type PlaceNames, rowOfPlaces } from "../knownPlaces.ts";
import type { CheckedObject } from "../otherObjects.ts";
import type { DependencyTables } from "../serviceDependencies/checked.ts";
import { firstLogging } from "./matching.ts";

const records = inputKind<DependencyTables, AccessLogRecord>(AccessLogRecord);
const places = inputTable(
  ({ places: names }: DependencyTables) => rowOfPlaces(names),
  ({ key }) => key,
);

/** What is to be said of each AccessLogRecord by itself; none of those of which nothing is. */
const checkedRecords: Derived<DependencyTables, CheckedObject> = derived({
  from: records,
  context: ({ translationContext }) => translationContext,
  joins: {
    workload: join({
      from: records,
      to: inputKind<DependencyTables, Workload>(Workload),
      matching: firstLogging,
      isSame: () => true,
    }),
    places: join({ from: records, key: () => ONLY_ROW, to: places, select: ({ value }) => value }),
  },
  make: (record, { key, lookup, context, before }) => {
    const form = accessLogRecordFormOf(record);
    const { clusterName, namespace } = policyScopeFrom(context).limitOf(record);
    const [names] = lookup("places");
    // A limited one is reported nothing of what lies beyond.
    const isTold = clusterName === undefined && namespace === undefined && form.spec !== undefined;
    const isDoubtful = isTold && names !== undefined && names.clustersOfWorkloads.length > 0 && lookup("workload").length === 0;
    const findings = isDoubtful ? [...form.findings, noWorkload(form, names)] : form.findings;
    const reports = findings.map((finding) => reportOf(refOf(record), finding));
    if (reports.length === 0) return undefined;
    return before !== undefined && equalJson(before.reports, reports) ? before : { key, reports };
  },
});

const ONLY_ROW = [""];

function noWorkload({ spec }: ReturnType<typeof accessLogRecordFormOf>, names: PlaceNames): Finding {
  const matchers = (spec?.workloadSelectors ?? []).flatMap(({ kubeWorkloadMatcher }) => kubeWorkloadMatcher ?? []);
  const why = causeOfNothing(matchers, { namespaces: names.namespacesOfWorkloads, clusters: names.clustersOfWorkloads }, "workload");
  return warningFinding("NothingSelected", `spec.workloadSelectors: select no workload in a mesh, so nothing is logged: ${why}`);
}

/** No AccessLogRecord of which something is to be said. */
export function noRecords(): Table<CheckedObject> {
  return emptyTable(({ key }) => key);
}

/** What is to be said of each. */
export function* recordsAfter(change: Transition<DependencyTables>, before: Table<CheckedObject>): CooperativeTask<Table<CheckedObject>> {
  return yield* updated(before, checkedRecords, change);
}
