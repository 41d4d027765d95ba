import { type AccessPolicy, Destination, kindOf, Mesh, Settings, type TrafficPolicy, VirtualMesh, Workload } from "@isthmus/api";
import {
  emptyTable,
  finished,
  type JsonObject,
  type Kind,
  kindKeyOf,
  type Resource,
  type ResourceRef,
  refOf,
  type Steps,
  type Table,
} from "@isthmus/core";
import { ineffectiveFindings } from "./attachment/ineffective.ts";
import { observed } from "./attachment/meshes.ts";
import { reported } from "./findings.ts";
import { changesOf, versionsOf } from "./incremental/changes.ts";
import { remade, steady } from "./incremental/rows.ts";
import { affectedSubjects, byQuestion } from "./statuses/affectedSubjects.ts";
import { conditionsOf, messagesOf } from "./statuses/approval.ts";
import type { Delivery } from "./statuses/delivery.ts";
import { policyStatus } from "./statuses/policies.ts";
import { type Standings, standingsAfter } from "./statuses/standings.ts";
import { virtualMeshStatus } from "./statuses/virtualMeshes.ts";
import { type Answer, answersAfter, answerTo, noAnswers, questionOf, type Selecting } from "./statuses/workloads.ts";
import type { World } from "./translate.ts";
import { userKeyOf } from "./userResources.ts";

export type { Delivery, DeliveryState } from "./statuses/delivery.ts";

/** The status that an object is to have. Conditions have no times: whoever writes them knows when they changed. */
export interface StatusUpdate {
  readonly ref: ResourceRef;
  readonly status: JsonObject;
}

/** The statuses that follow from a world and from what became of its outputs. */
export interface Statuses {
  /** Every status. An empty one is worth writing only over one that says something. */
  all(): Iterable<StatusUpdate>;
  /** The status of one object; undefined when nothing is to be said of it. */
  of(ref: ResourceRef): StatusUpdate | undefined;
  /** What the next ones can reuse. */
  readonly memory: StatusMemory;
}

/** What statuses were made of. */
export interface StatusMemory {
  readonly standings: Standings;
  readonly users: Table<UserStatus>;
  readonly answers: Table<Answer>;
}

/** The status of an object that a user wrote, and what of it rests upon others. */
export interface UserStatus extends StatusUpdate {
  /** `userKeyOf` */
  readonly key: string;
  /** Which workloads it is about; undefined for what is about none. */
  readonly selecting: Selecting | undefined;
  /** The keys of the targets that findings name. */
  readonly reported: readonly string[];
}

/**
 * The published status of every object that users wrote, and of every discovered one: what is in force where, and why not.
 * `delivery` adds what became of the objects; without it, as offline, nothing is said of that.
 */
export function statusesOf(world: World, delivery?: Delivery): readonly StatusUpdate[] {
  return [...statusesAfter(world, delivery).all()];
}

/**
 * The same at the cost of what changed since `before`. Only statuses of objects that changed, that something new is said of, or
 * that are in force elsewhere than before are made anew.
 */
export function statusesAfter(world: World, delivery: Delivery | undefined, before?: Statuses): Statuses {
  return finished(judgement(world, delivery, before));
}

