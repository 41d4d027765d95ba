import { Destination, Mesh, Workload } from "@isthmus/api";
import {
  type CooperativeTask,
  emptyTable,
  type JsonObject,
  kindKeyOf,
  type ResourceRef,
  refOf,
  runToCompletion,
  type Table,
} from "@isthmus/core";
import { changesOf, changesSince, versionsOf } from "../incremental/changes.ts";
import { updated } from "../incremental/derived.ts";
import { transition } from "../incremental/transition.ts";
import { noTargets, type TranslatedTarget } from "../pipeline/targets.ts";
import type { Translation, TranslationFault, TranslationFaults } from "../pipeline/translate.ts";
import { isUserRef, userKeyOf } from "../policy/userResources.ts";
import type { Delivery } from "./delivery.ts";
import { faultStatus } from "./faults.ts";
import { meshesCountedAnew, meshStatus } from "./meshes.ts";
import { updateStatusIndex } from "./statusIndex.ts";
import type { StatusTables, UserFindings } from "./statusJoins.ts";
import { policySelections, type UserStatus, userFindings, userStatuses } from "./userStatuses.ts";
import { workloadStatus } from "./workloadStatuses.ts";
import { answeredFor, noSelectedWorkloads, type PolicySelection, updateSelectedWorkloads } from "./workloads.ts";

export type { Delivery, DeliveryState } from "./delivery.ts";

/** The status that an object is to have. Conditions have no times: anyone who writes them knows when they changed. */
export interface UserObjectStatusUpdate {
  readonly ref: ResourceRef;
  readonly status: JsonObject;
}

/** The statuses that follow from a world and from what became of its outputs. */
export interface Statuses {
  /** Every status. An empty one is worth writing only over one that says something. */
  all(): Iterable<UserObjectStatusUpdate>;
  /** The status of one object; undefined for one that has none. Of a discovered one it may be empty: then it takes away what was said before. */
  of(ref: ResourceRef): UserObjectStatusUpdate | undefined;
  /** What the next ones can reuse. */
  readonly memory: StatusCache;
}

/** What statuses were made of. */
export interface StatusCache {
  readonly faults: TranslationFaults;
  readonly sources: StatusTables;
  readonly users: Table<UserStatus>;
}

/**
 * The published status of every object that users wrote, and of every discovered one: what is in force where, and why not.
 * `delivery` adds what became of the objects; without it, as offline, nothing is said of that.
 */
export function statusesOf(world: Translation, delivery?: Delivery): readonly UserObjectStatusUpdate[] {
  return [...statusesAfter(world, delivery).all()];
}

/**
 * The same at the cost of what changed since `before`. Only statuses of objects that changed, that something new is said of, or
 * that are in force elsewhere than before are made again.
 */
export function statusesAfter(world: Translation, delivery: Delivery | undefined, before?: Statuses): Statuses {
  return runToCompletion(computeStatuses(world, delivery, before));
}

/** The same in steps, for the one who must not hold others up meanwhile. */
export function* computeStatuses(world: Translation, delivery: Delivery | undefined, before?: Statuses): CooperativeTask<Statuses> {
  const was = before?.memory.sources;
  const earlier = was && { before: was, changes: changesSince(was.index.translation.attached, world.attached) };
  const index = yield* updateStatusIndex(world, delivery, earlier && { before: earlier.before.index, changes: earlier.changes });
  const known = was ?? { findings: emptyRows<UserFindings>(), selections: emptyRows<PolicySelection>(), answers: noSelectedWorkloads() };
  const findings = yield* updated(known.findings, userFindings, transition({ ...known, index }, earlier));
  const selections = yield* updated(known.selections, policySelections, transition({ ...known, index, findings }, earlier));
  const corrected = yield* updateSelectedWorkloads(known.answers, index, was?.index);
  const sources = {
    index,
    findings,
    selections,
    answers: yield* answeredFor({ selections, answers: corrected }, known, { index, changes: earlier?.changes }),
  };
  const users = yield* updated(before?.memory.users ?? emptyRows<UserStatus>(), userStatuses, transition(sources, earlier));
  const { faults } = world;
  const faulty = new Map([...faults.values()].filter(({ ref }) => isUserRef(ref)).map((fault) => [userKeyOf(fault.ref), fault]));
  const withFault = (fault: TranslationFault): UserObjectStatusUpdate => ({
    ref: fault.ref,
    status: faultStatus(fault, users.row(userKeyOf(fault.ref))?.status),
  });
  return {
    *all() {
      for (const { key, ref, status } of users) if (!faulty.has(key)) yield { ref, status };
      for (const fault of faulty.values()) yield withFault(fault);
      yield* statusesOfDiscovered(world);
    },
    of(ref) {
      const key = userKeyOf(ref);
      const fault = faulty.get(key);
      if (fault !== undefined) return withFault(fault);
      const user = users.row(key);
      return user === undefined ? discoveredStatus(world, ref) : { ref: user.ref, status: user.status };
    },
    memory: { faults, sources, users },
  };
}

