import { AccessPolicy, Destination, type Settings, TrafficPolicy, VirtualMesh } from "@isthmus/api";
import {
  type CooperativeTask,
  type EntryChange,
  equalJson,
  keyOfResource,
  type ResourceRef,
  refOf,
  SortedMap,
  type Table,
} from "@isthmus/core";
import { changesOf } from "../incremental/changes.ts";
import { GroupEdits, type Groups } from "../incremental/groups.ts";
import type { EarlierRun } from "../incremental/transition.ts";
import type { TranslatedTarget } from "../pipeline/targets.ts";
import type { Translation } from "../pipeline/translate.ts";
import { type PolicyScope, policyScopeFrom } from "../policy/policyScope.ts";
import { userKeyOf } from "../policy/userResources.ts";
import type { DeliveryProgress } from "./approval.ts";
import { type Delivery, deliveredAfter, nothingDelivered, progressAfter, type TargetDelivery } from "./delivery.ts";
import { groupsOf, type MeshGroups } from "./meshGroups.ts";

/** Everything known of users' resources, by `userKeyOf`. */
export interface StatusIndex {
  readonly translation: Translation;
  /** Undefined where nothing is delivered, as offline. */
  readonly delivery: Delivery | undefined;
  /** By policy, its place among the policies of each Destination where it is in force, by the Destination's key. */
  readonly orders: Groups<number>;
  /** By VirtualMesh, the keys of the Destinations that it would federate. */
  readonly federated: Groups<true>;
  readonly groups: MeshGroups;
  readonly delivered: Table<TargetDelivery>;
  readonly progress: SortedMap<DeliveryProgress>;
  readonly context: StatusContext;
}

/** What every status follows from: another one makes all of them again. */
export interface StatusContext {
  readonly namespace: string;
  readonly settings: Settings["spec"];
  /** Of what may be reported to a cluster, by the Settings. */
  readonly scope: PolicyScope;
  /** False offline. */
  readonly isDelivered: boolean;
}

/** What is known now, at the cost of what changed since. */
export function* updateStatusIndex(
  world: Translation,
  delivery: Delivery | undefined,
  earlier: EarlierRun<StatusIndex> | undefined,
): CooperativeTask<StatusIndex> {
  const before = earlier?.before;
  const delivered = delivery === undefined ? nothingDelivered() : yield* deliveredAfter(world, delivery, before);
  return {
    translation: world,
    delivery,
    orders: yield* ordersAfter(world, earlier),
    federated: yield* federatedAfter(world, earlier),
    groups: groupsOf(world, before),
    delivered,
    progress: yield* progressAfter(delivered, before),
    context: contextOf(world, delivery !== undefined && delivery.isOffline !== true, before?.context),
  };
}

function contextOf({ cache }: Translation, isDelivered: boolean, before: StatusContext | undefined): StatusContext {
  const { namespace, settings } = cache.translationContext;
  const isAsBefore = before?.namespace === namespace && before.isDelivered === isDelivered && equalJson(before.settings, settings?.spec);
  return isAsBefore ? before : { namespace, settings: settings?.spec, scope: policyScopeFrom(cache.translationContext), isDelivered };
}

const NONE: readonly never[] = [];

/** The policies in force on a Destination, by kind and in order. */
export function policiesAttachedTo(
  destination: Destination | undefined,
): readonly { readonly ref: ResourceRef; readonly position: number }[] {
  const { appliedTrafficPolicies = NONE, appliedAccessPolicies = NONE } = destination?.status ?? {};
  return [
    ...appliedTrafficPolicies.map(({ ref }, position) => ({ ref: { ...NAMELESS, ...ref, ...typeOf(TrafficPolicy) }, position })),
    ...appliedAccessPolicies.map(({ ref }, position) => ({ ref: { ...NAMELESS, ...ref, ...typeOf(AccessPolicy) }, position })),
  ];
}

const NAMELESS = { name: "", namespace: "", clusterName: "" };

