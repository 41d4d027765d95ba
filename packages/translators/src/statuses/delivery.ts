import {
  type CooperativeTask,
  emptyTable,
  equalJson,
  exactly,
  formatRef,
  groupOf,
  intern,
  type Report,
  type ResourceRef,
  refOf,
  resourceKeyOf,
  SortedMap,
  type Table,
} from "@isthmus/core";
import { reportOf } from "../findings.ts";
import { versionsOf } from "../incremental/changes.ts";
import { keysOf, recompute } from "../incremental/rows.ts";
import { reportTargetsOf } from "../pipeline/reportTargets.ts";
import type { TranslatedTarget } from "../pipeline/targets.ts";
import type { Translation } from "../pipeline/translate.ts";
import { policyScopeFrom } from "../policy/policyScope.ts";
import { isUserRef, userKeyOf } from "../policy/userResources.ts";
import { type DeliveryProgress, NO_PROGRESS } from "./approval.ts";
import { type NetworkLayer, networkLayerOf, networkLayerSum, readBackAnew, refusalByCilium } from "./networkLayer.ts";
import type { StatusIndex } from "./statusIndex.ts";

/** How far an object has come on its way into its cluster. */
export type DeliveryState =
  /** Not answered yet. */
  | "pending"
  /** Nothing has been heard of its cluster since the server started: it may be there as well as not. */
  | "unheard"
  /** The API server has it. */
  | "applied"
  /** It is not as desired, and may not be written: its cluster is observed or frozen. */
  | { readonly pendingIn: "observed" | "frozen" }
  /** It was refused. */
  | { readonly code: string; readonly message: string };

/** What agents have said of the objects that they were sent, at one instant. Immutable. */
export interface Delivery {
  /** Set where nothing is delivered, and only refusals are known: of files. */
  readonly isOffline?: true;
  stateOf(ref: ResourceRef): DeliveryState;
  /** The outputs (`resourceKeyOf`) whose state may not be as it was; where nobody can say, it may be any. */
  changedSince?(older: Delivery): Iterable<string> | undefined;
}

/** What became of the outputs of one target. */
export interface TargetDelivery {
  /** Of the target. */
  readonly key: string;
  /** By the users' resources that the outputs exist because of. */
  readonly tallies: readonly Tally[];
  /** Tells every refusal to them. */
  readonly reports: readonly Report[];
}

interface Tally extends DeliveryProgress {
  readonly subject: ResourceRef;
}

interface MutableTally {
  readonly subject: ResourceRef;
  total: number;
  applied: number;
  failed: number;
  unheard: number;
  readonly pending: Record<string, number>;
  network?: NetworkLayer;
}

/** Nothing delivered. */
export function nothingDelivered(): Table<TargetDelivery> {
  return emptyTable(({ key }) => key);
}

/** What became of the outputs of each target, at the cost of the targets and deliveries that changed. */
export function* deliveredAfter(
  world: Translation,
  delivery: Delivery,
  before: StatusIndex | undefined,
): CooperativeTask<Table<TargetDelivery>> {
  const { targets } = world.cache;
  const table = before?.delivered ?? nothingDelivered();
  return yield* recompute(table, affectedTargets(world, delivery, before), (key, row) => {
    const target = targets.row(key);
    const next = target && deliveredOf(target, world, delivery);
    return next !== undefined && row !== undefined && equalJson(row, next) ? row : next;
  });
}

function affectedTargets(world: Translation, delivery: Delivery, before: StatusIndex | undefined): Iterable<string> {
  const { targets, outputs } = world.cache;
  const told = before?.delivery && delivery.changedSince?.(before.delivery);
  if (before === undefined || told === undefined)
    return new Set([...keysOf(targets), ...(before === undefined ? [] : keysOf(before.delivered))]);
  const affected = new Set(targets.changesSince(before.translation.cache.targets).map(({ key }) => key));
  const nameConflicts = outputs.nameConflicts.changesSince(before.translation.cache.outputs.nameConflicts);
  for (const { candidates } of versionsOf(nameConflicts)) for (const { target } of candidates) affected.add(target);
  for (const key of [...told, ...readBackAnew(world, before.translation)]) {
    const output = world.networking.at(key);
    if (output !== undefined) affected.add(output.target);
    for (const { target } of outputs.nameConflicts.row(key)?.candidates ?? []) affected.add(target);
  }
  return affected;
}

