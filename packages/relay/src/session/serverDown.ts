import { create } from "@bufbuild/protobuf";
import { formatRef, type OutputSet, refOf, resourceKeyOf, SortedMap } from "@isthmus/core";
import { type Ack, type Down, DownSchema, ResourceBodySchema } from "../gen/relay/v1/relay_pb.ts";
import { type AckSize, boundedRejections } from "./bounds.ts";
import { type Chain, piecesOf } from "./chain.ts";
import { completeSetOf, type DesiredChange, type DesiredState, type DesiredStep } from "./desiredState.ts";
import { emptyInventory, type Inventory, type InventoryChange, withChanges, withObject } from "./inventory.ts";
import type { Acknowledgement, Rejection } from "./link.ts";
import { type Outbox, takeBatch } from "./outbox.ts";
import { joinTraceIds, tracesField } from "./traces.ts";
import { BATCH_BYTES, refMessage, removalMessage } from "./wire.ts";

/** The server's sending: what it wants in one cluster, and what of it was sent to the agent in this epoch. */
export interface ServerDown {
  /** Undefined: the server does not know yet what it wants there. */
  readonly desired: DesiredState | undefined;
  /** What was not sent to the agent. */
  readonly outbox: Outbox<DesiredChange>;
  /** Everything in the cluster is known: something may be sent. */
  readonly isOpen: boolean;
  /** Whether the agent knows what `traces` are. */
  readonly isTraced: boolean;
  /** Ids of the changes that wait in the outbox. */
  readonly traces: readonly string[];
  readonly needsComplete: boolean;
  /** The last revision that was begun. */
  readonly revision: number;
  readonly sending?: Sending;
  /** What the agent holds once it has all that was sent, by key: the desired set of `sentRevision`. */
  readonly held: Inventory;
  readonly sentRevision: number;
  /** Oldest first. */
  readonly unacknowledged: readonly Sent[];
  readonly acknowledged?: Sent & Answer;
  /** Desired objects that no message can hold, by key. */
  readonly oversized: ReadonlyMap<string, Rejection>;
  readonly arrivingAck: ArrivingAck;
}

interface ArrivingAck extends AckSize {
  readonly revision: number;
  readonly parts: number;
  readonly rejected: Chain<readonly Rejection[]> | undefined;
}

interface Sent {
  readonly revision: number;
  /** The set that the loops gave: they recognise it. */
  readonly desired: OutputSet;
  readonly removals: readonly DesiredChange[];
  readonly oversized: readonly Rejection[];
  readonly traces: readonly string[];
}

/** What an agent says of all that it was sent. */
type Answer = Pick<Acknowledgement, "rejected" | "mode">;

interface Sending extends Pick<Sent, "revision" | "desired" | "traces"> {
  readonly complete: boolean;
  readonly holdsSurplus: boolean;
  readonly parts: number;
  readonly left: Outbox<DesiredChange>;
  readonly said: Chain<Said> | undefined;
}

/** What one part says. */
interface Said {
  readonly changes: readonly InventoryChange[];
  readonly removals: readonly DesiredChange[];
}

/** What an acknowledgement means to the loops, and which removals are done. */
export interface Acknowledged {
  readonly acknowledgement: Acknowledgement;
  readonly desired: OutputSet;
  readonly removed: readonly DesiredChange[];
}

// So many revisions may be on their way: an agent that takes its time with one change still hears of the next ones. Beyond
// it, changes gather in the outbox, the latest of each object.
const MAX_UNACKNOWLEDGED = 8;

const NO_ACK: ArrivingAck = { revision: 0, parts: 0, rejected: undefined, rejections: 0, textLength: 0 };

/**
 * The state at the beginning of an epoch: nothing is sent before the agent is synced (`isOpen`), and the first set is a complete one.
 * Undefined: it is not known yet what is desired.
 */
export function startSending(want: DesiredState | undefined): ServerDown {
  return {
    desired: want,
    outbox: SortedMap.empty(),
    isOpen: false,
    isTraced: false,
    traces: [],
    needsComplete: true,
    revision: 0,
    held: emptyInventory,
    sentRevision: 0,
    unacknowledged: [],
    oversized: new Map(),
    arrivingAck: NO_ACK,
  };
}

