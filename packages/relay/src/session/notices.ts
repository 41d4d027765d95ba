import { create } from "@bufbuild/protobuf";
import { keyOf, kindKeyOf, type Resource, type ResourceRef, refOf, resourceKeyOf, SortedMap } from "@isthmus/core";
import { type KindDigest, KindDigestSchema, type Notice, NoticeSchema, ResourceBodySchema } from "../gen/relay/v1/relay_pb.ts";
import { type Chain, piecesOf } from "./chain.ts";
import { costOfNotice, MAX_DESIRED_BYTES, maxNoticeBytes } from "./intake.ts";
import { digestOfAll, emptyInventory, holds, type Inventory, type InventoryChange, withChanges, withObject } from "./inventory.ts";
import type { Notices } from "./link.ts";
import { type Outbox, type Outgoing, takeBatch } from "./outbox.ts";
import { BATCH_BYTES, refBytes, refFrom, refMessage, resourceFrom, sizeText } from "./wire.ts";

/** The name under which notices have a digest, and are asked for again. */
export const NOTICE = "notice";

/** One resource that is sent to an agent, or that it is to forget. */
export interface NoticeItem extends Outgoing {
  readonly ref: ResourceRef;
}

/** The server's telling: what an agent should know, and what of it has been said in this epoch. */
export interface ServerNotices {
  /** By `resourceKeyOf`; undefined until the loops have said something. */
  readonly all: SortedMap<NoticeItem> | undefined;
  readonly outbox: Outbox<NoticeItem>;
  readonly needsStart: boolean;
  readonly sent: Inventory;
}

/**
 * The state at the beginning of an epoch, and when the agent asks again: everything in `all` is to be sent, after a start that replaces
 * what the agent has. Undefined: nothing is sent until it is known.
 */
export function startSendingNotices(all: SortedMap<NoticeItem> | undefined): ServerNotices {
  return { all, outbox: all ?? SortedMap.empty(), needsStart: true, sent: emptyInventory };
}

/** What a server tells, by `resourceKeyOf`, as items of an outbox. */
export function noticeItems({ put, remove }: Pick<Notices, "put" | "remove">): readonly NoticeItem[] {
  const gone = remove.map((ref) => itemOf(ref, {}));
  return [...gone, ...put.map((resource) => itemOf(refOf(resource), { resource }))];
}

function itemOf(ref: ResourceRef, content: { readonly resource?: Resource }): NoticeItem {
  return { key: resourceKeyOf(ref), kind: kindKeyOf(ref), ref, bytes: refBytes(ref), ...content };
}

/** The items that an agent should know, after some came or went. */
export function withItems(all: SortedMap<NoticeItem>, items: readonly NoticeItem[]): SortedMap<NoticeItem> {
  return all.update(items.map((item) => [item.key, item.resource === undefined ? undefined : item] as const));
}

/** Takes in what changed. What was never said needs no taking back. */
export function takeItems(notices: ServerNotices, all: SortedMap<NoticeItem>, items: readonly NoticeItem[]): ServerNotices {
  if (notices.all === undefined || notices.needsStart) return { ...notices, all, outbox: all };
  const changes = items.map((item) => {
    const isNews = item.resource !== undefined || holds(notices.sent, item.kind, keyOf(item.ref));
    return [item.key, isNews ? item : undefined] as const;
  });
  return { ...notices, all, outbox: notices.outbox.update(changes) };
}

/** The next message, or undefined when there is nothing to say. A resource that no message can hold is not sent. */
export function nextNotice(
  notices: ServerNotices,
  maxMessageBytes: number,
): { readonly notices: ServerNotices; readonly message: Notice } | undefined {
  if (notices.all === undefined || (!notices.needsStart && notices.outbox.size === 0)) return undefined;
  const { batch, left } = takeBatch(notices.outbox, { batchBytes: BATCH_BYTES, maxMessageBytes, oneKind: false });
  const message = create(NoticeSchema, {
    start: notices.needsStart,
    last: left.size === 0,
    resources: batch.bodies.map(({ item, json }) => create(ResourceBodySchema, { ref: refMessage(item.ref), json })),
    gone: batch.rest.map(({ ref }) => refMessage(ref)),
  });
  const changes: InventoryChange[] = [
    ...batch.bodies.map(({ item, json }) => withObject(item.kind, item.ref, json)),
    ...batch.rest.map(({ kind, ref }) => withObject(kind, ref, undefined)),
  ];
  return { notices: { ...notices, outbox: left, needsStart: false, sent: withChanges(notices.sent, changes) }, message };
}