function deliveredOf({ key, inputs, outputs }: TranslatedTarget, world: Translation, delivery: Delivery): TargetDelivery | undefined {
  const { networking, cache: memory } = world;
  const reach = policyScopeFrom(memory.translationContext);
  const tallies = new Map<string, MutableTally>();
  const reports: Report[] = [];
  for (const output of outputs) {
    // What collided was not sent.
    const sent = networking.at(output.key);
    if (sent === undefined || (sent !== output && !equalJson(sent.resource, output.resource))) continue;
    const ref = refOf(output.resource);
    const state = delivery.stateOf(ref);
    const { subjects, target } = reportTargetsOf(inputs, output);
    for (const subject of subjects) {
      if (!isUserRef(subject)) continue;
      const tally = tallies.get(userKeyOf(subject)) ?? { subject, total: 0, applied: 0, failed: 0, unheard: 0, pending: {} };
      tallies.set(userKeyOf(subject), tally);
      tally.total++;
      if (state === "applied") tally.applied++;
      if (state === "unheard") tally.unheard++;
      // What is reported to a workload cluster is no business of others.
      const { clusterName = ref.clusterName } = reach.limitOf({ metadata: subject });
      const network = state === "applied" ? networkLayerOf(ref, subject, world) : undefined;
      if (network !== undefined) tally.network = networkLayerSum(tally.network, network, 1) ?? network;
      if (network?.refused === 1) reports.push(reportOf(subject, refusalByCilium(ref, clusterName === ref.clusterName, world), target));
      if (typeof state !== "object") continue;
      if ("pendingIn" in state) {
        const place = `${clusterName === ref.clusterName ? `cluster ${clusterName}` : "another cluster"}, which is ${state.pendingIn}`;
        tally.pending[place] = (tally.pending[place] ?? 0) + 1;
        continue;
      }
      tally.failed++;
      const message =
        clusterName === ref.clusterName
          ? refusedInWords(ref, state)
          : `a ${ref.kind} cannot be written in another cluster: contact the operators of the management plane`;
      reports.push({ subject, target, ...WRITE_FAILED, message });
    }
  }
  // Of most targets there is the same to tell.
  return tallies.size === 0 ? undefined : { key, tallies: intern([...tallies.values()]), reports: exactly(reports) };
}

const WRITE_FAILED = { state: "FAILED", code: "WriteFailed" } as const;

/** What is to be said of outputs (by `resourceKeyOf`) that were refused, each to whom it concerns: also where that is no user's object. */
export function refusalReports(
  { networking, cache: { targets } }: Translation,
  refusals: ReadonlyMap<string, Extract<DeliveryState, { readonly code: string }>>,
): readonly Report[] {
  return [...refusals].flatMap(([key, state]) => {
    const output = networking.at(key);
    const of = output && targets.row(output.target);
    if (output === undefined || of === undefined) return [];
    const message = refusedInWords(refOf(output.resource), state);
    const { subjects, target } = reportTargetsOf(of.inputs, output);
    const at = (subject: ResourceRef) => (resourceKeyOf(subject) === resourceKeyOf(target) ? {} : { target });
    return subjects.map((subject): Report => ({ subject, ...at(subject), ...WRITE_FAILED, message }));
  });
}

/** How far each subject's objects have come, by `userKeyOf`: sums that follow what changed. */
export function* progressAfter(
  delivered: Table<TargetDelivery>,
  before: StatusIndex | undefined,
): CooperativeTask<SortedMap<DeliveryProgress>> {
  const sums = new Map<string, DeliveryProgress>();
  const known = before?.progress ?? SortedMap.empty<DeliveryProgress>();
  const add = ({ subject, ...tally }: Tally, sign: 1 | -1) => {
    const key = userKeyOf(subject);
    const { total, applied, failed, unheard, pending, network } = sums.get(key) ?? known.get(key) ?? NO_PROGRESS;
    const layer = networkLayerSum(network, tally.network, sign);
    sums.set(key, {
      total: total + sign * tally.total,
      applied: applied + sign * tally.applied,
      failed: failed + sign * tally.failed,
      unheard: unheard + sign * tally.unheard,
      pending: Object.keys(tally.pending).length === 0 ? pending : summed(pending, tally.pending, sign),
      ...(layer === undefined ? {} : { network: layer }),
    });
  };
  for (const { before: was, after } of delivered.changesSince(before?.delivered ?? nothingDelivered())) {
    for (const tally of was?.tallies ?? []) add(tally, -1);
    for (const tally of after?.tallies ?? []) add(tally, 1);
    yield;
  }
  return known.update([...sums].map(([key, sum]) => [key, sum.total === 0 ? undefined : sum] as const));
}

function summed(left: DeliveryProgress["pending"], right: DeliveryProgress["pending"], sign: 1 | -1): DeliveryProgress["pending"] {
  const sums: Record<string, number> = { ...left };
  for (const [place, count] of Object.entries(right)) sums[place] = (sums[place] ?? 0) + sign * count;
  return Object.fromEntries(Object.entries(sums).filter(([, count]) => count !== 0));
}

function refusedInWords(ref: ResourceRef, state: Extract<DeliveryState, { readonly code: string }>): string {
  return `${formatRef(ref)} cannot be written${inWords(ref, state)}`;
}

/** An agent's message about an object without the object's name at its start: the finding names it already. */
/** What went wrong, as its user would put it: no CRD of Istio means no Istio. */
function inWords(ref: ResourceRef, { code, message }: { readonly code: string; readonly message: string }): string {
  if (code !== "Unserved") return ` (${code}): ${withoutName(ref, message)}`;
  if (!ISTIO_GROUPS.has(groupOf(ref.apiVersion))) return `: ${withoutName(ref, message)}`;
  return `: Istio is not installed in cluster ${ref.clusterName}, or without its CRD of ${ref.kind}: install it there`;
}

const ISTIO_GROUPS: ReadonlySet<string> = new Set(["networking.istio.io", "security.istio.io"]);

function withoutName(ref: ResourceRef, message: string): string {
  const name = `${formatRef(ref)}: `;
  return message.startsWith(name) ? message.slice(name.length) : message;
}
