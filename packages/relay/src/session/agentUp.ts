import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { keyOf, kindKeyOf, type Resource, type ResourceRef, refOf, resourceKeyOf, SortedMap } from "@isthmus/core";
import {
  type ConnectRequestSchema,
  type KindDigest,
  KindDigestSchema,
  ResourceBodySchema,
  type SyncComplete,
  SyncCompleteSchema,
  type Up,
  UpSchema,
  WithheldSchema,
} from "../gen/relay/v1/relay_pb.ts";
import {
  digestOfKind,
  emptyInventory,
  holds,
  type Inventory,
  type InventoryChange,
  onlyKinds,
  withChanges,
  withObject,
  withoutKind,
} from "./inventory.ts";
import type { Observation, Withheld } from "./link.ts";
import { type Batch, type Outbox, type Outgoing, takeBatch } from "./outbox.ts";
import { joinTraceIds } from "./traces.ts";
import { BATCH_BYTES, refBytes, refMessage, shortened, textBytes } from "./wire.ts";

/** The agent's reporting: everything it has seen, and what of it was sent to the server in this epoch. */

/** Everything that the agent's loops have reported, whether a server has heard of it or not. */
export interface AgentView {
  readonly objects: SortedMap<Item>;
  /** Every kind that the agent reports, by `kindKeyOf`. */
  readonly kinds: readonly string[];
  readonly synced: ReadonlySet<string>;
  readonly unserved: ReadonlySet<string>;
}

/** The latest of one object: its content, or that it is withheld, or (in an outbox only) that it is gone. */
interface Item extends Outgoing {
  readonly ref: ResourceRef;
  readonly withheld?: Withheld;
}

/** What of the view was sent to the server in this epoch. */
export interface AgentUp {
  readonly outbox: Outbox<Item>;
  /** What has been sent. */
  readonly sent: Inventory;
  readonly seq: number;
  readonly acknowledgedSeq: number;
  /** Kinds that start over because the server asked. */
  readonly restarting: ReadonlySet<string>;
  /** Synced kinds that were not reported to the server as such. */
  readonly unsaid: ReadonlySet<string>;
  readonly isComplete: boolean;
  /** Ids of changes that wait in the outbox. */
  readonly traces: readonly string[];
  readonly reportedUnserved: ReadonlySet<string>;
  /** Kinds of which this server is to hear nothing. */
  readonly muted: ReadonlySet<string>;
}

export interface UpLimits {
  readonly maxMessageBytes: number;
  readonly maxUnackedUps: number;
  /** Whether the server knows what `traces` are. */
  readonly isTraced: boolean;
}

export type RequestBody = MessageInitShape<typeof ConnectRequestSchema>["body"];

/** The view before anything was observed: of none of `kinds` (`kindKeyOf`) it is known whether the cluster serves it. */
export function emptyView(kinds: readonly string[]): AgentView {
  return { objects: SortedMap.empty(), kinds, synced: new Set(), unserved: new Set() };
}

/** Takes in what was observed. */
export function observe(
  view: AgentView,
  up: AgentUp | undefined,
  { put, remove, withheld = [], traces }: Observation,
): [AgentView, AgentUp | undefined] {
  const items = new Map<string, Item>();
  for (const resource of put) add(items, itemOf(refOf(resource), { resource }));
  for (const entry of withheld) add(items, itemOf(entry.ref, { withheld: entry }));
  const present = [...items];
  for (const ref of remove) add(items, itemOf(ref, {}));
  const removed = remove.map((ref) => [resourceKeyOf(ref), undefined] as const);
  const objects = view.objects.update([...present, ...removed]);
  // What the server has never heard of needs no removal.
  const outbox = up?.outbox.update(
    [...items].map(([key, item]) => {
      const isUnheard = isGone(item) && !holds(up.sent, item.kind, keyOf(item.ref));
      return [key, isUnheard || up.muted.has(item.kind) ? undefined : item];
    }),
  );
  return [
    { ...view, objects },
    up === undefined || outbox === undefined
      ? undefined
      : { ...up, outbox, traces: outbox.size === 0 ? [] : joinTraceIds(up.traces, traces) },
  ];
}

