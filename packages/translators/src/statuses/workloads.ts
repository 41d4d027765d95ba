import { AccessPolicy, Destination, type TrafficPolicy, Workload } from "@isthmus/api";
import { emptyTable, keyOfResource, type Table } from "@isthmus/core";
import { byMesh } from "../attachment/indexes.ts";
import { selectsIdentity, selectsWorkload } from "../attachment/selectors.ts";
import { meshKey } from "../attachment/virtualMeshes.ts";
import { changesOf, versionsOf } from "../incremental/changes.ts";
import { groupOfMesh, meshesOf } from "./meshGroups.ts";
import type { Standings } from "./standings.ts";

type Policy = TrafficPolicy | AccessPolicy;

/** Which workloads a policy is about: what it selects in some groups of meshes. */
export interface Selecting {
  /** Equal for policies that ask for the same. */
  readonly question: string;
  readonly policy: Policy;
  /** The groups of the meshes of its Destinations, sorted. */
  readonly groups: readonly string[];
}

/** The workloads that policies of one question select. */
export interface Answer {
  /** The question. */
  readonly key: string;
  readonly policy: Policy;
  readonly groups: readonly string[];
  /** The keys of the workloads, sorted. */
  readonly keys: readonly string[];
}

/** Nothing asked. */
export function noAnswers(): Table<Answer> {
  return emptyTable(({ key }) => key);
}

/** What a policy asks for: the workloads that it selects in the meshes of its Destinations and in those grouped with them. */
export function questionOf(policy: Policy, destinationKeys: Iterable<string>, { world, groups }: Standings): Selecting {
  const asked = new Set<string>();
  for (const key of destinationKeys) {
    const mesh = world.attached.of(Destination).row(key)?.spec?.mesh;
    if (mesh !== undefined) asked.add(groupOfMesh(meshKey(mesh), groups));
  }
  const sorted = [...asked].sort();
  return { question: JSON.stringify([policy.kind, policy.spec?.sourceSelector ?? [], sorted]), policy, groups: sorted };
}

/** The answer to a question: the one that is known, or a new one, at the cost of all workloads in question. */
export function askedFor({ question, policy, groups }: Selecting, answers: Table<Answer>, standings: Standings): Answer {
  const known = answers.row(question);
  if (known !== undefined) return known;
  const workloads = standings.world.attached.of(Workload);
  const keys = groups
    .flatMap((group) => meshesOf(group, standings.groups))
    .flatMap((mesh) => workloads.where(byMesh, mesh))
    .filter((workload) => selects(policy, workload))
    .map(keyOfResource)
    .sort();
  return { key: question, policy, groups, keys };
}

/** The answers that are still right: corrected by workloads that changed, and without those about groups that did. */
export function answersAfter(answers: Table<Answer>, now: Standings, before: Standings | undefined): Table<Answer> {
  const edits = new Map<string, Answer | undefined>();
  for (const { key, ...change } of changesOf(Workload, now.world.attached, before?.world.attached)) {
    const groups = new Set([...versionsOf([{ key, ...change }])].flatMap(byMesh).map((mesh) => groupOfMesh(mesh, now.groups)));
    for (const group of groups) {
      for (const { key: question } of answers.where(byGroup, group)) {
        const answer = edits.get(question) ?? answers.row(question);
        if (answer !== undefined) edits.set(question, corrected(answer, key, isAnswer(answer, change.after, now)));
      }
    }
  }
  for (const group of now.groups.changed) for (const { key } of answers.where(byGroup, group)) edits.set(key, undefined);
  return answers.with(edits);
}

/** What rests upon groups of meshes. */
function byGroup({ groups }: Pick<Answer, "groups">): readonly string[] {
  return groups;
}

function isAnswer({ policy, groups }: Answer, workload: Workload | undefined, now: Standings): boolean {
  if (workload === undefined || !selects(policy, workload)) return false;
  return byMesh(workload).some((mesh) => groups.includes(groupOfMesh(mesh, now.groups)));
}

function corrected(answer: Answer, key: string, isSelected: boolean): Answer {
  const isKnown = answer.keys.includes(key);
  if (isKnown === isSelected) return answer;
  const keys = isSelected ? [...answer.keys, key].sort() : answer.keys.filter((one) => one !== key);
  return { ...answer, keys };
}

function selects(policy: Policy, workload: Workload): boolean {
  return isAccessPolicy(policy)
    ? selectsIdentity(policy.spec?.sourceSelector, workload)
    : selectsWorkload(policy.spec?.sourceSelector, workload);
}

function isAccessPolicy(policy: Policy): policy is AccessPolicy {
  return policy.kind === AccessPolicy.kind;
}
