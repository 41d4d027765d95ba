import { messageOf, type Resource, type SortedMap } from "@isthmus/core";
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

/** An object that cannot be sent, and why. */
export interface Unsendable<T> {
  readonly item: T;
  readonly code: "TooLarge" | "Malformed";
  readonly problem: string;
}

/** What goes into one message. */
export interface Batch<T> {
  readonly bodies: readonly { readonly item: T; readonly json: Uint8Array }[];
  /** Objects whose content no message can hold, or that cannot be encoded. */
  readonly oversized: readonly Unsendable<T>[];
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
  const oversized: Unsendable<T>[] = [];
  const rest: T[] = [];
  const taken: [string, undefined][] = [];
  const batchBytes = Math.min(limits.batchBytes, limits.maxMessageBytes - OVERHEAD_BYTES);
  let total = 0;
  let kind: string | undefined;
  for (const [key, item] of outbox) {
    if (limits.oneKind && kind !== undefined && item.kind !== kind) break;
    kind = item.kind;
    const encoded = item.resource === undefined ? undefined : encodedBody(item.resource, limits.maxMessageBytes);
    const json = encoded !== undefined && "json" in encoded ? encoded.json : undefined;
    const bytes = item.bytes + (json?.length ?? 0);
    if (taken.length > 0 && total + bytes > batchBytes) break;
    total += bytes;
    taken.push([key, undefined]);
    if (encoded === undefined) rest.push(item);
    else if ("json" in encoded) bodies.push({ item, json: encoded.json });
    else oversized.push({ item, ...encoded });
  }
  return { batch: { bodies, oversized, rest }, left: outbox.update(taken) };
}

/** Whatever goes wrong with an object is its own: it is not sent, and the others are. */
function encodedBody(resource: Resource, maxMessageBytes: number): { readonly json: Uint8Array } | Omit<Unsendable<never>, "item"> {
  try {
    const json = bodyOf(resource);
    if (json.length <= maxMessageBytes - OVERHEAD_BYTES) return { json };
    return { code: "TooLarge", problem: tooLarge(json.length, maxMessageBytes) };
  } catch (error) {
    return { code: "Malformed", problem: `it cannot be sent: internal error: ${messageOf(error)}` };
  }
}
