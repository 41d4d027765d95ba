import { type Clock, canonicalJson, type JsonObject, keyOfResource, type Log, type Resource } from "@isthmus/core";
import {
  type Fence,
  isSameVersion,
  type Store,
  type StoreDelta,
  StoreError,
  type StorePartition,
  type StoreVersion,
  versionAfter,
} from "@isthmus/ports";
import { isSameDigest, type KindSum, type KindSums, type PartitionDigests, partitionDigests } from "./digests.ts";
import type { FollowedPartition } from "./partitionLoader.ts";

/** What a partition shall hold, at one moment. */
export interface PartitionContent {
  readonly kinds: readonly string[];
  objects(kindKey: string): readonly Resource[];
  /** By `keyOf`. */
  at(kindKey: string, key: string): Resource | undefined;
}

/** One object that is no longer what it was. */
export interface PartitionChange {
  readonly kindKey: string;
  /** `keyOf` */
  readonly key: string;
  readonly before: Resource | undefined;
}

/**
 * Keeps one partition of the store as this replica has it in memory. What waits is the set of objects that changed, each with what
 * the store has of it: bounded by their number, and the latest of each is what is written.
 */
export interface PartitionWriter {
  readonly partition: StorePartition;
  readonly fence: Fence;
  /** The version that the store is known to have. */
  readonly version: StoreVersion | undefined;
  /** What is known to be in the store as it is in memory, with which version: for the one who follows the partition from now on. */
  followed(): FollowedPartition | undefined;
  mark(changes: Iterable<PartitionChange>): void;
  /** Looks at what the store has before anything else is written: it may have lost something. */
  doubt(): void;
  /** The store holds other objects than its head says: everything is written again. */
  distrust(): void;
  readonly isDirty: boolean;
  /** Writes what waits. Rejects with StoreError when the store did not answer: to be called again. */
  flush(): Promise<"written" | "superseded">;
}

export interface PartitionWriterOptions {
  readonly partition: StorePartition;
  readonly fence: Fence;
  readonly store: Store;
  /** Everything as it is now; what it gives does not change any more. */
  readonly content: () => PartitionContent;
  readonly meta: () => JsonObject;
  readonly clock: Clock;
  readonly log: Log;
}

/** What the store is known to hold. */
interface Written {
  readonly version: StoreVersion | undefined;
  readonly complete: boolean;
  readonly sums: KindSums;
  readonly meta: string;
}

interface Batch {
  readonly delta: StoreDelta;
  readonly sums: KindSums;
  readonly complete: boolean;
}

/**
 * Writes `content` under `fence`. Of the store nothing is known at first: the first `flush` compares everything with the digests of the
 * head, and writes the kinds that differ.
 */