function add(items: Map<string, Item>, item: Item): void {
  items.set(item.key, item);
}

function itemOf(ref: ResourceRef, content: { readonly resource?: Resource; readonly withheld?: Withheld }): Item {
  return {
    key: resourceKeyOf(ref),
    kind: kindKeyOf(ref),
    ref,
    bytes: refBytes(ref) + textBytes(content.withheld?.message ?? ""),
    ...content,
  };
}

function isGone(item: Item): boolean {
  return item.resource === undefined && item.withheld === undefined;
}

/** Takes in that kinds are completely reported, or not served. */
export function markSynced(
  view: AgentView,
  up: AgentUp | undefined,
  { kinds, unserved }: { kinds: readonly string[]; unserved: readonly string[] },
): [AgentView, AgentUp | undefined] {
  const added = kinds.filter((kind) => !view.synced.has(kind));
  const synced = new Set([...view.synced, ...kinds].filter((kind) => !unserved.includes(kind)));
  const next = { ...view, synced, unserved: new Set([...view.unserved, ...unserved].filter((kind) => !kinds.includes(kind))) };
  if (up === undefined) return [next, undefined];
  const unsaid = [...up.unsaid, ...added].filter((kind) => synced.has(kind) && !up.muted.has(kind));
  return [next, { ...up, unsaid: new Set(unsaid) }];
}

/** At the beginning of an epoch all is still to be said. */
export function startUp(view: AgentView): AgentUp {
  return {
    outbox: view.objects,
    sent: emptyInventory,
    seq: 0,
    acknowledgedSeq: 0,
    restarting: new Set(),
    unsaid: view.synced,
    isComplete: false,
    traces: [],
    reportedUnserved: new Set(),
    muted: new Set(),
  };
}

/** Says nothing of some kinds. To be called before anything was said. */
export function mute(up: AgentUp, kinds: readonly string[]): AgentUp {
  const entries = kinds.flatMap((kind) => up.outbox.withPrefix(`${kind}|`));
  const unsaid = new Set([...up.unsaid].filter((kind) => !kinds.includes(kind)));
  return { ...up, outbox: up.outbox.update(entries.map(({ key }) => [key, undefined])), unsaid, muted: new Set(kinds) };
}

/** What is left to say when the server still knows some kinds from the stream before. */
export function resume(up: AgentUp, past: AgentUp, knownKinds: readonly string[]): AgentUp {
  let { outbox } = up;
  const known = knownKinds.filter((kind) => past.sent.has(kind) && !up.muted.has(kind));
  for (const kind of known) {
    const all = outbox.withPrefix(`${kind}|`).map(({ key }) => [key, undefined] as const);
    const changed = past.outbox.withPrefix(`${kind}|`).map((item) => [item.key, item] as const);
    outbox = outbox.update([...all, ...changed]);
  }
  return { ...up, outbox, sent: onlyKinds(past.sent, known) };
}

/** Count and digest of each kind, as it was sent. */
export function sentDigests({ sent }: AgentUp): KindDigest[] {
  return [...sent.keys()].sort().map((kind) => create(KindDigestSchema, { kind, ...digestOfKind(sent, kind) }));
}

/** Starts kinds over; no kinds means all. */
export function restart(view: AgentView, up: AgentUp, asked: readonly string[]): AgentUp {
  const all = asked.length > 0 ? asked : [...new Set([...view.kinds, ...up.sent.keys()])];
  const kinds = all.filter((kind) => !up.muted.has(kind));
  let { outbox, sent } = up;
  for (const kind of kinds) {
    const present = view.objects.withPrefix(`${kind}|`);
    const gone = outbox.withPrefix(`${kind}|`).filter(isGone);
    outbox = outbox.update([...gone.map(({ key }) => [key, undefined] as const), ...present.map((item) => [item.key, item] as const)]);
    sent = withoutKind(sent, kind);
  }
  const unsaid = new Set([...up.unsaid, ...kinds.filter((kind) => view.synced.has(kind))]);
  return { ...up, outbox, sent, unsaid, restarting: new Set([...up.restarting, ...kinds]) };
}

