import { create } from "@bufbuild/protobuf";
import { keyOf, kindKeyOf, type Resource, type ResourceRef } from "@isthmus/core";
import {
  type KindDigest,
  type SyncComplete,
  type Up,
  type UpAck,
  UpAckSchema,
  type Withheld as WithheldMessage,
} from "../gen/relay/v1/relay_pb.ts";
import { areNamesShort, rejectionMessages } from "./bounds.ts";
import {
  emptyInventory,
  holds,
  type Inventory,
  type InventoryChange,
  inventorySize,
  keysOfKind,
  withChanges,
  withObject,
  withoutKind,
} from "./inventory.ts";
import { type Booking, booking, emptyLedger, keepingOnly, type Ledger } from "./ledger.ts";
import type { Observation, Rejection, Withheld } from "./link.ts";
import {
  hasRoom,
  overQuota,
  type Quota,
  type QuotaExcess,
  type QuotaLimit,
  type Refusal,
  type RefusalReason,
  type ReportFilter,
  refusalOf,
  refusalOfObject,
} from "./reportFilter.ts";
import { completeResync, differingKinds, type Resyncs, requestResync } from "./resync.ts";
import { tracesField, tracesFrom } from "./traces.ts";
import { refFrom, resourceFrom, shortened } from "./wire.ts";

/** The server's side of a connection: what one agent has reported in this epoch. */
export interface ServerUp {
  /** What the agent says that there is. */
  readonly held: Inventory;
  /** How much of it, and of what was taken on earlier streams, the loops hold. */
  readonly ledger: Ledger;
  readonly seq: number;
  /** Kinds that the agent was asked to send again. */
  readonly resyncs: Resyncs;
  /** Kinds of which something was refused as one too many: they are not compared, and nothing of them counts as gone. */
  readonly excess: ReadonlyMap<string, QuotaLimit>;
  /** Whether every kind has been complete once. */
  readonly isSynced: boolean;
  /** Kinds that are complete and wait for the others. */
  readonly complete: ReadonlySet<string>;
  readonly unserved: ReadonlySet<string>;
}

export interface UpStep {
  readonly up: ServerUp;
  readonly observation?: Observation;
  readonly ack?: UpAck;
  /** How many objects were refused, and why. */
  readonly refused?: ReadonlyMap<RefusalReason, number>;
  /** Kinds to be asked for again. */
  readonly resync?: readonly string[];
  readonly synced?: { readonly complete: ReadonlyMap<string, ReadonlySet<string>>; readonly unserved: ReadonlySet<string> };
  /** The stream must end. */
  readonly broken?: string;
}

/** Whose words they are, and what of them is taken. */
export interface ReceivedReport {
  readonly clusterName: string;
  readonly reportFilter: ReportFilter;
}

/** `held` is what the server knows already, `ledger` what it took on earlier streams. */
export function startReceiving(held: Inventory = emptyInventory, ledger: Ledger = emptyLedger): ServerUp {
  return { held, ledger, seq: 0, resyncs: new Map(), excess: new Map(), isSynced: false, complete: new Set(), unserved: new Set() };
}

/** Takes one message of objects. What of it is wrong is refused, object by object; the rest counts. */
export function takeUp(up: ServerUp, message: Up, hearing: ReceivedReport): UpStep {
  const { seq, kind } = message;
  if (seq <= up.seq) return { up };
  if (seq !== up.seq + 1) return { up, broken: `message ${seq} arrived after ${up.seq}` };
  if (!areNamesShort(message)) return { up, broken: `message ${seq} has names that are longer than Kubernetes allows` };
  const isAnew = message.start;
  const before = isAnew ? withoutKind(up.held, kind) : up.held;
  const taken = sorted(message, { ...up, held: before }, hearing);
  const held = withChanges(before, taken.changes);
  const ack = create(UpAckSchema, { seq, rejected: rejectionMessages(taken.rejected) });
  const { put, remove, withheld, limit } = taken;
  const observation = { put, remove, ...(withheld.length > 0 ? { withheld } : {}), ...tracesField(tracesFrom(message.traces)) };
  const isNews = put.length + remove.length + withheld.length > 0;
  return {
    up: { ...up, seq, held, ledger: taken.booked.done(held.get(kind)?.a), excess: excessAfter(up.excess, kind, { isAnew, limit }) },
    ack,
    ...(isNews ? { observation } : {}),
    ...(taken.refused.size > 0 ? { refused: taken.refused } : {}),
  };
}

