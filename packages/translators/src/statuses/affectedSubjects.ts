import { askedKinds, Destination, type Settings, VirtualMesh } from "@isthmus/api";
import { type CooperativeTask, emptyTable, equalJson, type Resource, type ResourceRef, refOf, type Table } from "@isthmus/core";
import { changesOf, versionsOf } from "../incremental/changes.ts";
import { isUserRef, userKeyOf } from "../policy/userResources.ts";
import { nothingDelivered } from "./delivery.ts";
import { type Reporting, reportingTables } from "./newReports.ts";
import type { UserStatus } from "./statuses.ts";
import { federationChanges, federatorOf, policiesAttachedTo, type StatusIndex } from "./statusIndex.ts";
import type { SelectedWorkloads } from "./workloads.ts";

export interface AffectedSources {
  readonly before: StatusIndex | undefined;
  /** The statuses so far. */
  readonly users: Table<UserStatus>;
  /** Answers that are right now; those before them. */
  readonly answers: { readonly now: Table<SelectedWorkloads>; readonly before: Table<SelectedWorkloads> };
}

/** The users' objects, by `userKeyOf`, of which something else may be to be said than before. */
export function* affectedSubjects(
  now: StatusIndex,
  { before, users, answers }: AffectedSources,
): CooperativeTask<ReadonlyMap<string, ResourceRef>> {
  const affected = new Map<string, ResourceRef>();
  const add = (ref: ResourceRef) => void affected.set(userKeyOf(ref), ref);
  for (const kind of askedKinds()) {
    for (const object of versionsOf(changesOf(kind, now.world.attached, before?.world.attached))) add(refOf(object));
  }
  for (const report of changedReports(now, before)) if (isUserRef(report)) add(report);
  for (const { key, before: was, after } of changesOf(Destination, now.world.attached, before?.world.attached)) {
    yield;
    for (const ref of changedPlaces(was, after)) add(ref);
    if (isMoved(was, after)) for (const { ref } of users.where(byReported, key)) add(ref);
  }
  for (const { before: was, after } of federationChanges(now.world, before?.world)) {
    yield;
    const [left, right] = [federatorOf(was), federatorOf(after)];
    if (left !== undefined && right !== undefined && userKeyOf(left) === userKeyOf(right)) continue;
    if (left !== undefined) add(left);
    if (right !== undefined) add(right);
  }
  for (const virtualMesh of changedMembers(now, before)) add(refOf(virtualMesh));
  // What may be told to a cluster follows from the Settings.
  const isWidened = before !== undefined && !equalJson(settingsOf(now), settingsOf(before));
  if (isWidened || (now.delivery === undefined) !== (before?.delivery === undefined)) for (const { ref } of users) add(ref);
  for (const { before: was, after } of now.delivered.changesSince(before?.delivered ?? nothingDelivered())) {
    for (const { subject } of [...(was?.tallies ?? []), ...(after?.tallies ?? [])]) add(subject);
  }
  for (const { key } of answers.now.changesSince(answers.before)) for (const { ref } of users.where(byWorkloadSelection, key)) add(ref);
  return affected;
}

function settingsOf({ world }: StatusIndex): Settings["spec"] {
  return world.cache.surroundings.settings?.spec;
}

/** The subjects of findings that are new or gone. */
function* changedReports(now: StatusIndex, before: StatusIndex | undefined): Iterable<ResourceRef> {
  const tables: readonly Table<Reporting>[] = [...reportingTables(now.world), now.delivered];
  const older = before && [...reportingTables(before.world), before.delivered];
  for (const [i, table] of tables.entries()) {
    for (const { before: was, after } of table.changesSince(older?.[i] ?? emptyTable<Reporting>(() => ""))) {
      if (was?.reports === after?.reports) continue;
      for (const { subject } of [...(was?.reports ?? []), ...(after?.reports ?? [])]) yield subject;
    }
  }
}

/** Policies that are in force on a Destination where they were not, or the other way round, or in another place. */
function changedPlaces(before: Destination | undefined, after: Destination | undefined): readonly ResourceRef[] {
  const isAll = isMoved(before, after);
  if (!isAll && before?.status === after?.status) return [];
  const [left, right] = [policiesAttachedTo(before), policiesAttachedTo(after)];
  if (isAll) return [...left, ...right].map(({ ref }) => ref);
  const places = new Map(left.map(({ ref, position }) => [userKeyOf(ref), position]));
  const moved = right.filter(({ ref, position }) => places.get(userKeyOf(ref)) !== position);
  const here = new Set(right.map(({ ref }) => userKeyOf(ref)));
  return [...moved, ...left.filter(({ ref }) => !here.has(userKeyOf(ref)))].map(({ ref }) => ref);
}

/** Whether a Destination came, went, or belongs to another mesh than before. */
function isMoved(before: Destination | undefined, after: Destination | undefined): boolean {
  const [left, right] = [before?.spec?.mesh, after?.spec?.mesh];
  return (before === undefined) !== (after === undefined) || left?.name !== right?.name || left?.namespace !== right?.namespace;
}

/** VirtualMeshes that were accepted and are not, or the other way round, and those of which membership tells something else. */
function* changedMembers(now: StatusIndex, before: StatusIndex | undefined): Iterable<Resource> {
  const [mine, theirs] = [now.world.cache.attachment.membership, before?.world.cache.attachment.membership];
  // Where one VirtualMesh changed, others may gain or lose its meshes: there are few of them.
  if (mine !== theirs) yield* now.world.attached.of(VirtualMesh);
}

/** Statuses by the workloads that they are about. */
export function byWorkloadSelection({ selecting }: UserStatus): readonly string[] {
  return selecting === undefined ? [] : [selecting.question];
}

/** Statuses by the targets that findings name. */
function byReported({ reported }: UserStatus): readonly string[] {
  return reported;
}