/** The same in steps, for whoever must not hold others up meanwhile. */
export function* judgement(world: World, delivery: Delivery | undefined, before?: Statuses): Steps<Statuses> {
  const memory = before?.memory ?? nothingSaid();
  const standings = yield* standingsAfter(world, delivery, before?.memory.standings);
  const asked = yield* answersAfter(memory.answers, standings, before?.memory.standings);
  const affected = yield* affectedSubjects(standings, {
    before: before?.memory.standings,
    users: memory.users,
    answers: { now: asked, before: memory.answers },
  });
  const answers = new Map<string, Answer>();
  const users = yield* remade(memory.users, affected.keys(), (key, row) => {
    const ref = affected.get(key);
    const made = ref && userStatus(ref, standings);
    if (made === undefined) return undefined;
    const { selecting, reported } = made;
    const answer = selecting && (asked.row(selecting.question) ?? answers.get(selecting.question) ?? answerTo(selecting, standings));
    if (answer !== undefined) answers.set(answer.key, answer);
    const status = made.statusFor(answer?.keys ?? []) as JsonObject;
    return { key, ref: refOf(made.object), status: steady(status, row?.status), selecting, reported };
  });
  const next: StatusMemory = { standings, users, answers: stillAsked(asked.with(answers), users, memory.users) };
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

function nothingSaid(): Omit<StatusMemory, "standings"> {
  return { users: emptyTable(({ key }) => key), answers: noAnswers() };
}

interface MadeStatus {
  readonly object: Resource;
  readonly selecting: Selecting | undefined;
  readonly reported: readonly string[];
  statusFor(workloads: readonly string[]): object;
}

/** Undefined when there is no such object any more, or nothing is said of it. */
function userStatus(ref: ResourceRef, standings: Standings): MadeStatus | undefined {
  const { world } = standings;
  const fixed = { selecting: undefined, reported: [] };
  switch (kindKeyOf(ref)) {
    case kindKeyOf(VirtualMesh): {
      const object = world.attached.of(VirtualMesh).get(ref);
      const isAccepted = object !== undefined && world.memory.attachment.membership.accepted.includes(object);
      return object && { ...fixed, object, statusFor: () => virtualMeshStatus(object, isAccepted, standings) };
    }
    case kindKeyOf(Settings): {
      const object = world.attached.of(Settings).get(ref);
      // Only the Settings in use have a status.
      const isUsed = ref.name === "settings" && ref.namespace === world.memory.surroundings.namespace && ref.clusterName === "";
      return object && isUsed ? { ...fixed, object, statusFor: () => settingsStatus(object) } : undefined;
    }
    default: {
      // Whatever else users ask by is a policy.
      const kind = kindOf(ref.apiVersion, ref.kind) as Kind<TrafficPolicy | AccessPolicy> | undefined;
      const policy = kind && world.attached.of(kind).get(ref);
      if (policy === undefined) return undefined;
      const { status, destinations, reported } = policyStatus(policy, standings);
      return { object: policy, selecting: questionOf(policy, destinations, standings), reported, statusFor: status };
    }
  }
}

function settingsStatus(settings: Settings): object {
  const reports = ineffectiveFindings(settings).map((finding) => reported(refOf(settings), finding));
  return {
    ...observed(settings),
    state: "ACCEPTED",
    ...messagesOf(reports),
    ...(reports.length === 0 ? {} : { warningCount: reports.length }),
    conditions: conditionsOf({ reports, targets: 1, accepted: 1, progress: undefined }).filter(({ type }) => type === "Accepted"),
  };
}

/** Answers that no changed status asks for any more are dropped. */
function stillAsked(answers: Table<Answer>, users: Table<UserStatus>, before: Table<UserStatus>): Table<Answer> {
  const questions = new Set(users.changesSince(before).flatMap((change) => change.before?.selecting?.question ?? []));
  const idle = [...questions].filter((question) => users.where(byQuestion, question).length === 0);
  return answers.with(idle.map((question) => [question, undefined]));
}

// What was discovered, each kind with its status.
const DISCOVERED = [Destination, Mesh, Workload] as const;

function* statusesOfDiscovered(world: World): Iterable<StatusUpdate> {
  for (const kind of DISCOVERED) {
    for (const resource of world.attached.of<Destination | Mesh | Workload>(kind)) {
      const update = discoveredStatus(world, refOf(resource));
      if (update !== undefined) yield update;
    }
  }
}

function discoveredStatus({ attached, inputs }: World, ref: ResourceRef): StatusUpdate | undefined {
  const kind = DISCOVERED.find((one) => kindKeyOf(one) === kindKeyOf(ref));
  const resource = kind && attached.of<Destination | Mesh | Workload>(kind).get(ref);
  if (kind === undefined || resource === undefined) return undefined;
  const status = kind === Workload ? observed(resource) : (resource.status ?? {});
  const given: { readonly status?: object } | undefined = inputs.of<Destination | Mesh | Workload>(kind).get(ref);
  const isWorthWriting = Object.keys(status).length > 0 || Object.keys(given?.status ?? {}).length > 0;
  return isWorthWriting ? { ref, status: status as JsonObject } : undefined;
}