/** The next message about the view, or undefined when there is nothing to say or too much unanswered. */
export function nextUp(
  view: AgentView,
  up: AgentUp,
  limits: UpLimits,
): { readonly up: AgentUp; readonly body: RequestBody; readonly withheld: readonly Withheld[] } | undefined {
  if (up.seq - up.acknowledgedSeq >= limits.maxUnackedUps) return undefined;
  if (up.outbox.size > 0) return nextBatch(up, limits);
  const [empty] = up.restarting;
  if (empty !== undefined) return sent(up, limits, { kind: empty, batch: { bodies: [], oversized: [], rest: [] }, outbox: up.outbox });
  const complete = completion(view, up);
  if (complete === undefined) return undefined;
  const next = { ...up, isComplete: true, unsaid: new Set<string>(), reportedUnserved: new Set(complete.unserved) };
  return { up: next, body: { case: "syncComplete", value: complete }, withheld: [] };
}

function nextBatch(up: AgentUp, limits: UpLimits): ReturnType<typeof nextUp> {
  const { batch, left } = takeBatch(up.outbox, { batchBytes: BATCH_BYTES, maxMessageBytes: limits.maxMessageBytes, oneKind: true });
  const first = batch.bodies[0]?.item ?? batch.oversized[0]?.item ?? batch.rest[0];
  return first === undefined ? undefined : sent(up, limits, { kind: first.kind, batch, outbox: left });
}

function sent(
  up: AgentUp,
  { isTraced }: UpLimits,
  { kind, batch, outbox }: { kind: string; batch: Batch<Item>; outbox: Outbox<Item> },
): ReturnType<typeof nextUp> {
  const tooLarge = batch.oversized.map(({ item, code, problem }): Withheld => ({ ref: item.ref, code, message: problem }));
  const withheld = [...tooLarge, ...batch.rest.flatMap((item) => (item.withheld === undefined ? [] : [item.withheld]))];
  const changes: InventoryChange[] = [
    ...batch.bodies.map(({ item, json }) => withObject(kind, item.ref, json)),
    ...withheld.map(({ ref }) => withObject(kind, ref, NOTHING)),
    ...batch.rest.filter(isGone).map(({ ref }) => withObject(kind, ref, undefined)),
  ];
  const value: Up = create(UpSchema, {
    seq: up.seq + 1,
    kind,
    start: up.restarting.has(kind),
    upserts: batch.bodies.map(({ item, json }) => create(ResourceBodySchema, { ref: refMessage(item.ref), json })),
    deletes: batch.rest.filter(isGone).map(({ ref }) => refMessage(ref)),
    withheld: withheld.map(({ ref, code, message }) => create(WithheldSchema, { ref: refMessage(ref), code, message: shortened(message) })),
    traces: isTraced ? [...up.traces] : [],
  });
  const restarting = new Set([...up.restarting].filter((other) => other !== kind));
  // Which of several messages brings what a change is about is not known: they all bear its id.
  const traces = outbox.size === 0 ? [] : up.traces;
  const next = { ...up, outbox, traces, restarting, seq: up.seq + 1, sent: withChanges(up.sent, changes) };
  return { up: next, body: { case: "up", value }, withheld: tooLarge };
}

const NOTHING = new Uint8Array();

/** What to say of completeness now: the first time only when every kind is known or known to be unserved. */
function completion(view: AgentView, up: AgentUp): SyncComplete | undefined {
  const isAllKnown = view.kinds.every((kind) => view.synced.has(kind) || view.unserved.has(kind) || up.muted.has(kind));
  if (!up.isComplete && !isAllKnown) return undefined;
  const unserved = [...view.unserved].filter((kind) => !up.muted.has(kind)).sort();
  const isUnservedSaid = unserved.length === up.reportedUnserved.size && unserved.every((kind) => up.reportedUnserved.has(kind));
  if (up.isComplete && up.unsaid.size === 0 && isUnservedSaid) return undefined;
  const kinds = [...up.unsaid].sort().map((kind) => create(KindDigestSchema, { kind, ...digestOfKind(up.sent, kind) }));
  return create(SyncCompleteSchema, { kinds, unserved });
}