/** Takes the desired state. When only the objects' identity changed, an answer that was given already holds for them too. */
export function takeDesired(down: ServerDown, { state, changes, traces }: DesiredStep): { down: ServerDown; acknowledged?: Acknowledged } {
  const outbox = down.needsComplete ? down.outbox : down.outbox.update(changes.map((change) => [change.key, change] as const));
  const next = { ...down, desired: state, outbox, traces: changes.length > 0 ? joinTraceIds(down.traces, traces) : down.traces };
  if (changes.length > 0 || down.needsComplete || outbox.size > 0) return { down: next };
  const { desired } = state;
  if (down.sending !== undefined) return { down: { ...next, sending: { ...down.sending, desired } } };
  const last = down.unacknowledged.at(-1);
  if (last !== undefined) return { down: { ...next, unacknowledged: [...down.unacknowledged.slice(0, -1), { ...last, desired }] } };
  if (down.acknowledged === undefined) return { down: next };
  // The loops know a set by its identity: they wait for an answer to this one too.
  const isAnother = down.acknowledged.desired !== desired;
  const acknowledged = { ...down.acknowledged, desired };
  const { revision, rejected } = acknowledged;
  const again = { acknowledgement: { revision, rejected, ...modeField(acknowledged) }, desired, removed: [] };
  return { down: { ...next, acknowledged }, ...(isAnother ? { acknowledged: again } : {}) };
}

/** The agent lacks something: everything is sent to it again. */
export function startOver(down: ServerDown): ServerDown {
  const { sending: _, ...rest } = down;
  return { ...rest, needsComplete: true, outbox: SortedMap.empty() };
}

/** The next message, or undefined when there is nothing to say or too much unanswered. */
export function nextDown(down: ServerDown, maxMessageBytes: number): { readonly down: ServerDown; readonly message: Down } | undefined {
  const sending = down.sending ?? beginning(down);
  if (sending === undefined) return undefined;
  const begun =
    down.sending === undefined
      ? { ...down, revision: sending.revision, outbox: SortedMap.empty<DesiredChange>(), traces: [], needsComplete: false }
      : down;
  const { batch, left } = takeBatch(sending.left, { batchBytes: BATCH_BYTES, maxMessageBytes, oneKind: false });
  const oversized = batch.oversized.map(({ item, problem }) => ({ item, rejection: tooLarge(item, problem) }));
  const removals = batch.rest;
  const message = create(DownSchema, {
    revision: sending.revision,
    part: sending.parts + 1,
    last: left.size === 0,
    complete: sending.complete,
    holdsSurplus: sending.holdsSurplus,
    upserts: batch.bodies.map(({ item, json }) => create(ResourceBodySchema, { ref: refMessage(refOfChange(item)), json })),
    deletes: removals.flatMap(({ removal }) => (removal === undefined ? [] : [removalMessage(removal)])),
    withheld: oversized.map(({ item }) => refMessage(refOfChange(item))),
    traces: sending.parts === 0 && down.isTraced ? [...sending.traces] : [],
  });
  const changes: InventoryChange[] = [
    ...batch.bodies.map(({ item, json }) => withObject(item.kind, refOfChange(item), json, item.key)),
    ...oversized.map(({ item }) => withObject(item.kind, refOfChange(item), NOTHING, item.key)),
    ...removals.map((item) => withObject(item.kind, refOfChange(item), undefined, item.key)),
  ];
  const after: Sending = {
    ...sending,
    left,
    parts: sending.parts + 1,
    said: { piece: { changes, removals }, before: sending.said },
  };
  const known = new Map(begun.oversized);
  for (const { item } of [...batch.bodies, ...removals.map((item) => ({ item }))]) known.delete(item.key);
  for (const { item, rejection } of oversized) known.set(item.key, rejection);
  const next = { ...begun, oversized: known };
  return { down: left.size === 0 ? wholly(next, after) : { ...next, sending: after }, message };
}

function beginning(down: ServerDown): Sending | undefined {
  const { isOpen, desired, outbox, needsComplete, revision, unacknowledged, traces } = down;
  if (!isOpen || desired === undefined) return undefined;
  // What lacks an earlier revision answers none: it waits for the complete set that it asked for.
  if (!needsComplete && (outbox.size === 0 || unacknowledged.length >= MAX_UNACKNOWLEDGED)) return undefined;
  const left = needsComplete ? completeSetOf(desired) : outbox;
  return {
    revision: revision + 1,
    complete: needsComplete,
    holdsSurplus: needsComplete && desired.holdsSurplus(),
    desired: desired.desired,
    parts: 0,
    left,
    said: undefined,
    traces,
  };
}

