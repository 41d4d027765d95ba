import { type AccessPolicy, type TrafficPolicy, Workload } from "@isthmus/api";
import { type CooperativeTask, emptyTable, keyOfResource, type Table } from "@isthmus/core";
import { type Changes, changesOf, versionsOf } from "../incremental/changes.ts";
import { byMesh } from "../policy/indexes.ts";
import { isWithinLimit, type PolicyLimit, workloadLocation } from "../policy/policyScope.ts";
import { selectsIdentity, selectsWorkload } from "../policy/selectors.ts";
import { isAccessPolicy, selectableTraitsOf, selectedTraitsOf } from "../policy/workloadTraits.ts";
import { groupOfMesh, meshesOf } from "./meshGroups.ts";
import type { StatusIndex } from "./statusIndex.ts";

type Policy = TrafficPolicy | AccessPolicy;

/** Which workloads a policy is about: what it selects in some groups of meshes. */
export interface WorkloadSelection {
  /** Equal for policies that ask for the same. */
  readonly query: string;
  readonly policy: Policy;
  /** The groups of the meshes of its Destinations, sorted. */
  readonly groups: readonly string[];
  /** Only what is within it: a status tells nothing of what lies beyond. */
  readonly limit: PolicyLimit;
}

/** The workloads that policies of one query select. */
export interface SelectedWorkloads {
  /** The query. */
  readonly key: string;
  readonly policy: Policy;
  readonly groups: readonly string[];
  readonly limit: PolicyLimit;
  /** The keys of the workloads, sorted. */
  readonly keys: readonly string[];
}

/** Nothing asked. */
export function noSelectedWorkloads(): Table<SelectedWorkloads> {
  return emptyTable(({ key }) => key);
}

/** What one policy asks about workloads. */
export interface PolicySelection extends WorkloadSelection {
  /** `userKeyOf` */
  readonly key: string;
}

/** What a policy asks for: the workloads that it selects in some groups of meshes. */
export function workloadSelectionOf(policy: Policy, groups: ReadonlySet<string>, limit: PolicyLimit): WorkloadSelection {
  const sorted = [...groups].sort();
  const { clusterName = null, namespace = null } = limit;
  const query = JSON.stringify([policy.kind, policy.spec?.sourceSelector ?? [], sorted, clusterName, namespace]);
  return { query, policy, groups: sorted, limit };
}

/** The answer to a query, at the cost of the workloads that have what it asks for. */
function selectWorkloads({ query, policy, groups, limit }: WorkloadSelection, standings: StatusIndex): SelectedWorkloads {
  const candidates = candidatesOf(policy, groups, standings).filter(
    (workload) => selects(policy, workload) && isWithinLimit(limit, workloadLocation(workload)),
  );
  const keys = [...new Set(candidates.map(keyOfResource))].sort();
  return { key: query, policy, groups, limit, keys };
}

/** Workloads of some groups among which are all that a policy selects there; some of them perhaps twice. */
function candidatesOf(policy: Policy, groups: readonly string[], { translation, groups: meshGroups }: StatusIndex): readonly Workload[] {
  const workloads = translation.attached.of(Workload);
  const wanted = selectedTraitsOf(policy);
  if (wanted === "any") return groups.flatMap((group) => meshesOf(group, meshGroups)).flatMap((mesh) => workloads.where(byMesh, mesh));
  const asked = new Set(groups);
  const isInGroups = (workload: Workload) => byMesh(workload).some((mesh) => asked.has(groupOfMesh(mesh, meshGroups)));
  return wanted.flatMap((trait) => workloads.where(selectableTraitsOf, trait).filter(isInGroups));
}