/** What was said, for the agent to compare; nothing before anything was. */
export function noticeDigest({ needsStart, sent }: ServerNotices): readonly KindDigest[] {
  return needsStart ? [] : [create(KindDigestSchema, { kind: NOTICE, ...digestOfAll(sent) })];
}

/** The agent's receipt of what it is sent. */
export interface AgentNotices {
  readonly held: Inventory;
  /** Whether all of the first telling is there. */
  readonly isWhole: boolean;
  /** What has come of a telling that is not whole. */
  readonly arriving: Chain<Notices> | undefined;
  /** What all that came since the last start counts. */
  readonly taken: number;
  /** The most that may come until all is asked for again; of one telling, the most there may be. */
  readonly maxBytes: number;
  /** Set while all was asked for and has not come: heartbeats since. */
  readonly asking?: number;
}

/** The state at the beginning of an epoch: nothing is received. `maxBytes` counts as `costOfNotice` does; default: 256 MiB. */
export function startReceivingNotices(maxBytes: number = maxNoticeBytes(MAX_DESIRED_BYTES)): AgentNotices {
  return { held: emptyInventory, isWhole: false, arriving: undefined, taken: 0, maxBytes };
}

/** What one notice brings. */
export interface NoticeStep {
  readonly notices: AgentNotices;
  readonly received?: Notices;
  /** All must be asked for: more has come than is kept. */
  readonly ask?: true;
  /** More is sent at a time than an agent takes: the stream must end. */
  readonly end?: string;
}

/** Takes one message; gives what it completes. What names another cluster, or is not what it says, is left out. */
export function takeNotice(before: AgentNotices, { start, last, resources, gone }: Notice, clusterName: string): NoticeStep {
  const { asking, ...standing } = before;
  const { held, arriving, taken: earlier } = start ? { held: emptyInventory, arriving: undefined, taken: 0 } : before;
  const taken = earlier + costOfNotice({ resources, gone });
  if (taken > before.maxBytes && (start || before.arriving !== undefined || !before.isWhole)) {
    return { notices: before, end: `the server sent more than ${sizeText(before.maxBytes)} of notices for this cluster at a time` };
  }
  const changes: InventoryChange[] = [];
  const put: Resource[] = [];
  for (const body of resources) {
    const ref = refFrom(body.ref);
    changes.push(withObject(kindKeyOf(ref), ref, body.json));
    const received = resourceFrom(body);
    if (ref.clusterName === clusterName && "resource" in received) put.push(received.resource);
  }
  const remove = gone.map(refFrom);
  for (const ref of remove) changes.push(withObject(kindKeyOf(ref), ref, undefined));
  const pieces = { piece: { complete: start, put, remove }, before: arriving };
  const next: AgentNotices = {
    ...standing,
    ...(start || asking === undefined ? {} : { asking }),
    held: withChanges(held, changes),
    isWhole: before.isWhole || last,
    taken,
    arriving: last ? undefined : pieces,
  };
  if (!last) return { notices: next };
  const told = joined(piecesOf(pieces));
  return taken <= before.maxBytes ? { notices: next, received: told } : { ...requestNoticesAgain(next), received: told };
}

/** All is to be sent again; asked for again only when it has not come for some heartbeats. */
export function requestNoticesAgain(notices: AgentNotices): { readonly notices: AgentNotices; readonly ask?: true } {
  const { asking } = notices;
  if (asking === undefined || asking >= PATIENCE) return { notices: { ...notices, asking: 0 }, ask: true };
  return { notices: { ...notices, asking: asking + 1 } };
}

const PATIENCE = 3;

function joined(pieces: readonly Notices[]): Notices {
  return {
    complete: pieces.some(({ complete }) => complete),
    put: pieces.flatMap(({ put }) => put),
    remove: pieces.flatMap(({ remove }) => remove),
  };
}

/** Whether the server says to have sent something else than what is here. */
export function hasMissedNotices({ held }: AgentNotices, digests: readonly KindDigest[]): boolean {
  const claimed = digests.find(({ kind }) => kind === NOTICE);
  if (claimed === undefined) return false;
  const own = digestOfAll(held);
  return own.count !== claimed.count || own.digest !== claimed.digest;
}
