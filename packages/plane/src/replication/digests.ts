import type { KindDigest, Store, StorePartition } from "@isthmus/ports";
import { type Hash, hashOf, hexOf, minus, plus, ZERO } from "@isthmus/relay/session";

/** Count and sum of the hashes of the objects of one kind: it follows each change in one step, and does not depend on order. */
export interface KindSum {
  readonly count: number;
  readonly sum: Hash;
}

export type KindSums = ReadonlyMap<string, KindSum>;

const NOTHING: KindSum = { count: 0, sum: ZERO };

/** The sum of a kind after one object (by `keyOf`) has another text than before; undefined: there is none. */
export function sumAfter(sum: KindSum | undefined, key: string, before: string | undefined, after: string | undefined): KindSum {
  let { count, sum: total } = sum ?? NOTHING;
  if (before !== undefined) [count, total] = [count - 1, minus(total, hashOf(key, before))];
  if (after !== undefined) [count, total] = [count + 1, plus(total, hashOf(key, after))];
  return { count, sum: total };
}

function digestOf({ count, sum }: KindSum): KindDigest {
  return { count, digest: hexOf(sum) };
}

/** How the digests of a partition's head are made: as the store asks, or as those of the relay where it does not. */
export interface PartitionDigests {
  /** As `sumAfter` does; an object may come with the hash that the store found. */
  sumAfter(kindKey: string, sum: KindSum | undefined, change: StoredObjectChange): KindSum;
  /** The digests of all kinds that hold something. */
  digestsOf(sums: KindSums): Readonly<Record<string, KindDigest>>;
  /** Whether a kind of which there is this sum has this digest. */
  agrees(kindKey: string, sum: KindSum | undefined, digest: KindDigest | undefined): boolean;
}

export interface StoredObjectChange {
  readonly key: string;
  readonly before?: string | undefined;
  readonly after?: string | undefined;
  /** Of `after`. */
  readonly hash?: Hash | undefined;
}

/**
 * Digests for the head of one partition, by the keyed hashes of a store that has `hashing` (they throw StoreError before it has answered
 * once), else by those of the relay.
 */
export function partitionDigests({ hashing }: Pick<Store, "hashing">, partition: StorePartition): PartitionDigests {
  const hash = (kindKey: string, key: string, text: string, known?: Hash): Hash =>
    known ?? (hashing === undefined ? hashOf(key, text) : hashing.hashOf(partition, kindKey, { key, text }));
  const digest = (kindKey: string, { count, sum }: KindSum): KindDigest => ({
    count,
    digest: hashing === undefined ? hexOf(sum) : hashing.digestOf(partition, kindKey, sum),
  });
  return {
    sumAfter(kindKey, known, { key, before, after, hash: ofAfter }) {
      let { count, sum } = known ?? NOTHING;
      if (before !== undefined) [count, sum] = [count - 1, minus(sum, hash(kindKey, key, before))];
      if (after !== undefined) [count, sum] = [count + 1, plus(sum, hash(kindKey, key, after, ofAfter))];
      return { count, sum };
    },
    digestsOf(sums) {
      const held = [...sums].filter(([, { count }]) => count > 0);
      return Object.fromEntries(held.sort(([a], [b]) => (a < b ? -1 : 1)).map(([kindKey, sum]) => [kindKey, digest(kindKey, sum)]));
    },
    agrees(kindKey, sum = NOTHING, said = { count: 0, digest: "" }) {
      if (sum.count !== said.count) return false;
      if (sum.count === 0) return true;
      return hashing === undefined ? hexOf(sum.sum) === said.digest : hashing.isDigest(partition, kindKey, sum.sum, said.digest);
    },
  };
}

/** Whether a kind has the same objects on both sides, by their count and digest; undefined is a kind without objects. */
export function isSameDigest(a: KindDigest | undefined, b: KindDigest | undefined): boolean {
  return (a?.count ?? 0) === (b?.count ?? 0) && ((a?.count ?? 0) === 0 || a?.digest === b?.digest);
}

/** One digest of several kinds. */
export function digestOfKinds(sums: Iterable<KindSum>): KindDigest {
  let [count, sum] = [0, ZERO];
  for (const one of sums) [count, sum] = [count + one.count, plus(sum, one.sum)];
  return digestOf({ count, sum });
}