/** The answers that are still right: corrected by workloads that changed, and without those about groups that did. */
export function* updateSelectedWorkloads(
  answers: Table<SelectedWorkloads>,
  now: StatusIndex,
  before: StatusIndex | undefined,
): CooperativeTask<Table<SelectedWorkloads>> {
  const edits = new Map<string, SelectedWorkloads | undefined>();
  for (const group of now.groups.changed) for (const { key } of answers.where(byGroup, group)) edits.set(key, undefined);
  // A cluster that joins brings thousands of workloads for a few queries: the keys of each are gone through once.
  const picks = new Map<SelectedWorkloads, Map<string, boolean>>();
  const changes = answers.size === edits.size ? [] : changesOf(Workload, now.translation.attached, before?.translation.attached);
  for (const { key, before: was, after } of changes) {
    const traits = new Set([
      ANY,
      ...(was === undefined ? [] : selectableTraitsOf(was)),
      ...(after === undefined ? [] : selectableTraitsOf(after)),
    ]);
    for (const trait of traits) {
      for (const answer of answers.where(byWanted, trait)) {
        if (edits.has(answer.key)) continue;
        const picked = picks.get(answer) ?? new Map<string, boolean>();
        picks.set(answer, picked.set(key, isAnswer(answer, after, now)));
      }
    }
    yield;
  }
  for (const [answer, picked] of picks) {
    edits.set(answer.key, corrected(answer, picked));
    yield;
  }
  return answers.with(edits);
}

interface SelectionTables {
  readonly selections: Table<PolicySelection>;
  readonly answers: Table<SelectedWorkloads>;
}

/** The answers to all that policies ask: those that are missing made, those that nobody asks for any more dropped. */
export function* answeredFor(
  { selections, answers }: SelectionTables,
  before: SelectionTables,
  { index, changes }: { readonly index: StatusIndex; readonly changes: Changes | undefined },
): CooperativeTask<Table<SelectedWorkloads>> {
  const changesIn = <V extends object>(now: Table<V>, was: Table<V>) => changes?.between(now, was) ?? now.changesSince(was);
  const queries = new Set(changesIn(answers, before.answers).map(({ key }) => key));
  for (const { query } of versionsOf(changesIn(selections, before.selections))) queries.add(query);
  const edits: (readonly [string, SelectedWorkloads | undefined])[] = [];
  for (const query of queries) {
    const [asking] = selections.where(byQuery, query);
    if (asking === undefined) edits.push([query, undefined]);
    else if (answers.row(query) === undefined) edits.push([query, selectWorkloads(asking, index)]);
    yield;
  }
  return answers.with(edits);
}

/** Policies by what they ask about workloads. */
export function byQuery({ query }: PolicySelection): readonly string[] {
  return [query];
}

/** Answers by what all workloads have that can be in them. */
function byWanted({ policy }: SelectedWorkloads): readonly string[] {
  const wanted = selectedTraitsOf(policy);
  return wanted === "any" ? [ANY] : wanted;
}

// Traits begin with a word and a space.
const ANY = "any";

/** What rests upon groups of meshes. */
function byGroup({ groups }: Pick<SelectedWorkloads, "groups">): readonly string[] {
  return groups;
}

function isAnswer({ policy, groups, limit }: SelectedWorkloads, workload: Workload | undefined, now: StatusIndex): boolean {
  if (workload === undefined || !selects(policy, workload) || !isWithinLimit(limit, workloadLocation(workload))) return false;
  return byMesh(workload).some((mesh) => groups.includes(groupOfMesh(mesh, now.groups)));
}

/** An answer with what `picked` says of some workloads, by key: whether they are in it. */
function corrected(answer: SelectedWorkloads, picked: ReadonlyMap<string, boolean>): SelectedWorkloads {
  const isIn = (key: string) => answer.keys[lowerBound(answer.keys, key)] === key;
  const wrong = new Map([...picked].filter(([key, isSelected]) => isIn(key) !== isSelected));
  if (wrong.size === 0) return answer;
  const added = [...wrong].filter(([, isSelected]) => isSelected).map(([key]) => key);
  return { ...answer, keys: [...answer.keys.filter((key) => !wrong.has(key)), ...added].sort() };
}

function lowerBound(keys: readonly string[], key: string): number {
  let [low, high] = [0, keys.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((keys[middle] as string) < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

function selects(policy: Policy, workload: Workload): boolean {
  return isAccessPolicy(policy)
    ? selectsIdentity(policy.spec?.sourceSelector, workload)
    : selectsWorkload(policy.spec?.sourceSelector, workload);
}
