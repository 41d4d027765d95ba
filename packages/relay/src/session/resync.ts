import type { KindDigest } from "../gen/relay/v1/relay_pb.ts";
import { digestOfKind, type Inventory } from "./inventory.ts";

/** The kinds of which the other end says that it holds something else than `inventory`. */
export function differingKinds(inventory: Inventory, claimed: readonly KindDigest[]): readonly string[] {
  return claimed
    .filter(({ kind, count, digest }) => {
      const own = digestOfKind(inventory, kind);
      return own.count !== count || own.digest !== digest;
    })
    .map(({ kind }) => kind);
}

/** The kinds of which both ends hold the same. */
export function agreeingKinds(inventory: Inventory, claimed: readonly KindDigest[]): readonly string[] {
  const differing = new Set(differingKinds(inventory, claimed));
  return claimed.map(({ kind }) => kind).filter((kind) => !differing.has(kind));
}

/** How often one kind is asked for again within an epoch, one attempt after the other, before the stream is given up. */
const MAX_ATTEMPTS = 3;

/** Kinds that were asked for again and have not agreed since, with the number of attempts. */
export type Resyncs = ReadonlyMap<string, number>;

/** Asks for `kinds`. Undefined when one of them has failed too often: then the two ends don't mean the same by a digest. */
export function requestResync(resyncs: Resyncs, kinds: readonly string[]): Resyncs | undefined {
  const next = new Map(resyncs);
  for (const kind of kinds) {
    const attempts = (next.get(kind) ?? 0) + 1;
    if (attempts > MAX_ATTEMPTS) return undefined;
    next.set(kind, attempts);
  }
  return next;
}

/** `kinds` agree again. */
export function completeResync(resyncs: Resyncs, kinds: readonly string[]): Resyncs {
  if (!kinds.some((kind) => resyncs.has(kind))) return resyncs;
  const next = new Map(resyncs);
  for (const kind of kinds) next.delete(kind);
  return next;
}