/** The objects whose status may not be as it was; all of them when there was none before. */
export function changedStatuses({ memory: now }: Statuses, before: Statuses | undefined): readonly ResourceRef[] {
  const rows = now.users.changesSince(before?.memory.users ?? emptyRows<UserStatus>());
  const refs = rows.flatMap(({ before: was, after }) => (after ?? was)?.ref ?? []);
  for (const kind of DISCOVERED) {
    for (const snapshot of ["attached", "inputs"] as const) {
      const [world, older] = [now.sources.index.translation, before?.memory.sources.index.translation];
      for (const change of changesOf<Destination | Mesh | Workload>(kind, world[snapshot], older?.[snapshot])) {
        for (const resource of versionsOf([change])) refs.push(refOf(resource));
      }
    }
  }
  const earlier = before?.memory.faults;
  if (now.faults !== earlier) {
    for (const [key, { ref }] of [...now.faults, ...(earlier ?? [])]) if (now.faults.get(key) !== earlier?.get(key)) refs.push(ref);
  }
  refs.push(...meshesCountedAnew(now.sources.index.translation, before?.memory.sources.index.translation));
  for (const { before: was, after } of targetsOf(now).changesSince(before === undefined ? noTargets() : targetsOf(before.memory))) {
    for (const target of [was, after]) if (target !== undefined && "workload" in target.inputs) refs.push(refOf(target.inputs.workload));
  }
  return refs;
}

function targetsOf({ sources }: StatusCache): Table<TranslatedTarget> {
  return sources.index.translation.cache.targets;
}

function emptyRows<R extends { readonly key: string }>(): Table<R> {
  return emptyTable(({ key }) => key);
}

// What was discovered, each kind with its status.
const DISCOVERED = [Destination, Mesh, Workload] as const;

function* statusesOfDiscovered(world: Translation): Iterable<UserObjectStatusUpdate> {
  for (const kind of DISCOVERED) {
    const given: Table<{ readonly status?: object }> = world.inputs.of<Destination | Mesh | Workload>(kind);
    for (const [key, resource] of world.attached.of<Destination | Mesh | Workload>(kind).entries()) {
      const status = statusOfDiscovered(resource, world);
      const isWorthWriting = !isEmpty(status) || !isEmpty(given.row(key)?.status);
      if (isWorthWriting) yield { ref: refOf(resource), status: status as JsonObject };
    }
  }
}

function isEmpty(record: object | undefined): boolean {
  for (const _ in record) return false;
  return true;
}

function discoveredStatus(world: Translation, ref: ResourceRef): UserObjectStatusUpdate | undefined {
  const kind = DISCOVERED.find((one) => kindKeyOf(one) === kindKeyOf(ref));
  const resource = kind && world.attached.of<Destination | Mesh | Workload>(kind).get(ref);
  if (resource === undefined) return undefined;
  return { ref, status: statusOfDiscovered(resource, world) as JsonObject };
}

function statusOfDiscovered(resource: Destination | Mesh | Workload, world: Translation): object {
  if (resource.kind === Workload.kind) return workloadStatus(resource as Workload, world.cache.targets);
  return resource.kind === Mesh.kind ? meshStatus(resource as Mesh, world) : (resource.status ?? {});
}
