import type { JsonObject } from "@isthmus/core";
import type { Hash } from "@isthmus/relay/session";

export type { Hash } from "@isthmus/relay/session";

/**
 * What replicas of the server share and a restart finds again. A store never names a kind: it holds JSON texts under a section,
 * a cluster and a kind key. Nothing waits for it: the loops work from memory, so a store that is unavailable, slow or emptied costs
 * no more than the view of other replicas. Every method rejects with StoreError when the store did not answer; a write that
 * was rejected may or may not have taken place.
 */
export interface Store {
  /** What exists of a section, and the id of this store: another id than before means that it was emptied meanwhile. */
  overview(section: StoreSection): Promise<StoreOverview>;
  /** What is said of one partition, without its objects. */
  head(partition: StorePartition): Promise<StoreHead | undefined>;
  /** The objects of one kind of a partition, a page at a time and each once. While others write, a page may be newer than the head. */
  load(partition: StorePartition, kindKey: string): AsyncIterable<readonly StoredText[]>;
  /**
   * Takes the next number of a fence for `by`, a replica: writes with lower numbers are refused from now on, on behalf of
   * whichever replica. A number is never given twice, not even by a store that was emptied in between; it is above `above`, the
   * highest that this replica has met.
   */
  raiseFence(name: string, by: string, above?: number): Promise<Fence>;
  /** Writes all of it or nothing. */
  write(write: StoreWrite): Promise<StoreWriteOutcome>;
  /** Drops a partition and all that it holds, unless its fence is higher. */
  clear(partition: StorePartition, fence: Fence): Promise<"written" | "superseded">;
  /** A small value by group and name, such as a token's hash or a revocation. */
  record(group: string, name: string): Promise<string | undefined>;
  /** All records of a group, by name. */
  records(group: string): Promise<ReadonlyMap<string, string>>;
  /** Says whether it was written: with `ifAbsent` it is not when there is one of that name. */
  putRecord(group: string, name: string, value: string, options?: PutRecordOptions): Promise<boolean>;
  /** Says whether there was one: of several who remove one record, one hears yes. */
  removeRecord(group: string, name: string): Promise<boolean>;
  /**
   * Puts a record in the place of what is there, in one step: `from` is what must be there, `to` what is there afterwards and
   * does not expire; undefined is none. Says whether it was so.
   */
  exchangeRecord(group: string, name: string, exchange: RecordExchange): Promise<boolean>;
  /** The objects of a partition at this version are not what its head says: its writer hears of it, and writes them again. */
  distrust(partition: StorePartition, version: StoreVersion): Promise<void>;
  /** How objects are hashed for the digests of heads; absent where anyone who writes to the store is trusted. */
  readonly hashing?: StoreHashing;
  /** What leaves the store open to others, each as a sentence for who runs it. */
  readonly weaknesses?: readonly string[];
  /** How much room it has. Absent where nobody but the server itself sets a limit. Rejects with StoreError. */
  capacity?(): Promise<StoreCapacity>;
  /** Hears of every change by whichever replica, its own included, until aborted; in order, but some may be `missed`. */
  subscribe(hear: (notice: StoreNotice) => void, signal: AbortSignal): void;
  close(): Promise<void>;
}

/** How much memory a store uses, and what it does at its limit; or why that is not known. */
export type StoreCapacity =
  | {
      readonly usedBytes: number;
      /** Where it refuses writes, or drops entries. Absent: it sets none, and takes what its machine has. */
      readonly limitBytes?: number;
      /** By which it drops entries at its limit. Absent: it refuses writes. */
      readonly evictionPolicy?: string;
    }
  | { readonly unknown: string };

/**
 * `input`: what the agent of a cluster has reported. `translated`: what is desired in a cluster. `insights`: what is wrong in the fleet, in
 * one partition, that of the management cluster. `activity`: what happened in a cluster within the last hour.
 */
export type StoreSection = "input" | "translated" | "insights" | "management" | "activity";

export interface StorePartition {
  readonly section: StoreSection;
  /** "" is the management cluster. */
  readonly clusterName: string;
}

/** The right to write: the one who holds the highest number of a name. */
export interface Fence {
  readonly name: string;
  readonly number: number;
}

/** Tells one state of a partition from all others: the number of its last writer's fence, and of the write. */
export interface StoreVersion {
  readonly fence: number;
  readonly sequence: number;
}

/** How many objects there are of a kind, and their digest. */
export interface KindDigest {
  readonly count: number;
  readonly digest: string;
}