function excessAfter(
  excess: ServerUp["excess"],
  kind: string,
  { isAnew, limit }: { readonly isAnew: boolean; readonly limit: QuotaLimit | undefined },
): ServerUp["excess"] {
  if (limit === undefined && !(isAnew && excess.has(kind))) return excess;
  const next = new Map(excess);
  if (isAnew) next.delete(kind);
  if (limit !== undefined) next.set(kind, limit);
  return next;
}

interface Sorted {
  readonly put: Resource[];
  readonly remove: ResourceRef[];
  readonly withheld: Withheld[];
  readonly rejected: Rejection[];
  readonly refused: Map<RefusalReason, number>;
  readonly changes: InventoryChange[];
  readonly booked: Booking;
  /** What was exceeded, if anything was. */
  limit: QuotaLimit | undefined;
}

function sorted(
  { kind, upserts, deletes, withheld }: Up,
  { held, ledger }: ServerUp,
  { clusterName, reportFilter }: ReceivedReport,
): Sorted {
  const booked = booking(ledger, kind);
  const result: Sorted = { put: [], remove: [], withheld: [], rejected: [], refused: new Map(), changes: [], booked, limit: undefined };
  const quota = reportFilter.quota(clusterName);
  const isAccepted = reportFilter.isAccepted(kind);
  /** Of the loops' objects some may not have come since this server started, and of what came some may not have been taken. */
  let most = Math.max(inventorySize(held), booked.objects, reportFilter.heldObjects(clusterName));

  function refuse({ reason, rejection }: Refusal): false {
    result.refused.set(reason, (result.refused.get(reason) ?? 0) + 1);
    result.rejected.push(rejection);
    return false;
  }
  function isOwn(ref: ResourceRef): boolean {
    const problem = refusalOf(ref, { kind, clusterName }, reportFilter);
    return problem === undefined || refuse(problem);
  }
  function noteGone(ref: ResourceRef): void {
    if (!isAccepted || kindKeyOf(ref) !== kind) return;
    result.changes.push(withObject(kind, ref, undefined));
    if (booked.sizeOf(keyOf(ref)) === undefined) return;
    booked.set(keyOf(ref), undefined);
    most--;
  }
  /**
   * Whether there is room for an object. What else may be wrong with it, it counts as held: else the digests would differ for ever. What
   * there is no room for does not, and its kind is not compared.
   */
  function hasPlace(ref: ResourceRef, body: Uint8Array): boolean {
    // Nothing of such a kind is kept, and it is not compared.
    if (!isAccepted || kindKeyOf(ref) !== kind) return true;
    const key = keyOf(ref);
    const size = booked.sizeOf(key);
    const isNew = size === undefined && !holds(held, kind, key) && !reportFilter.isHeld(ref);
    const growth = body.length - (size ?? 0);
    const limit = isNew && most >= quota.objects ? "objects" : growth > 0 && booked.bytes + growth > quota.bytes ? "bytes" : undefined;
    if (limit !== undefined) {
      result.limit = limit;
      return refuse(overQuota(ref, limit, quota));
    }
    if (isNew) most++;
    booked.set(key, body.length);
    result.changes.push(withObject(kind, ref, body));
    return true;
  }

  for (const body of upserts) {
    const ref = refFrom(body.ref);
    if (!hasPlace(ref, body.json) || !isOwn(ref)) continue;
    const received = resourceFrom(body);
    if ("problem" in received) refuse(refusalOfObject(ref, "Invalid", received.problem));
    else result.put.push(received.resource);
  }
  for (const deleted of deletes) {
    const ref = refFrom(deleted);
    noteGone(ref);
    if (isOwn(ref)) result.remove.push(ref);
  }
  for (const entry of withheld) {
    const ref = refFrom(entry.ref);
    if (hasPlace(ref, NOTHING) && isOwn(ref)) result.withheld.push({ ref, code: withheldCode(entry), message: shortened(entry.message) });
  }
  return result;
}