function wholly(down: ServerDown, { revision, complete, desired, said, traces }: Sending): ServerDown {
  const { sending: _, ...rest } = down;
  const pieces = piecesOf(said);
  const changes = pieces.flatMap((piece) => piece.changes);
  const removals = pieces.flatMap((piece) => piece.removals);
  const held = withChanges(complete ? emptyInventory : down.held, changes);
  const oversized = [...down.oversized].filter(([key]) => desired.at(key) !== undefined).map(([, rejection]) => rejection);
  return {
    ...rest,
    held,
    sentRevision: revision,
    // A complete set takes the place of one before it that had come on top: it has the same deletes, until they are answered.
    unacknowledged: [...down.unacknowledged.slice(0, MAX_UNACKNOWLEDGED), { revision, desired, removals, oversized, traces }],
  };
}

function refOfChange({ resource, removal }: DesiredChange): ReturnType<typeof refOf> {
  const ref = resource === undefined ? removal?.ref : refOf(resource);
  if (ref === undefined) throw new TypeError("a change of the desired state has neither an object nor a delete");
  return ref;
}

function tooLarge(change: DesiredChange, problem: string): Rejection {
  const ref = refOfChange(change);
  return { ref, code: "Invalid", message: `${formatRef(ref)} ${problem}` };
}

/** Takes a part of an acknowledgement. An answer to an older revision than was answered before is void. */
export function takeAck(down: ServerDown, ack: Ack): { down: ServerDown; acknowledged?: Acknowledged; broken?: string } {
  const { revision, part, last } = ack;
  if (revision > down.sentRevision)
    return { down, broken: `revision ${revision} was acknowledged, ${down.sentRevision} is the last one sent` };
  const before = part === 1 ? { ...NO_ACK, revision } : down.arrivingAck;
  if (before.revision !== revision || before.parts + 1 !== part) return { down: { ...down, arrivingAck: NO_ACK } };
  const { taken, size } = boundedRejections(ack, before, down.desired?.desired.size ?? 0);
  const rejected = { piece: taken, before: before.rejected };
  if (!last) return { down: { ...down, arrivingAck: { revision, parts: part, rejected, ...size } } };
  const { mode } = ack;
  const answer = { rejected: piecesOf(rejected).flat(), ...(isShortMode(mode) ? { mode } : {}) };
  return wholeAck({ ...down, arrivingAck: NO_ACK }, revision, answer);
}

// An agent's word that is kept.
const MAX_MODE = 63;

function isShortMode(mode: string): boolean {
  return mode.length > 0 && mode.length <= MAX_MODE;
}

function modeField({ mode }: Pick<Acknowledgement, "mode">): Pick<Acknowledgement, "mode"> {
  return mode === undefined ? {} : { mode };
}

function wholeAck(down: ServerDown, revision: number, answer: Answer): { down: ServerDown; acknowledged?: Acknowledged } {
  const { rejected } = answer;
  if (revision < (down.acknowledged?.revision ?? 0)) return { down };
  const answered = down.unacknowledged.filter((sent) => sent.revision <= revision);
  const sent = answered.at(-1) ?? down.acknowledged;
  if (sent === undefined) return { down };
  const all = [...rejected, ...sent.oversized];
  const refused = new Set(rejected.map(({ ref }) => resourceKeyOf(ref)));
  const traces = answered.reduce<readonly string[]>((ids, { traces }) => joinTraceIds(ids, traces), []);
  const removed = answered.flatMap(({ removals }) => removals).filter(({ key }) => !refused.has(key));
  const unacknowledged = down.unacknowledged.filter(({ revision: other }) => other > revision);
  return {
    down: { ...down, unacknowledged, acknowledged: { ...sentOnly(sent), revision, removals: [], rejected: all, ...modeField(answer) } },
    acknowledged: {
      acknowledgement: { revision, rejected: all, ...modeField(answer), ...tracesField(traces) },
      desired: sent.desired,
      removed,
    },
  };
}

/** Without what was answered before. */
function sentOnly({ revision, desired, removals, oversized, traces }: Sent): Sent {
  return { revision, desired, removals, oversized, traces };
}

const NOTHING = new Uint8Array();
