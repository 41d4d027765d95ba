import type { Clock } from "@isthmus/core";
import { type Store, type StoredText, StoreError, type StoreHead, type StoreWrite } from "@isthmus/ports";
import { checkWrite, headAfter, nextFence, noticeOf, PAGE, partitionKeyOf } from "./partitions.ts";
import { subscribers } from "./subscribers.ts";

/** A store in memory. Several servers of one process may share it. */
export interface MemoryStore extends Store {
  readonly faults: StoreFaults;
  /** Every JSON text in it, for tests that look for what must not be there. */
  texts(): readonly string[];
}

/** What can go wrong with a store, to be switched on by tests. */
export interface StoreFaults {
  /** Not reached: every call is rejected, no notice arrives. What it holds stays. */
  stop(): void;
  start(): void;
  /** Loses everything at once, and says nothing. */
  wipe(): void;
  /** Every call takes this long. 0 ends it. */
  slow(ms: number): void;
  /** The next writes are confirmed and not kept, as by a store that crashes before it saves. */
  loseWrites(count: number): void;
  /** The next writes are kept and their answers lost. */
  loseAnswers(count: number): void;
  /** The next notices reach nobody. */
  loseNotices(count: number): void;
  /** A replica of the store has caught up: it holds what the store holds now. */
  replicate(): void;
  /** That replica takes the store's place: what was written since it last caught up is lost. Connections break. */
  failOver(): void;
  /** It makes room: some of what it holds is gone, and it says nothing. */
  evict(part: StorePart): void;
  /** While full, whatever would write is rejected, and everything can be read. */
  full(isFull: boolean): void;
}

/** What of a store can go by itself. */
export type StorePart = "fences" | "heads" | "objects" | "records";

interface Partition {
  readonly head: StoreHead;
  /** By kind key, then by key. */
  readonly objects: Map<string, Map<string, string>>;
}