/** What is said of a partition. */
export interface StoreHead {
  readonly version: StoreVersion;
  /** Whether its objects are everything there is. False while a writer fills it: then it says nothing about what is missing. */
  readonly complete: boolean;
  /** By kind key. Kinds that are not in it hold nothing. */
  readonly kinds: Readonly<Record<string, KindDigest>>;
  /** What the writer says besides. */
  readonly meta: JsonObject;
}

export interface StoreOverview {
  readonly id: string;
  /** By cluster. */
  readonly versions: ReadonlyMap<string, StoreVersion>;
}

/** One object's JSON text. */
export interface StoredText {
  /** `keyOf` */
  readonly key: string;
  readonly text: string;
  /** As `StoreHashing` has it, where the store found it anyway. */
  readonly hash?: Hash;
}

/**
 * Hashes under a key that the store does not hold. Heads have the sums of them (modulo 2^32 each), in a form that does not show the
 * sum: so nobody without the key can make another set of objects that a head fits. Throws StoreError before the store has answered once.
 */
export interface StoreHashing {
  hashOf(partition: StorePartition, kindKey: string, object: StoredText): Hash;
  /** The `digest` of a kind. */
  digestOf(partition: StorePartition, kindKey: string, sum: Hash): string;
  /** Whether a digest says this sum; it may have been made under the key before. */
  isDigest(partition: StorePartition, kindKey: string, sum: Hash, digest: string): boolean;
}

export interface StoreDelta {
  /** Kinds whose objects all go before anything is put. */
  readonly erase: readonly string[];
  readonly put: readonly (StoredText & { readonly kindKey: string })[];
  readonly remove: readonly { readonly kindKey: string; readonly key: string }[];
}

export interface StoreWrite {
  readonly partition: StorePartition;
  readonly fence: Fence;
  /** The version that this write builds on; undefined where there is none. */
  readonly base: StoreVersion | undefined;
  /** Higher than any that was written under this fence, so that no two states of a partition are called the same. */
  readonly sequence: number;
  readonly delta: StoreDelta;
  readonly complete: boolean;
  readonly kinds: Readonly<Record<string, KindDigest>>;
  readonly meta: JsonObject;
}

/** `superseded`: another replica has raised the fence. `changed`: the partition is not at `base`, for instance as the store was emptied. */
export type StoreWriteOutcome = "written" | "superseded" | "changed";

/** The version of a partition after a write. */
export function versionAfter({ fence, sequence }: Pick<StoreWrite, "fence" | "sequence">): StoreVersion {
  return { fence: fence.number, sequence };
}

/**
 * Whether two versions are of the same state of a partition; undefined, that of a partition which does not exist, is the same as undefined.
 */
export function isSameVersion(a: StoreVersion | undefined, b: StoreVersion | undefined): boolean {
  return a?.fence === b?.fence && a?.sequence === b?.sequence;
}

export interface PutRecordOptions {
  /** After this time the record is gone. Default: it stays. */
  readonly ttlMs?: number;
  readonly ifAbsent?: boolean;
}

export interface RecordExchange {
  readonly from: string | undefined;
  readonly to: string | undefined;
}

export type StoreNotice =
  /** Without `delta` while the partition is being filled. */
  | {
      readonly type: "written";
      readonly partition: StorePartition;
      readonly base: StoreVersion | undefined;
      readonly head: StoreHead;
      readonly delta?: StoreDelta;
    }
  | { readonly type: "cleared"; readonly partition: StorePartition; readonly fence: Fence }
  | { readonly type: "raised"; readonly fence: Fence; readonly by: string }
  | { readonly type: "recorded"; readonly group: string; readonly name: string }
  /** Who read the partition at this version found something else than its head says. */
  | { readonly type: "distrusted"; readonly partition: StorePartition; readonly version: StoreVersion }
  /** The connection was lost and is back: whatever happened meanwhile has to be looked up. */
  | { readonly type: "missed" };

/**
 * The group of records that says which clusters are revoked: by cluster, the moment from which on its certificates count, in
 * milliseconds since 1970.
 */
export const REVOCATIONS = "revocations";

/**
 * The group of records of join tokens that are not used up, for readers: by the token's id, JSON with the SHA-256 of the token
 * (`hash`), its `cluster`, and when it was `created` and `expires`. Whether a token is good is asked of the management cluster alone.
 */
export const JOIN_TOKENS = "join-tokens";

/** The store did not do it: not reached, too slow, or out of order. To be tried again. */
export class StoreError extends Error {
  override readonly name = "StoreError";
  /** It answers, and has no room for what was to be written. */
  readonly isFull: boolean;

  constructor(message: string, cause?: unknown, { isFull = false }: { readonly isFull?: boolean } = {}) {
    super(message, cause === undefined ? {} : { cause });
    this.isFull = isFull;
  }
}
