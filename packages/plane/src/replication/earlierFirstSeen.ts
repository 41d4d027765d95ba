import { type Clock, emptySnapshot, type Log, uptimeOf } from "@isthmus/core";
import { type Store, StoreError, type StoreHead, type StorePartition } from "@isthmus/ports";
import { runTimeSliced, SLICE_MS } from "../runtime/timeSlices.ts";
import type { SnapshotStore } from "../snapshots/snapshotStore.ts";
import type { InputTexts } from "./inputTexts.ts";

/** Finds, for clusters whose agents come before their partitions were read, when their objects were first seen. */
export interface EarlierFirstSeen {
  /**
   * Looks once, after `claim`: from then on nobody else writes the partition. Rejects with StoreError while the store does not answer, to be
   * called again; after a while it goes without.
   */
  find(partition: StorePartition, claim: () => Promise<void>): Promise<void>;
  /** The cluster is no longer registered: should it come back, its partition is another. */
  forget(clusterName: string): void;
}

export interface EarlierFirstSeenOptions {
  readonly store: Store;
  readonly snapshots: Pick<SnapshotStore, "earlier" | "agedKinds">;
  readonly texts: Pick<InputTexts, "snapshotFrom">;
  /** What the partition's last writer, before the claim, said of the cluster. */
  readonly onHead: (clusterName: string, head: StoreHead) => void;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Reads the store once for each cluster, until `forget`. A store that has failed for 5 s is left aside: objects are then first seen when
 * their agent reports them.
 */
export function earlierFirstSeen({ store, snapshots, texts, onHead, clock, log }: EarlierFirstSeenOptions): EarlierFirstSeen {
  const found = new Set<string>();
  /** Since when a cluster has been waiting for a store that does not answer. */
  const waitingSince = new Map<string, number>();

  async function read(partition: StorePartition): Promise<ReadonlyMap<string, ReadonlyMap<string, string>>> {
    const head = await store.head(partition);
    if (head !== undefined) onHead(partition.clusterName, head);
    const whole = new Map<string, ReadonlyMap<string, string>>();
    // What is not complete may hold kinds that its head does not tell of.
    for (const kindKey of head === undefined ? [] : snapshots.agedKinds) {
      const known = new Map<string, string>();
      for await (const page of store.load(partition, kindKey)) {
        for (const { key, text } of page) known.set(key, text);
        await clock.sleep(0);
      }
      whole.set(kindKey, known);
    }
    return whole;
  }

  return {
    async find(partition, claim) {
      const { clusterName } = partition;
      if (found.has(clusterName)) return;
      try {
        await claim();
        const written = await runTimeSliced(texts.snapshotFrom(clusterName, emptySnapshot(), await read(partition)), {
          clock,
          sliceMs: SLICE_MS,
        });
        snapshots.earlier(clusterName, written);
      } catch (error) {
        const since = waitingSince.get(clusterName) ?? uptimeOf(clock);
        waitingSince.set(clusterName, since);
        if (!(error instanceof StoreError) || uptimeOf(clock) - since < PATIENCE_MS) throw error;
        log.warn(
          { cluster: clusterName },
          `cannot read the store: using the current time as the first-seen time of the objects of ${clusterName}`,
        );
        snapshots.earlier(clusterName, undefined);
      }
      waitingSince.delete(clusterName);
      found.add(clusterName);
    },
    forget(clusterName) {
      found.delete(clusterName);
      waitingSince.delete(clusterName);
    },
  };
}

// As long as the server waits for a store that is just starting.
const PATIENCE_MS = 5_000;