/** `id` gives another text with each call. */
export function memoryStore({ clock, id }: { readonly clock: Clock; readonly id: () => string }): MemoryStore {
  let fences = new Map<string, number>();
  let partitions = new Map<string, Partition>();
  let groups = new Map<string, Map<string, { readonly value: string; readonly until: number }>>();
  const copied = () => ({ storeId, ...structuredClone({ fences, partitions, groups }) });
  const listeners = subscribers();
  let storeId = id();
  let isStopped = false;
  let slowMs = 0;
  let isFull = false;
  const lose = { writes: 0, answers: 0, notices: 0 };
  let replica = copied();

  async function reached(): Promise<void> {
    if (slowMs > 0) await clock.sleep(slowMs);
    if (isStopped) throw new StoreError("the store is not reached");
  }

  async function writable(): Promise<void> {
    await reached();
    if (isFull) throw new StoreError("the store is full", undefined, { isFull: true });
  }

  const tell: typeof listeners.tell = (notice) => {
    if (lose.notices > 0) lose.notices--;
    else listeners.tell(notice);
  };

  function apply(write: StoreWrite): void {
    const { partition, fence, delta } = write;
    const objects = partitions.get(partitionKeyOf(partition))?.objects ?? new Map<string, Map<string, string>>();
    for (const kindKey of delta.erase) objects.delete(kindKey);
    for (const { kindKey, key } of delta.remove) objects.get(kindKey)?.delete(key);
    for (const { kindKey, key, text } of delta.put) {
      const ofKind = objects.get(kindKey) ?? new Map<string, string>();
      objects.set(kindKey, ofKind.set(key, text));
    }
    fences.set(fence.name, fence.number);
    partitions.set(partitionKeyOf(partition), { head: headAfter(write), objects });
    tell(noticeOf(write));
  }

  function live(group: string): ReadonlyMap<string, string> {
    const known = groups.get(group) ?? new Map();
    for (const [name, { until }] of known) if (until <= clock.now()) known.delete(name);
    return new Map([...known].map(([name, { value }]) => [name, value]));
  }

  return {
    async overview(section) {
      await reached();
      const prefix = `${section}/`;
      const found = [...partitions].filter(([key]) => key.startsWith(prefix));
      return { id: storeId, versions: new Map(found.map(([key, { head }]) => [key.slice(prefix.length), head.version])) };
    },
    async head(partition) {
      await reached();
      return partitions.get(partitionKeyOf(partition))?.head;
    },
    async *load(partition, kindKey) {
      await reached();
      const keys = [...(partitions.get(partitionKeyOf(partition))?.objects.get(kindKey)?.keys() ?? [])];
      for (let from = 0; from < keys.length; from += PAGE) {
        if (from > 0) await reached();
        const objects = partitions.get(partitionKeyOf(partition))?.objects.get(kindKey);
        yield keys.slice(from, from + PAGE).flatMap((key): StoredText[] => {
          const text = objects?.get(key);
          return text === undefined ? [] : [{ key, text }];
        });
      }
    },
    async raiseFence(name, by, above = 0) {
      await writable();
      const fence = nextFence(name, Math.max(fences.get(name) ?? 0, above), clock.now());
      fences.set(name, fence.number);
      tell({ type: "raised", fence, by });
      return fence;
    },
    async write(write) {
      await writable();
      const outcome = checkWrite(write, fences.get(write.fence.name), partitions.get(partitionKeyOf(write.partition))?.head.version);
      if (outcome !== "written") return outcome;
      if (lose.writes > 0) lose.writes--;
      else apply(write);
      if (lose.answers > 0) {
        lose.answers--;
        throw new StoreError("the store's answer was lost");
      }
      return outcome;
    },
    async clear(partition, fence) {
      await writable();
      if ((fences.get(fence.name) ?? 0) > fence.number) return "superseded";
      fences.set(fence.name, fence.number);
      partitions.delete(partitionKeyOf(partition));
      tell({ type: "cleared", partition, fence });
      return "written";
    },
    async record(group, name) {
      await reached();
      return live(group).get(name);
    },
    async records(group) {
      await reached();
      return live(group);
    },
    async putRecord(group, name, value, { ttlMs, ifAbsent = false } = {}) {
      await writable();
      if (ifAbsent && live(group).has(name)) return false;
      const known = groups.get(group) ?? new Map();
      groups.set(group, known.set(name, { value, until: ttlMs === undefined ? Number.POSITIVE_INFINITY : clock.now() + ttlMs }));
      tell({ type: "recorded", group, name });
      return true;
    },
    async removeRecord(group, name) {
      await writable();
      const existed = live(group).has(name);
      groups.get(group)?.delete(name);
      if (existed) tell({ type: "recorded", group, name });
      return existed;
    },
    async exchangeRecord(group, name, { from, to }) {
      await writable();
      if (live(group).get(name) !== from) return false;
      const known = groups.get(group) ?? new Map();
      if (to === undefined) known.delete(name);
      else groups.set(group, known.set(name, { value: to, until: Number.POSITIVE_INFINITY }));
      tell({ type: "recorded", group, name });
      return true;
    },
    async distrust(partition, version) {
      await reached();
      tell({ type: "distrusted", partition, version });
    },
    subscribe: listeners.add,
    close: async () => undefined,
    faults: {
      stop() {
        isStopped = true;
      },
      start() {
        if (!isStopped) return;
        isStopped = false;
        listeners.tell({ type: "missed" });
      },
      wipe() {
        for (const everything of [fences, partitions, groups]) everything.clear();
        storeId = id();
        replica = copied();
      },
      slow(ms) {
        slowMs = ms;
      },
      loseWrites(count) {
        lose.writes += count;
      },
      loseAnswers(count) {
        lose.answers += count;
      },
      loseNotices(count) {
        lose.notices += count;
      },
      replicate() {
        replica = copied();
      },
      failOver() {
        ({ storeId, fences, partitions, groups } = replica);
        replica = copied();
        if (!isStopped) listeners.tell({ type: "missed" });
      },
      evict(part) {
        if (part === "fences") fences.clear();
        else if (part === "records") groups.clear();
        else if (part === "heads") partitions.clear();
        else for (const { objects } of partitions.values()) objects.clear();
      },
      full(now) {
        isFull = now;
      },
    },
    texts: () => [
      ...[...partitions.values()].flatMap(({ head, objects }) => [
        JSON.stringify(head),
        ...[...objects.values()].flatMap((ofKind) => [...ofKind.values()]),
      ]),
      ...[...groups.values()].flatMap((records) => [...records.values()].map(({ value }) => value)),
    ],
  };
}
