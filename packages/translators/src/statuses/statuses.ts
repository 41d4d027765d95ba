import { type AccessPolicy, Destination, kindOf, Mesh, Settings, type TrafficPolicy, VirtualMesh, Workload } from "@isthmus/api";
import {
  type CooperativeTask,
  emptyTable,
  type JsonObject,
  type Kind,
  kindKeyOf,
  type Resource,
  type ResourceRef,
  refOf,
  runToCompletion,
  type Table,
} from "@isthmus/core";
import { observedMetadata } from "../attachment/meshes.ts";
import { reportOf } from "../findings.ts";
import { changesOf, versionsOf } from "../incremental/changes.ts";
import { recompute, reuseIfEqual } from "../incremental/rows.ts";
import type { Translation } from "../pipeline/translate.ts";
import { ineffectiveFindings } from "../policy/ineffective.ts";
import { userKeyOf } from "../policy/userResources.ts";
import { affectedSubjects, byWorkloadSelection } from "./affectedSubjects.ts";
import { conditionsOf, messagesOf } from "./approval.ts";
import type { Delivery } from "./delivery.ts";
import { policyStatus } from "./policies.ts";
import { type StatusIndex, updateStatusIndex } from "./statusIndex.ts";
import { virtualMeshStatus } from "./virtualMeshes.ts";
import {
  noSelectedWorkloads,
  type SelectedWorkloads,
  selectWorkloads,
  updateSelectedWorkloads,
  type WorkloadSelection,
  workloadSelectionOf,
} from "./workloads.ts";

export type { Delivery, DeliveryState } from "./delivery.ts";

/** The status that an object is to have. Conditions have no times: whoever writes them knows when they changed. */
export interface UserObjectStatusUpdate {
  readonly ref: ResourceRef;
  readonly status: JsonObject;
}

/** The statuses that follow from a world and from what became of its outputs. */
export interface Statuses {
  /** Every status. An empty one is worth writing only over one that says something. */
  all(): Iterable<UserObjectStatusUpdate>;
  /** The status of one object; undefined when nothing is to be said of it. */
  of(ref: ResourceRef): UserObjectStatusUpdate | undefined;
  /** What the next ones can reuse. */
  readonly memory: StatusCache;
}

/** What statuses were made of. */
export interface StatusCache {
  readonly standings: StatusIndex;
  readonly users: Table<UserStatus>;
  readonly answers: Table<SelectedWorkloads>;
}

