import {
  AccessLogRecord,
  AccessPolicy,
  Destination,
  ServiceDependency,
  TrafficPolicy,
  userStatusKinds,
  VirtualDestination,
  VirtualMesh,
  WasmDeployment,
  WasmFilterReport,
} from "@isthmus/api";
import { keyOf, keyOfResource, type Report, type Resource, refOf, resourceKeyOf, type SortedMap, type Table } from "@isthmus/core";
import type { Reporting } from "../attachment/attachment.ts";
import type { Memberships } from "../attachment/federation/virtualMeshes.ts";
import { inputTable, join, unionOf } from "../incremental/join.ts";
import { entriesOf, type MapEntry, sortedEntriesOf } from "../incremental/lookupTable.ts";
import type { Matching } from "../incremental/matching.ts";
import { memoizeRow } from "../incremental/memoizeRow.ts";
import { unionOfKinds } from "../incremental/unionOfKinds.ts";
import type { TranslatedTarget } from "../pipeline/targets.ts";
import { byMesh } from "../policy/indexes.ts";
import { userKeyOf } from "../policy/userResources.ts";
import { selectedUnder, virtualSelectionKeys } from "../policy/virtualSelection.ts";
import type { DeliveryProgress } from "./approval.ts";
import { REPORTING } from "./newReports.ts";
import { policiesAttachedTo, type StatusIndex } from "./statusIndex.ts";
import { reportKeysOf } from "./wasmDeployments.ts";
import { byQuery, type PolicySelection, type SelectedWorkloads } from "./workloads.ts";

/** The tables from which statuses follow. */
export interface StatusTables {
  readonly index: StatusIndex;
  readonly findings: Table<UserFindings>;
  readonly selections: Table<PolicySelection>;
  readonly answers: Table<SelectedWorkloads>;
}

/** What is reported of one object that a user wrote; there is none for those of which nothing is. */
export interface UserFindings {
  /** `userKeyOf` */
  readonly key: string;
  /** Those of memberships first, then in the order of the stages. */
  readonly reports: readonly Report[];
}

type Indexes = Pick<StatusTables, "index">;

const usersOf = unionOfKinds(userStatusKinds(), ({ kind }) => `${kind}/`);

/** What users ask something of us by, by `userKeyOf`. */
export const users = inputTable(
  ({ index }: Indexes) => usersOf(index.translation.attached),
  (resource: Resource) => userKeyOf(refOf(resource)),
);

// Which VirtualMeshes are in force where, as the one row of a table.
const memberships = inputTable(({ index }: Indexes) => onlyRowOf(index.translation.cache.attachment.membership), entryKey);
const onlyRowOf = memoizeRow((membership: Memberships) => entriesOf(new Map([["", membership]])));

/** What every VirtualMesh reads of the others. There are few of them. */
export const membership = join({
  from: users,
  when: ({ kind }: Resource) => kind === VirtualMesh.kind,
  key: toOnlyRow,
  to: memberships,
  select: entryValue<Memberships>,
});

function toOnlyRow(): readonly string[] {
  return ONLY_ROW;
}

const ONLY_ROW = [""];

const reportingTables = [
  ...REPORTING.map(
    (table) =>
      ({ index }: Indexes) =>
        table(index.translation),
  ),
  ({ index }: Indexes) => index.delivered,
].map(
  // Their rows are found by an index alone.
  (table) => inputTable<Indexes, Reporting>(table, () => ""),
);

/** Rows with findings about each of them, among others: those of memberships first, then in the order of the stages. */
export const reporting = unionOf<Indexes, Resource, Reporting>([
  join({ from: users, to: memberships, index: membersBySubject, select: entryValue<Memberships>, isSame: isSameReports }),
  ...reportingTables.map((to) => join({ from: users, to, index: bySubject, isSame: isSameReports })),
]);

/** Rows by the subjects of which they tell something. */
function bySubject({ reports }: Reporting): readonly string[] {
  return reports.length === 0 ? NONE : [...new Set(reports.map(({ subject }) => userKeyOf(subject)))];
}