export function partitionWriter({ partition, fence, store, content, meta, clock, log }: PartitionWriterOptions): PartitionWriter {
  let written: Written | undefined;
  /** Whether the objects in the store are what its head says. */
  let isTrusted = true;
  const digests = partitionDigests(store, partition);
  let sequence = 0;
  const waiting = new Map<string, PartitionChange>();

  /** Writes one batch on what is known to be there; `changed` leaves it in doubt. */
  async function put({ delta, sums, complete }: Batch): Promise<"written" | "superseded" | "changed"> {
    const said = meta();
    const base = written?.version;
    const write = { partition, fence, base, sequence: ++sequence, delta, complete, kinds: digests.digestsOf(sums), meta: said };
    const outcome = await wasDone(() => store.write(write), versionAfter(write));
    if (outcome === "written") written = { version: versionAfter(write), complete, sums, meta: JSON.stringify(said) };
    else written = undefined;
    return outcome;
  }

  /** A write without an answer may have taken place all the same: the version tells. */
  async function wasDone<T>(write: () => Promise<T>, version: StoreVersion): Promise<T | "written"> {
    try {
      return await write();
    } catch (error) {
      const head = await store.head(partition);
      if (isSameVersion(head?.version, version)) return "written";
      throw error;
    }
  }

  /** Compares everything with the digests in the store, and writes again the kinds that differ. */
  async function refill(): Promise<"written" | "superseded" | "changed"> {
    const head = await store.head(partition);
    if ((head?.version.fence ?? 0) > fence.number) return "superseded";
    // What changes from now on is marked again.
    const whole = content();
    waiting.clear();
    const sums = await sumsOf(whole, { digests, clock });
    const kinds = new Set([...Object.keys(head?.kinds ?? {}), ...whole.kinds]);
    const own = digests.digestsOf(sums);
    const isWorthComparing = isTrusted && head?.complete === true;
    const differing = [...kinds].filter((kindKey) => !isWorthComparing || !isSameDigest(head.kinds[kindKey], own[kindKey]));
    // An incomplete partition may have objects that its head does not tell of: all kinds are written again.
    const kept = new Map([...sums].filter(([kindKey]) => !differing.includes(kindKey)));
    // Until the last batch is known to be there, what the store has is not everything: a failure on the way starts over.
    const isWhole = isWorthComparing && differing.length === 0;
    written = { version: head?.version, complete: isWhole, sums: kept, meta: "" };
    if (isWhole) return "written";
    const objects = differing.reduce((sum, kindKey) => sum + (sums.get(kindKey)?.count ?? 0), 0);
    log.info({ ...partition, kinds: differing.length, objects }, `writing ${objects} objects of ${placeOf(partition)} to the store`);
    for (const batch of refillBatches(whole, { kinds: differing, kept, digests })) {
      const outcome = await put(batch);
      if (outcome !== "written") return outcome;
    }
    isTrusted = true;
    return "written";
  }

  /** The next changes, as they are now. */
  function nextBatch(): { readonly batch: Batch; readonly taken: readonly (readonly [string, PartitionChange])[] } {
    const now = content();
    const put: StoreDelta["put"][number][] = [];
    const remove: StoreDelta["remove"][number][] = [];
    const sums = new Map<string, KindSum>(written?.sums);
    const taken: (readonly [string, PartitionChange])[] = [];
    let size = 0;
    for (const entry of waiting) {
      if (taken.length >= BATCH_OBJECTS || size > BATCH_CHARACTERS) break;
      const [name, { kindKey, key, before }] = entry;
      const after = now.at(kindKey, key);
      waiting.delete(name);
      taken.push(entry);
      if (after === before) continue;
      const text = after === undefined ? undefined : canonicalJson(after);
      const old = before === undefined ? undefined : canonicalJson(before);
      if (text === old) continue;
      sums.set(kindKey, digests.sumAfter(kindKey, sums.get(kindKey), { key, before: old, after: text }));
      if (text === undefined) remove.push({ kindKey, key });
      else put.push({ kindKey, key, text });
      size += text?.length ?? 0;
    }
    return { batch: { delta: { erase: [], put, remove }, sums, complete: true }, taken };
  }

  async function flushOnce(): Promise<"written" | "superseded" | "changed"> {
    if (written?.complete !== true) return refill();
    const { batch, taken } = nextBatch();
    const isNews = batch.delta.put.length + batch.delta.remove.length > 0;
    if (!isNews && JSON.stringify(meta()) === written.meta) return "written";
    let outcome: "written" | "superseded" | "changed" | undefined;
    try {
      outcome = await put(batch);
      return outcome;
    } finally {
      // The older `before` is what the store has.
      if (outcome !== "written") for (const [name, change] of taken) waiting.set(name, change);
    }
  }

  function isDirty(): boolean {
    return written?.complete !== true || waiting.size > 0 || JSON.stringify(meta()) !== written.meta;
  }

  return {
    partition,
    fence,
    get version() {
      return written?.version;
    },
    followed() {
      if (written?.version === undefined || !written.complete) return undefined;
      const { version, sums } = written;
      if (waiting.size === 0) return { version, kinds: digests.digestsOf(sums) };
      // Of kinds of which something waits, memory is another than the store, and no version of it is known.
      const dirty = new Set([...waiting.values()].map(({ kindKey }) => kindKey));
      return { version: NO_VERSION, kinds: digests.digestsOf(new Map([...sums].filter(([kindKey]) => !dirty.has(kindKey)))) };
    },
    mark(changes) {
      for (const change of changes) {
        const name = `${change.kindKey}|${change.key}`;
        if (!waiting.has(name)) waiting.set(name, change);
      }
    },
    doubt() {
      written = undefined;
    },
    distrust() {
      isTrusted = false;
      written = undefined;
    },
    get isDirty() {
      return isDirty();
    },
    async flush() {
      for (let doubts = 0; isDirty(); ) {
        const outcome = await flushOnce();
        if (outcome === "superseded") return outcome;
        if (outcome !== "changed") continue;
        log.warn({ ...partition }, `the store does not have what was written for ${placeOf(partition)}: comparing`);
        if (++doubts > DOUBTS) throw new StoreError(`${placeOf(partition)} in the store was changed by another writer`);
      }
      return "written";
    },
  };
}

/** No version of the store is what memory has. */
export const NO_VERSION: StoreVersion = { fence: 0, sequence: 0 };

const BATCH_OBJECTS = 500;
// Of JSON: about half of what a message of 1 MiB would hold.
const BATCH_CHARACTERS = 512 * 1024;
const DOUBTS = 3;
// So long does nothing else happen at most: some milliseconds.
const PAUSE_AFTER = 250;

/** The sums of everything, with pauses: other work goes first. */
async function sumsOf(
  content: PartitionContent,
  { digests, clock }: { readonly digests: PartitionDigests; readonly clock: Clock },
): Promise<KindSums> {
  const sums = new Map<string, KindSum>();
  let count = 0;
  for (const kindKey of content.kinds) {
    for (const resource of content.objects(kindKey)) {
      const object = { key: keyOfResource(resource), after: canonicalJson(resource) };
      sums.set(kindKey, digests.sumAfter(kindKey, sums.get(kindKey), object));
      if (++count % PAUSE_AFTER === 0) await clock.sleep(0);
    }
  }
  return sums;
}

/** Whole kinds, in parts; the partition is complete with the last of them. */
function* refillBatches(
  content: PartitionContent,
  { kinds, kept, digests }: { readonly kinds: readonly string[]; readonly kept: KindSums; readonly digests: PartitionDigests },
): Iterable<Batch> {
  const sums = new Map(kept);
  let erase: string[] = [];
  let put: StoreDelta["put"][number][] = [];
  let size = 0;
  const batch = (complete: boolean): Batch => ({ delta: { erase, put, remove: [] }, sums: new Map(sums), complete });
  for (const kindKey of kinds) {
    erase.push(kindKey);
    for (const resource of content.objects(kindKey)) {
      const key = keyOfResource(resource);
      const text = canonicalJson(resource);
      put.push({ kindKey, key, text });
      sums.set(kindKey, digests.sumAfter(kindKey, sums.get(kindKey), { key, after: text }));
      size += text.length;
      if (put.length < BATCH_OBJECTS && size < BATCH_CHARACTERS) continue;
      yield batch(false);
      [erase, put, size] = [[], [], 0];
    }
  }
  yield batch(true);
}

function placeOf({ section, clusterName }: StorePartition): string {
  return `${section} of ${clusterName === "" ? "the management cluster" : clusterName}`;
}