/** The status of an object that a user wrote, and what of it rests upon others. */
export interface UserStatus extends UserObjectStatusUpdate {
  /** `userKeyOf` */
  readonly key: string;
  /** Which workloads it is about; undefined for what is about none. */
  readonly selecting: WorkloadSelection | undefined;
  /** The keys of the targets that findings name. */
  readonly reported: readonly string[];
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
 * that are in force elsewhere than before are made anew.
 */
export function statusesAfter(world: Translation, delivery: Delivery | undefined, before?: Statuses): Statuses {
  return runToCompletion(computeStatuses(world, delivery, before));
}

/** The same in steps, for whoever must not hold others up meanwhile. */
export function* computeStatuses(world: Translation, delivery: Delivery | undefined, before?: Statuses): CooperativeTask<Statuses> {
  const memory = before?.memory ?? nothingSaid();
  const standings = yield* updateStatusIndex(world, delivery, before?.memory.standings);
  const asked = yield* updateSelectedWorkloads(memory.answers, standings, before?.memory.standings);
  const affected = yield* affectedSubjects(standings, {
    before: before?.memory.standings,
    users: memory.users,
    answers: { now: asked, before: memory.answers },
  });
  const answers = new Map<string, SelectedWorkloads>();
  const users = yield* recompute(memory.users, affected.keys(), (key, row) => {
    const ref = affected.get(key);
    const made = ref && userStatus(ref, standings);
    if (made === undefined) return undefined;
    const { selecting, reported } = made;
    const answer = selecting && (asked.row(selecting.question) ?? answers.get(selecting.question) ?? selectWorkloads(selecting, standings));
    if (answer !== undefined) answers.set(answer.key, answer);
    const status = made.statusFor(answer?.keys ?? []) as JsonObject;
    return { key, ref: refOf(made.object), status: reuseIfEqual(status, row?.status), selecting, reported };
  });
  const next: StatusCache = { standings, users, answers: stillAsked(asked.with(answers), users, memory.users) };
  return {
    *all() {
      for (const { ref, status } of next.users) yield { ref, status };
      yield* statusesOfDiscovered(world);
    },
    of(ref) {
      const user = next.users.row(userKeyOf(ref));
      return user === undefined ? discoveredStatus(world, ref) : { ref: user.ref, status: user.status };
    },
    memory: next,
  };
}

/** The objects whose status may not be as it was; all of them when there was none before. */
export function changedStatuses({ memory: now }: Statuses, before: Statuses | undefined): readonly ResourceRef[] {
  const rows = now.users.changesSince(before?.memory.users ?? nothingSaid().users);
  const refs = rows.flatMap(({ before: was, after }) => (after ?? was)?.ref ?? []);
  for (const kind of DISCOVERED) {
    for (const snapshot of ["attached", "inputs"] as const) {
      const [world, older] = [now.standings.world, before?.memory.standings.world];
      for (const change of changesOf<Destination | Mesh | Workload>(kind, world[snapshot], older?.[snapshot])) {
        for (const resource of versionsOf([change])) refs.push(refOf(resource));
      }
    }
  }
  return refs;
}

function nothingSaid(): Omit<StatusCache, "standings"> {
  return { users: emptyTable(({ key }) => key), answers: noSelectedWorkloads() };
}

interface MadeStatus {
  readonly object: Resource;
  readonly selecting: WorkloadSelection | undefined;
  readonly reported: readonly string[];
  statusFor(workloads: readonly string[]): object;
}

/** Undefined when there is no such object any more, or nothing is said of it. */
function userStatus(ref: ResourceRef, standings: StatusIndex): MadeStatus | undefined {
  const { world } = standings;
  const fixed = { selecting: undefined, reported: [] };
  switch (kindKeyOf(ref)) {
    case kindKeyOf(VirtualMesh): {
      const object = world.attached.of(VirtualMesh).get(ref);
      const isAccepted = object !== undefined && world.cache.attachment.membership.accepted.includes(object);
      return object && { ...fixed, object, statusFor: () => virtualMeshStatus(object, isAccepted, standings) };
    }
    case kindKeyOf(Settings): {
      const object = world.attached.of(Settings).get(ref);
      // Only the Settings in use have a status.
      const isUsed = ref.name === "settings" && ref.namespace === world.cache.surroundings.namespace && ref.clusterName === "";
      return object && isUsed ? { ...fixed, object, statusFor: () => settingsStatus(object) } : undefined;
    }
    default: {
      // Whatever else users ask by is a policy.
      const kind = kindOf(ref.apiVersion, ref.kind) as Kind<TrafficPolicy | AccessPolicy> | undefined;
      const policy = kind && world.attached.of(kind).get(ref);
      if (policy === undefined) return undefined;
      const { status, destinations, reported } = policyStatus(policy, standings);
      return { object: policy, selecting: workloadSelectionOf(policy, destinations, standings), reported, statusFor: status };
    }
  }
}

function settingsStatus(settings: Settings): object {
  const reports = ineffectiveFindings(settings).map((finding) => reportOf(refOf(settings), finding));
  return {
    ...observedMetadata(settings),
    state: "ACCEPTED",
    ...messagesOf(reports),
    ...(reports.length === 0 ? {} : { warningCount: reports.length }),
    conditions: conditionsOf({ reports, targets: 1, accepted: 1, progress: undefined }).filter(({ type }) => type === "Accepted"),
  };
}

/** Answers that no changed status asks for any more are dropped. */
function stillAsked(answers: Table<SelectedWorkloads>, users: Table<UserStatus>, before: Table<UserStatus>): Table<SelectedWorkloads> {
  const questions = new Set(users.changesSince(before).flatMap((change) => change.before?.selecting?.question ?? []));
  const idle = [...questions].filter((question) => users.where(byWorkloadSelection, question).length === 0);
  return answers.with(idle.map((question) => [question, undefined]));
}

// What was discovered, each kind with its status.
const DISCOVERED = [Destination, Mesh, Workload] as const;

function* statusesOfDiscovered(world: Translation): Iterable<UserObjectStatusUpdate> {
  for (const kind of DISCOVERED) {
    for (const resource of world.attached.of<Destination | Mesh | Workload>(kind)) {
      const update = discoveredStatus(world, refOf(resource));
      if (update !== undefined) yield update;
    }
  }
}

function discoveredStatus({ attached, inputs }: Translation, ref: ResourceRef): UserObjectStatusUpdate | undefined {
  const kind = DISCOVERED.find((one) => kindKeyOf(one) === kindKeyOf(ref));
  const resource = kind && attached.of<Destination | Mesh | Workload>(kind).get(ref);
  if (kind === undefined || resource === undefined) return undefined;
  const status = kind === Workload ? observedMetadata(resource) : (resource.status ?? {});
  const given: { readonly status?: object } | undefined = inputs.of<Destination | Mesh | Workload>(kind).get(ref);
  const isWorthWriting = Object.keys(status).length > 0 || Object.keys(given?.status ?? {}).length > 0;
  return isWorthWriting ? { ref, status: status as JsonObject } : undefined;
}