function typeOf({ apiVersion, kind }: { readonly apiVersion: string; readonly kind: string }) {
  return { apiVersion, kind };
}

function* ordersAfter(world: Translation, earlier: EarlierRun<StatusIndex> | undefined): CooperativeTask<Groups<number>> {
  const edits = new GroupEdits<number>();
  const changes = earlier?.changes.of(Destination) ?? changesOf(Destination, world.attached, undefined);
  for (const { key, before: was, after } of changes) {
    if (was?.status === after?.status) continue;
    const [left, right] = [placesOn(was), placesOn(after)];
    for (const policy of left.keys()) if (!right.has(policy)) edits.set(policy, key, undefined);
    for (const [policy, position] of right) if (left.get(policy) !== position) edits.set(policy, key, position);
    yield;
  }
  for (const { before: was, after } of earlier?.changes.between(world.cache.targets, earlier.before.translation.cache.targets) ??
    allTargets(world)) {
    const [left, right] = [virtualPlaces(was), virtualPlaces(after)];
    if (left === right) continue;
    for (const [policy, { key }] of left) if (right.get(policy)?.key !== key) edits.set(policy, key, undefined);
    for (const [policy, { key, position }] of right) if (left.get(policy)?.position !== position) edits.set(policy, key, position);
    yield;
  }
  return edits.madeIn(earlier?.before.orders ?? SortedMap.empty());
}

function allTargets({ cache: { targets } }: Translation): readonly EntryChange<TranslatedTarget>[] {
  return [...targets.entries()].map(([key, after]) => ({ key, before: undefined, after }));
}

/** The place of each policy in force on the host of a VirtualDestination, whose key stands beside those of Destinations. */
function virtualPlaces(target: TranslatedTarget | undefined): ReadonlyMap<string, VirtualPlace> {
  if (target === undefined || !("homes" in target.inputs)) return NO_PLACES;
  const { virtualDestination, trafficPolicies } = target.inputs;
  const key = keyOfResource(virtualDestination);
  return new Map(trafficPolicies.map((policy, position) => [userKeyOf(refOf(policy)), { key, position }]));
}

interface VirtualPlace {
  readonly key: string;
  readonly position: number;
}

const NO_PLACES: ReadonlyMap<string, VirtualPlace> = new Map<string, VirtualPlace>();

/** The place of each policy in force on a Destination. */
function placesOn(destination: Destination | undefined): ReadonlyMap<string, number> {
  if (destination === undefined) return NOWHERE;
  return new Map(policiesAttachedTo(destination).map(({ ref, position }) => [userKeyOf(ref), position]));
}

const NOWHERE: ReadonlyMap<string, number> = new Map<string, number>();

/** The VirtualMesh that would federate a Destination. */
function federatorOf(destination: Destination | undefined): string | undefined {
  const ref = destination?.status?.appliedFederation?.virtualMeshRef;
  return ref && userKeyOf({ ...ref, kind: VirtualMesh.kind });
}

function* federatedAfter(world: Translation, earlier: EarlierRun<StatusIndex> | undefined): CooperativeTask<Groups<true>> {
  const edits = new GroupEdits<true>();
  for (const { key, before: was, after } of federationChanges(world, earlier)) {
    const [left, right] = [federatorOf(was), federatorOf(after)];
    if (left === right) continue;
    if (left !== undefined) edits.set(left, key, undefined);
    if (right !== undefined) edits.set(right, key, true);
    yield;
  }
  return edits.madeIn(earlier?.before.federated ?? SortedMap.empty());
}

/** Changes of Destinations as they are federated. */
function federationChanges(
  { cache: memory }: Translation,
  earlier: EarlierRun<StatusIndex> | undefined,
): readonly EntryChange<Destination>[] {
  const { known } = memory.attachment;
  return earlier === undefined
    ? [...known.entries()].map(([key, after]) => ({ key, before: undefined, after }))
    : earlier.changes.between(known, earlier.before.translation.cache.attachment.known);
}
