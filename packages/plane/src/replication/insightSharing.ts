import { type Clock, fullKeyOf, type Log } from "@isthmus/core";
import type { InsightHistory } from "@isthmus/insights";
import { isSameVersion, type Store, StoreError, type StoreNotice } from "@isthmus/ports";
import { INSIGHTS_PARTITION, insightsMeta, type KeptInsights, keptContent, keptEnded, keptInsights, keptObject } from "./keptInsights.ts";
import { splitKey } from "./keys.ts";
import { loadPartition, type WrittenNotice } from "./partitionLoader.ts";
import { type PartitionChange, type PartitionWriter, partitionWriter } from "./partitionWriter.ts";
import { hasRoomFor } from "./receivedNotices.ts";

/** Insights in the store: written by the leader, read by everybody. Each method rejects with StoreError when the store does not answer. */
export interface InsightSharing {
  /** Whether `begin` was called since the last `write` that was superseded. */
  readonly hasBegun: boolean;
  /** Raises the fence, so that earlier leaders write no more, and gives what they have left: undefined is nothing, or nothing that a server wrote. */
  begin(): Promise<KeptInsights | undefined>;
  /** Writes a history, of this moment (milliseconds since 1970). `superseded`: another replica writes now; another `begin` takes over again. */
  write(history: InsightHistory, at: number): Promise<"written" | "superseded">;
  /** What the store has; undefined where there is nothing that a server wrote as a whole. */
  read(): Promise<KeptInsights | undefined>;
  hear(notice: StoreNotice): void;
  /** Forgets under which fence this replica wrote. */
  stop(): void;
}

export interface InsightSharingOptions {
  readonly store: Store;
  readonly instance: string;
  /** Asks for a call of `write`: the store has something else than was written. */
  readonly wake: () => void;
  readonly clock: Clock;
  readonly log: Log;
}

/** Keeps insights in the partition of the management cluster. */
export function insightSharing({ store, instance, wake, clock, log }: InsightSharingOptions): InsightSharing {
  let writer: PartitionWriter | undefined;
  let marked: InsightHistory | undefined;
  let at = 0;
  /** What is written while somebody reads, for each of them. */
  const listeners = new Set<WrittenNotice[]>();
  let reading: Promise<KeptInsights | undefined> | undefined;
  let known: { readonly version: KeptVersion; readonly kept: KeptInsights } | undefined;

  async function load(): Promise<KeptInsights | undefined> {
    const version = (await store.head(INSIGHTS_PARTITION))?.version;
    if (version !== undefined && known !== undefined && isSameVersion(known.version, version)) return known.kept;
    const heard: WrittenNotice[] = [];
    listeners.add(heard);
    try {
      const reader = { store, clock, received: () => heard, accepts: () => true };
      const found = await loadPartition(reader, INSIGHTS_PARTITION, { kinds: {}, held: [] });
      if (found === undefined) return undefined;
      const kept = keptInsights(found.whole, found.head.meta);
      known = { version: found.head.version, kept };
      return kept;
    } finally {
      listeners.delete(heard);
    }
  }

  /** What earlier leaders have left. `isTrusted`: it is what its head says. Rejects where the store does not answer. */
  async function left(): Promise<{ readonly kept?: KeptInsights; readonly isTrusted: boolean }> {
    try {
      const kept = await load();
      return { ...(kept === undefined ? {} : { kept }), isTrusted: true };
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      // It answers, and has something else than a server has written: nothing of that is taken.
      await store.head(INSIGHTS_PARTITION);
      log.warn({}, "the insights in the store are not what a server has written: writing them again");
      return { isTrusted: false };
    }
  }

  async function begin(): Promise<KeptInsights | undefined> {
    const fence = await store.raiseFence(FENCE, instance);
    // Nobody else writes any more: what is there now is all that earlier leaders have said.
    const { kept, isTrusted } = await left();
    marked = undefined;
    writer = partitionWriter({
      partition: INSIGHTS_PARTITION,
      fence,
      store,
      content: () => keptContent(marked as InsightHistory),
      meta: () => insightsMeta(at, instance),
      clock,
      log,
    });
    if (!isTrusted) writer.distrust();
    return kept;
  }

  return {
    get hasBegun() {
      return writer !== undefined;
    },
    begin,
    async write(history, moment) {
      const mine = writer;
      if (mine === undefined) return "superseded";
      if (marked !== undefined) mine.mark(differences(marked, history));
      marked = history;
      at = moment;
      const outcome = await mine.flush();
      if (outcome === "superseded" && writer === mine) writer = undefined;
      return outcome;
    },
    read() {
      // One reading for all who ask meanwhile.
      reading ??= load().finally(() => {
        reading = undefined;
      });
      return reading;
    },
    hear(notice) {
      if (notice.type === "missed") {
        writer?.doubt();
        return wake();
      }
      if (!("partition" in notice) || notice.partition.section !== INSIGHTS_PARTITION.section) return;
      if (notice.type === "written") for (const heard of listeners) if (hasRoomFor(notice, heard)) heard.push(notice);
      if (notice.type !== "distrusted" || writer === undefined || !isSameVersion(writer.version, notice.version)) return;
      writer.distrust();
      wake();
    },
    stop() {
      writer = undefined;
      marked = undefined;
    },
  };
}

type KeptVersion = NonNullable<PartitionWriter["version"]>;

const FENCE = "insights";

function differences(before: InsightHistory, after: InsightHistory): readonly PartitionChange[] {
  const objects = after.current.changesSince(before.current).map(
    ({ key, before: was }): PartitionChange => ({
      ...splitKey(key),
      before: was && keptObject(was),
    }),
  );
  const ended = after.ended.changesSince(before.ended).flatMap(({ before: was, after: is }): readonly PartitionChange[] => {
    const one = was ?? is;
    if (one === undefined) return [];
    return [{ ...splitKey(fullKeyOf(keptEnded(one))), before: was && keptEnded(was) }];
  });
  return [...objects, ...ended];
}
