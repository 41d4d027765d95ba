import { type Clock, messageOf } from "@isthmus/core";
import { type Store, type StoredText, StoreError, type StoreHead, type StorePartition, type StoreWrite } from "@isthmus/ports";
import { ClassicLevel } from "classic-level";
import { ownDirectory } from "./ownDirectory.ts";
import { checkWrite, headAfter, nextFence, noticeOf, PAGE, partitionKeyOf } from "./partitions.ts";
import { subscribers } from "./subscribers.ts";

export interface FileStoreOptions {
  /** A directory of its own; made when absent. Nobody but the user of this process may write there. */
  readonly path: string;
  readonly clock: Clock;
  /** Gives another text with each call. */
  readonly id: () => string;
}

interface StoredRecord {
  readonly value: string;
  /** Milliseconds since 1970. */
  readonly until?: number;
}

/** Operations of one batch: a value that is undefined deletes. */
type Batch = Map<string, string | undefined>;

/**
 * A store in local files, for one server that shall find what it knew after a restart. Rejects with StoreError when the
 * directory cannot be used, for instance as another process has it, or as other users can write to it. What this process writes from now
 * on, here and elsewhere, is readable by its own user alone.
 */
export async function fileStore({ path, clock, id }: FileStoreOptions): Promise<Store> {
  ownDirectory(path);
  const level = new ClassicLevel<string, string>(path);
  await answered(level.open());
  const listeners = subscribers();
  /** What compares and then writes does so one after the other: this process is the only one. */
  let last: Promise<unknown> = Promise.resolve();

  async function answered<T>(call: Promise<T>): Promise<T> {
    try {
      return await call;
    } catch (error) {
      const cause = error instanceof Error && error.cause !== undefined ? `: ${messageOf(error.cause)}` : "";
      throw new StoreError(`the store in ${path}: ${messageOf(error)}${cause}`, error);
    }
  }

  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = last.then(() => answered(work()));
    last = result.catch(() => undefined);
    return result;
  }

  function save(batch: Batch): Promise<void> {
    return level.batch(
      [...batch].map(([key, value]) => (value === undefined ? { type: "del" as const, key } : { type: "put" as const, key, value })),
    );
  }

  async function readHead(partition: StorePartition): Promise<StoreHead | undefined> {
    const text = await level.get(HEAD + partitionKeyOf(partition));
    return text === undefined ? undefined : (JSON.parse(text) as StoreHead);
  }

  async function highest(name: string): Promise<number | undefined> {
    const text = await level.get(FENCE + name);
    return text === undefined ? undefined : Number(text);
  }

  async function erase(batch: Batch, prefix: string): Promise<void> {
    for await (const key of level.keys(startingWith(prefix))) batch.set(key, undefined);
  }

  async function batchOf(write: StoreWrite): Promise<Batch> {
    const { partition, fence, delta } = write;
    const batch: Batch = new Map();
    for (const kindKey of delta.erase) await erase(batch, objectsOf(partition, kindKey));
    for (const { kindKey, key } of delta.remove) batch.set(objectsOf(partition, kindKey) + key, undefined);
    for (const { kindKey, key, text } of delta.put) batch.set(objectsOf(partition, kindKey) + key, text);
    return batch.set(FENCE + fence.name, String(fence.number)).set(HEAD + partitionKeyOf(partition), JSON.stringify(headAfter(write)));
  }

  async function live(key: string): Promise<string | undefined> {
    const text = await level.get(key);
    if (text === undefined) return undefined;
    const { value, until = Number.POSITIVE_INFINITY } = JSON.parse(text) as StoredRecord;
    return until <= clock.now() ? undefined : value;
  }

  const storeId = await inTurn(async () => {
    const known = (await level.get(ID)) ?? id();
    await level.put(ID, known);
    return known;
  });

  return {
    async overview(section) {
      const versions = new Map<string, StoreHead["version"]>();
      const prefix = `${HEAD}${section}/`;
      await answered(
        (async () => {
          for await (const [key, text] of level.iterator(startingWith(prefix)))
            versions.set(key.slice(prefix.length), (JSON.parse(text) as StoreHead).version);
        })(),
      );
      return { id: storeId, versions };
    },
    head: (partition) => answered(readHead(partition)),
    async *load(partition, kindKey) {
      const prefix = objectsOf(partition, kindKey);
      const entries = level.iterator(startingWith(prefix));
      try {
        for (let page = await answered(entries.nextv(PAGE)); page.length > 0; page = await answered(entries.nextv(PAGE)))
          yield page.map(([key, text]): StoredText => ({ key: key.slice(prefix.length), text }));
      } finally {
        await entries.close();
      }
    },
    raiseFence: (name, by, above = 0) =>
      inTurn(async () => {
        const fence = nextFence(name, Math.max((await highest(name)) ?? 0, above), clock.now());
        await level.put(FENCE + name, String(fence.number));
        listeners.tell({ type: "raised", fence, by });
        return fence;
      }),
    write: (write) =>
      inTurn(async () => {
        const outcome = checkWrite(write, await highest(write.fence.name), (await readHead(write.partition))?.version);
        if (outcome !== "written") return outcome;
        await save(await batchOf(write));
        listeners.tell(noticeOf(write));
        return outcome;
      }),
    clear: (partition, fence) =>
      inTurn(async () => {
        if (((await highest(fence.name)) ?? 0) > fence.number) return "superseded";
        const batch: Batch = new Map();
        await erase(batch, objectsOf(partition));
        await save(batch.set(HEAD + partitionKeyOf(partition), undefined).set(FENCE + fence.name, String(fence.number)));
        listeners.tell({ type: "cleared", partition, fence });
        return "written";
      }),
    record: (group, name) => answered(live(RECORD + named(group, name))),
    async records(group) {
      const found = new Map<string, string>();
      const prefix = RECORD + named(group, "");
      for (const key of await answered(level.keys(startingWith(prefix)).all())) {
        const value = await answered(live(key));
        if (value !== undefined) found.set(key.slice(prefix.length), value);
      }
      return found;
    },
    putRecord: (group, name, value, { ttlMs, ifAbsent = false } = {}) =>
      inTurn(async () => {
        const key = RECORD + named(group, name);
        if (ifAbsent && (await live(key)) !== undefined) return false;
        const record: StoredRecord = { value, ...(ttlMs === undefined ? {} : { until: clock.now() + ttlMs }) };
        await level.put(key, JSON.stringify(record));
        listeners.tell({ type: "recorded", group, name });
        return true;
      }),
    removeRecord: (group, name) =>
      inTurn(async () => {
        const key = RECORD + named(group, name);
        const existed = (await live(key)) !== undefined;
        await level.del(key);
        if (existed) listeners.tell({ type: "recorded", group, name });
        return existed;
      }),
    exchangeRecord: (group, name, { from, to }) =>
      inTurn(async () => {
        const key = RECORD + named(group, name);
        if ((await live(key)) !== from) return false;
        if (to === undefined) await level.del(key);
        else await level.put(key, JSON.stringify({ value: to } satisfies StoredRecord));
        listeners.tell({ type: "recorded", group, name });
        return true;
      }),
    distrust: (partition, version) => inTurn(async () => listeners.tell({ type: "distrusted", partition, version })),
    subscribe: listeners.add,
    close: () => inTurn(() => level.close()),
  };
}

// No name of a cluster, kind or object holds it.
const SEPARATOR = "\u0000";
const ID = "id";
const FENCE = "fence/";
const HEAD = "head/";
const RECORD = "record/";

function named(...parts: readonly string[]): string {
  return parts.join(SEPARATOR);
}

/** What the keys of a partition's objects begin with, or of one of its kinds. */
function objectsOf(partition: StorePartition, kindKey?: string): string {
  return `object/${named(partitionKeyOf(partition), ...(kindKey === undefined ? [] : [kindKey]), "")}`;
}

function startingWith(prefix: string): { readonly gte: string; readonly lt: string } {
  return { gte: prefix, lt: `${prefix}\uffff` };
}
