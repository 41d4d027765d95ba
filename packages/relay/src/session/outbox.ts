import type { Resource, SortedMap } from "@isthmus/core";
import { bodyOf, OVERHEAD_BYTES, tooLarge } from "./wire.ts";

/**
 * What one end still has to say, by `resourceKeyOf`: the latest of each object. A newer change takes the place of the older
 * one, so an outbox never holds more than there are objects.
 */
export type Outbox<T extends Outgoing> = SortedMap<T>;

/** Something to say about one object. */
export interface Outgoing {
  /** `resourceKeyOf` */
  readonly key: string;
  /** `kindKeyOf` */
  readonly kind: string;
  /** The object, when its content is what is to be said. */
  readonly resource?: Resource;
  /** Bytes that the item takes when there is no content to say. */
  readonly bytes: number;
}

/** What goes into one message. */
export interface Batch<T> {
  readonly bodies: readonly { readonly item: T; readonly json: Uint8Array }[];
  /** Objects whose content no message can hold, and why. */
  readonly oversized: readonly { readonly item: T; readonly problem: string }[];
  /** Items without content. */
  readonly rest: readonly T[];
}

export interface BatchLimits {
  /** A batch ends before it grows beyond this. */
  readonly batchBytes: number;
  /** An object above this, less what belongs around it, cannot be sent. */
  readonly maxMessageBytes: number;
  /** One message speaks of one kind only. */
  readonly oneKind: boolean;
}

/** The first items, in key order, that fit one message; and what is left. */
export function takeBatch<T extends Outgoing>(outbox: Outbox<T>, limits: BatchLimits): { batch: Batch<T>; left: Outbox<T> } {
  const bodies: { item: T; json: Uint8Array }[] = [];
  const oversized: { item: T; problem: string }[] = [];
  const rest: T[] = [];
  const taken: [string, undefined][] = [];
  const batchBytes = Math.min(limits.batchBytes, limits.maxMessageBytes - OVERHEAD_BYTES);
  let total = 0;
  let kind: string | undefined;
  for (const [key, item] of outbox) {
    if (limits.oneKind && kind !== undefined && item.kind !== kind) break;
    kind = item.kind;
    const json = item.resource === undefined ? undefined : bodyOf(item.resource);
    const isOversized = json !== undefined && json.length > limits.maxMessageBytes - OVERHEAD_BYTES;
    const bytes = item.bytes + (isOversized ? 0 : (json?.length ?? 0));
    if (taken.length > 0 && total + bytes > batchBytes) break;
    total += bytes;
    taken.push([key, undefined]);
    if (json === undefined) rest.push(item);
    else if (isOversized) oversized.push({ item, problem: tooLarge(json.length, limits.maxMessageBytes) });
    else bodies.push({ item, json });
  }
  return { batch: { bodies, oversized, rest }, left: outbox.update(taken) };
}