function membersBySubject({ value }: MapEntry<Memberships>): readonly string[] {
  return bySubject(value);
}

function isSameReports(before: Reporting, after: Reporting): boolean {
  return before.reports === after.reports;
}

/** Each of them → what is reported of it. */
export const findings = join({
  from: users,
  to: inputTable(
    ({ findings: table }: StatusTables) => table,
    ({ key }) => key,
  ),
});

const destinations = inputTable(({ index }: Indexes) => index.translation.attached.of(Destination), keyOfResource);

/** Each policy → where it is in force, in which place. */
export const orders = join({ from: users, to: inputTable(({ index }: Indexes) => sortedEntriesOf(index.orders), entryKey) });

type Places = MapEntry<SortedMap<number>>;

/** A policy's places, and Destinations in every mesh that it has some in. */
const oneOfEachMesh: Matching<Places, Destination> = {
  find({ value }, table) {
    const found = new Map<string, Destination>();
    for (const [key] of value) {
      const destination = table.row(key);
      const [mesh] = destination === undefined ? NONE : byMesh(destination);
      if (destination !== undefined && mesh !== undefined && !found.has(mesh)) found.set(mesh, destination);
    }
    return [...found.values()];
  },
  findBack: (destination, places) => policiesAttachedTo(destination).flatMap(({ ref }) => places.row(userKeyOf(ref)) ?? []),
  isSameAsking: (before, after) => before.value === after.value,
  // It is found by its key; where policies are in force is recognized by their places.
  isSameFound: () => true,
  indexes: [],
  backIndexes: [],
};

/** Each policy → the meshes in which it is in force. */
const ofMeshes = join({ from: orders.source, to: destinations, matching: oneOfEachMesh, isSame: isInSameMesh });
/** Each policy → the Destinations that findings about it name. */
const reported = join({ from: findings.source, key: byTarget, to: destinations, isSame: isInSameMesh });

/** Each policy → Destinations in every mesh that it is about. */
export const destinationsOfPolicies = unionOf([ofMeshes, reported]);

/** What is reported, by the targets that it names. */
function byTarget({ reports }: UserFindings): readonly string[] {
  return [...new Set(reports.flatMap(({ target }) => (target === undefined ? [] : [keyOf(target)])))];
}

function isInSameMesh(before: Destination, after: Destination): boolean {
  const [left, right] = [before.spec?.mesh, after.spec?.mesh];
  return left?.name === right?.name && left?.namespace === right?.namespace;
}

/** Each policy → the groups of these meshes. */
export const meshGroups = unionOf(
  [ofMeshes, reported].map(({ source }) =>
    join({ from: source, key: byMesh, to: inputTable(({ index }: Indexes) => entriesOf(index.groups.groupOf), entryKey) }),
  ),
);

/** Each TrafficPolicy → the form of it that is in force. */
export const trafficInForce = join({
  from: users,
  when: ({ kind }: Resource) => kind === TrafficPolicy.kind,
  key: (object: Resource) => [keyOfResource(object)],
  to: inputTable(
    ({ index }: Indexes) => index.translation.cache.attachment.traffic,
    ({ key }) => key,
  ),
  select: ({ policy }) => policy,
});

/** Each policy → the VirtualDestinations that it may select. */
export const selectableVirtualDestinations = join({
  from: users,
  when: isPolicy,
  key: (object: Resource) => virtualSelectionKeys(isPolicy(object) ? object.spec?.destinationSelector : undefined),
  to: inputTable(({ index }: Indexes) => index.translation.attached.of(VirtualDestination), keyOfResource),
  index: selectedUnder,
});

/** Each VirtualDestination → what is in force of it. */
export const translatedVirtualDestinations = join({
  from: users,
  when: ({ kind }: Resource) => kind === VirtualDestination.kind,
  key: (object: Resource) => [resourceKeyOf(refOf(object))],
  to: inputTable(
    ({ index }: Indexes) => index.translation.cache.targets,
    ({ key }) => key,
  ),
  select: ({ inputs }) => inputs,
});