const NOTHING = new Uint8Array();

function withheldCode({ code }: WithheldMessage): Withheld["code"] {
  return code === "TooLarge" ? "TooLarge" : "Malformed";
}

/** Takes the agent's word that kinds are complete, where its digest agrees with what has arrived. */
export function takeSyncComplete(
  up: ServerUp,
  { kinds, unserved }: SyncComplete,
  { reportFilter }: Pick<ReceivedReport, "reportFilter">,
): UpStep {
  const claimed = kinds.filter(({ kind }) => reportFilter.isAccepted(kind));
  const differing = differingIn(up, claimed);
  const agreeing = claimed.map(({ kind }) => kind).filter((kind) => !differing.includes(kind));
  const next = {
    ...up,
    resyncs: completeResync(up.resyncs, agreeing),
    // Of the others not everything was taken: nothing can be said to be gone.
    complete: new Set([...up.complete, ...agreeing.filter((kind) => !up.excess.has(kind))]),
    unserved: new Set(unserved.filter(reportFilter.isAccepted)),
  };
  const step = askFor(next, differing);
  if (step.broken !== undefined) return step;
  // The first time all kinds are said together, so that none is taken for empty.
  if (!up.isSynced && step.up.resyncs.size > 0) return step;
  const isUnservedNew = next.unserved.size !== up.unserved.size || [...next.unserved].some((kind) => !up.unserved.has(kind));
  if (up.isSynced && step.up.complete.size === 0 && !isUnservedNew) return step;
  const complete = new Map([...step.up.complete].sort().map((kind) => [kind, keysOfKind(up.held, kind)] as const));
  const ledger = keepingOnly(up.ledger, complete);
  return { ...step, up: { ...step.up, ledger, isSynced: true, complete: new Set() }, synced: { complete, unserved: next.unserved } };
}

/** Compares with what the agent says to have sent; kinds that were asked for again are on their way. */
export function checkReported(
  up: ServerUp,
  claimed: readonly KindDigest[],
  { clusterName, reportFilter }: Pick<ReceivedReport, "clusterName" | "reportFilter">,
): UpStep {
  const accepted = claimed.filter(({ kind }) => reportFilter.isAccepted(kind));
  const differing = differingIn(up, accepted).filter((kind) => !up.resyncs.has(kind));
  return askFor(up, [...differing, ...roomAgain(up, reportFilter.quota(clusterName))]);
}

function differingIn({ held, excess }: ServerUp, claimed: readonly KindDigest[]): readonly string[] {
  return [...new Set(differingKinds(held, claimed))].filter((kind) => !excess.has(kind));
}

/** Kinds of which something was refused and for which there is room by now, as objects are gone or the quota was raised. */
function roomAgain({ excess, resyncs, ledger, isSynced }: ServerUp, quota: Quota): readonly string[] {
  if (excess.size === 0 || !isSynced || !hasRoom(ledger, quota)) return [];
  return [...excess.keys()].filter((kind) => !resyncs.has(kind)).sort();
}

/** What of an agent's reports exceeds its quota; undefined: nothing. */
export function quotaExcessOf({ excess }: ServerUp, quota: Quota): QuotaExcess | undefined {
  const [limit] = excess.values();
  if (limit === undefined) return undefined;
  const isShared = limit === "bytes" && quota.isShared === true;
  return { limit, quota: quota[limit], ...(isShared ? { isShared } : {}), kinds: [...excess.keys()].sort() };
}

function askFor(up: ServerUp, kinds: readonly string[]): UpStep {
  if (kinds.length === 0) return { up };
  const resyncs = requestResync(up.resyncs, kinds);
  if (resyncs === undefined) return { up, broken: `${kinds.join(", ")} still differ after a resync` };
  return { up: { ...up, resyncs }, resync: kinds };
}
