import { type Clock, type JsonObject, type Log, messageOf, type Snapshot } from "@isthmus/core";
import { isSameVersion, type Store, StoreError, type StorePartition } from "@isthmus/ports";
import { coalesced } from "../runtime/coalesce.ts";
import { inputFeed } from "./inputFeed.ts";
import { type PartitionWriter, partitionWriter } from "./partitionWriter.ts";

/** Keeps what users declare in the management cluster in the store, for those who look at a fleet. No server reads it there. */
export interface ManagementSharing {
  /** Something of it may have changed. */
  request(): void;
  readonly ended: Promise<void>;
}

export interface ManagementSharingOptions {
  readonly store: Store;
  /** Names this replica among all that run or ran. */
  readonly instance: string;
  /** The objects, with their statuses; undefined while not all of them are known. Nothing that is secret may be among them: it would be in Redis. */
  readonly objects: () => Snapshot | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

/** Writes what changed, at most once a second, until the signal is aborted or another replica writes; nothing waits for it. */
export function startManagementSharing(
  { store, instance, objects, clock, log }: ManagementSharingOptions,
  signal: AbortSignal,
): ManagementSharing {
  let writer: PartitionWriter | undefined;
  let known: Snapshot | undefined;
  const held = (): Snapshot => {
    // What is not known any more is not gone.
    known = objects() ?? known;
    if (known === undefined) throw new Error("the management cluster is not known yet");
    return known;
  };
  const feed = inputFeed({ names: () => [PARTITION.clusterName], snapshotIn: held }, (_, changes) => writer?.mark(changes));
  const meta = (): JsonObject => ({ writtenBy: instance });
  const content = () => feed.contentOf(PARTITION.clusterName);

  async function write(): Promise<void> {
    if (objects() === undefined) return;
    try {
      writer ??= partitionWriter({
        ...{ partition: PARTITION, fence: await store.raiseFence(FENCE, instance), store },
        ...{ content, meta, clock, log },
      });
      // While the store was asked, another replica may have become the leader.
      if (objects() === undefined) return;
      feed.advance();
      // A store that was emptied says nothing of it.
      if (writer.version !== undefined && !isSameVersion((await store.head(PARTITION))?.version, writer.version)) writer.doubt();
      if ((await writer.flush()) === "written") return;
      writer = undefined;
      log.debug({ instance }, "another replica writes the objects of the management cluster");
    } catch (error) {
      // Sharing reports a store that cannot be reached.
      if (!(error instanceof StoreError)) throw error;
      log.debug({ instance }, `cannot write the objects of the management cluster: ${messageOf(error)}; retrying`);
    }
    await clock.sleep(RETRY_MS, signal).catch(() => undefined);
    writes.request();
  }

  async function ticks(): Promise<void> {
    while (!signal.aborted) {
      await clock.sleep(TICK_MS, signal).catch(() => undefined);
      writes.request();
    }
  }

  const writes = coalesced(write, { clock, pauseMs: PAUSE_MS, restMs: REST_MS }, signal);
  store.subscribe((notice) => {
    if (notice.type === "missed") writer?.doubt();
    else if (notice.type !== "distrusted" || notice.partition.section !== PARTITION.section) return;
    else if (!isSameVersion(writer?.version, notice.version)) return;
    else writer?.distrust();
    writes.request();
  }, signal);
  writes.request();
  return { request: writes.request, ended: Promise.all([writes.ended, ticks()]).then(() => undefined) };
}

const PARTITION: StorePartition = { section: "management", clusterName: "" };
const FENCE = "management";
// Behind translation and statuses.
const PAUSE_MS = 200;
const REST_MS = 1_000;
const RETRY_MS = 5_000;
// How soon it is there again in a store that was emptied.
const TICK_MS = 30_000;