/** Each ServiceDependency → the Workloads that it selects. */
export const dependentWorkloads = join({
  from: users,
  when: ({ kind }: Resource) => kind === ServiceDependency.kind,
  key: (object: Resource) => [userKeyOf(refOf(object))],
  to: inputTable(
    ({ index }: Indexes) => index.translation.cache.targets,
    ({ key }) => key,
  ),
  index: byDependency,
  select: ({ inputs }) => ("workload" in inputs ? keyOfResource(inputs.workload) : ""),
});

/** Targets by the ServiceDependencies that select them. */
function byDependency({ inputs }: TranslatedTarget): readonly string[] {
  return "workload" in inputs ? inputs.dependencies.map((one) => userKeyOf(refOf(one))) : NONE;
}

/** Each AccessLogRecord → the Workloads that it selects, with what was made of them. */
export const loggingWorkloads = join({
  from: users,
  when: ({ kind }: Resource) => kind === AccessLogRecord.kind,
  key: (object: Resource) => [userKeyOf(refOf(object))],
  to: inputTable(
    ({ index }: Indexes) => index.translation.cache.targets,
    ({ key }) => key,
  ),
  index: byRecord,
});

/** Targets by the AccessLogRecords that select them. */
function byRecord({ inputs }: TranslatedTarget): readonly string[] {
  return "workload" in inputs ? inputs.accessLogRecords.map((one) => userKeyOf(refOf(one))) : NONE;
}

/** Each WasmDeployment → the Workloads that it selects, with what was made of them. */
export const extendedWorkloads = join({
  from: users,
  when: ({ kind }: Resource) => kind === WasmDeployment.kind,
  key: (object: Resource) => [userKeyOf(refOf(object))],
  to: inputTable(
    ({ index }: Indexes) => index.translation.cache.targets,
    ({ key }) => key,
  ),
  index: byDeployment,
});

/** Targets by the WasmDeployments that select them. */
function byDeployment({ inputs }: TranslatedTarget): readonly string[] {
  return "workload" in inputs ? inputs.wasmDeployments.map((one) => userKeyOf(refOf(one))) : NONE;
}

/** Each WasmDeployment → what agents report of the filters of these Workloads. */
export const filterReports = join({
  from: extendedWorkloads.source,
  key: reportKeysOf,
  to: inputTable(({ index }: Indexes) => index.translation.inputs.of(WasmFilterReport), keyOfResource),
});

/** By VirtualMesh, the Destinations that it would federate. */
export const federated = join({
  from: users,
  to: inputTable(({ index }: Indexes) => sortedEntriesOf(index.federated), entryKey),
  select: entryValue<SortedMap<true>>,
});

/** How far the objects that exist because of each have come. */
export const progress = join({
  from: users,
  to: inputTable(({ index }: Indexes) => sortedEntriesOf(index.progress), entryKey),
  select: entryValue<DeliveryProgress>,
});

/** Each policy → what it asks about workloads. */
const selection = join({
  from: users,
  to: inputTable(
    ({ selections }: StatusTables) => selections,
    ({ key }) => key,
  ),
});

/** Each policy → the answer. */
export const selectedWorkloads = join({
  from: selection.source,
  key: byQuery,
  to: inputTable(
    ({ answers }: StatusTables) => answers,
    ({ key }) => key,
  ),
});

function entryKey({ key }: MapEntry<unknown>): string {
  return key;
}

function entryValue<V>({ value }: MapEntry<V>): V {
  return value;
}

/** Whether an object is a policy. */
export function isPolicy(object: Resource): object is TrafficPolicy | AccessPolicy {
  return object.kind === TrafficPolicy.kind || object.kind === AccessPolicy.kind;
}

const NONE: readonly never[] = [];
