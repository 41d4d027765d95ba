import { type Clock, emptyOutputSet, type Log, type OutputSet, type Resource } from "@isthmus/core";
import { isSameVersion, type Store, type StoreNotice, type StorePartition } from "@isthmus/ports";
import { splitKey } from "./keys.ts";
import { type PartitionContent, type PartitionWriter, partitionWriter } from "./partitionWriter.ts";

/** Keeps what is desired in each cluster in the store, written by the leader alone. */
export interface OutputSharing {
  /** What is desired in a cluster now. */
  setDesired(clusterName: string, wanted: OutputSet): void;
  forget(clusterName: string): void;
  /** Another replica began to lead, or this one. */
  leadChanged(): void;
  hear(notice: StoreNotice): void;
  /** Looks for what was lost. Rejects with StoreError. */
  compare(): Promise<void>;
  /** Does what is to be done for one cluster; rejects with StoreError. */
  work(clusterName: string): Promise<void>;
}

export interface OutputSharingOptions {
  readonly store: Store;
  readonly instance: string;
  readonly leads: () => boolean;
  /** Asks for a call of `work`. */
  readonly wake: (clusterName: string) => void;
  readonly clock: Clock;
  readonly log: Log;
}

interface Wanted {
  /** As it is desired now, and as far as the writer has received it. */
  now: OutputSet;
  marked: OutputSet;
}

/**
 * Keeps the desired sets for the store, and writes them in `work`, only while `leads`; the first write of a term raises the fence, under
 * `instance`.
 */
export function outputSharing({ store, instance, leads, wake, clock, log }: OutputSharingOptions): OutputSharing {
  const wants = new Map<string, Wanted>();
  const writers = new Map<string, PartitionWriter>();
  const withdrawn = new Set<string>();
  /** The number under which this replica leads; undefined until it has one. */
  let turn: ReturnType<Store["raiseFence"]> | undefined;

  /** Another replica has raised the fence. If this one still leads at the next comparison, it does so again; not at once, or the two would raise it for ever. */
  function lose(): void {
    turn = undefined;
    writers.clear();
  }

  /** One number for the whole turn. */
  async function fence() {
    turn ??= store.raiseFence(FENCE, instance);
    const mine = turn;
    try {
      return await mine;
    } catch (error) {
      if (turn === mine) turn = undefined;
      throw error;
    }
  }

  function contentOf(clusterName: string): PartitionContent {
    const want = wants.get(clusterName);
    if (want === undefined) return NOTHING;
    const writer = writers.get(clusterName);
    const { now, marked } = want;
    writer?.mark(now.changesSince(marked).map(({ key, before }) => ({ ...splitKey(key), before: before?.resource })));
    want.marked = now;
    return contentFrom(now);
  }

  async function writerOf(clusterName: string): Promise<PartitionWriter> {
    const known = writers.get(clusterName);
    if (known !== undefined) return known;
    const options = { partition: partitionOf(clusterName), fence: await fence(), store, clock, log };
    const writer = partitionWriter({ ...options, content: () => contentOf(clusterName), meta: () => ({ writtenBy: instance }) });
    writers.set(clusterName, writer);
    return writer;
  }

  return {
    setDesired(clusterName, wanted) {
      const known = wants.get(clusterName);
      if (known?.now === wanted) return;
      withdrawn.delete(clusterName);
      if (known === undefined) wants.set(clusterName, { now: wanted, marked: emptyOutputSet(wanted.owner) });
      else known.now = wanted;
      if (leads()) wake(clusterName);
    },
    forget(clusterName) {
      if (!wants.delete(clusterName)) return;
      writers.delete(clusterName);
      if (!leads()) return;
      withdrawn.add(clusterName);
      wake(clusterName);
    },
    leadChanged() {
      lose();
      if (leads()) for (const clusterName of wants.keys()) wake(clusterName);
    },
    hear(notice) {
      if (notice.type === "distrusted" && notice.partition.section === "translated") {
        const writer = writers.get(notice.partition.clusterName);
        if (writer === undefined || !isSameVersion(writer.version, notice.version)) return;
        writer.distrust();
        return wake(notice.partition.clusterName);
      }
      if (notice.type !== "raised" || notice.fence.name !== FENCE || notice.by === instance || turn === undefined) return;
      void turn.then(
        ({ number }) => {
          if (notice.fence.number > number) lose();
        },
        // The one who waits for this number hears of it too.
        () => undefined,
      );
    },
    async compare() {
      if (!leads()) return;
      const asked = new Map([...writers].map(([clusterName, writer]) => [clusterName, writer.version]));
      const { versions } = await store.overview("translated");
      for (const [clusterName, writer] of writers) {
        const isStill = asked.has(clusterName) && isSameVersion(asked.get(clusterName), writer.version);
        if (isStill && !isSameVersion(versions.get(clusterName), writer.version)) writer.doubt();
      }
      for (const clusterName of wants.keys()) if (writers.get(clusterName)?.isDirty !== false) wake(clusterName);
      for (const clusterName of withdrawn) wake(clusterName);
    },
    async work(clusterName) {
      if (!leads()) return;
      if (withdrawn.has(clusterName)) {
        const outcome = await store.clear(partitionOf(clusterName), await fence());
        if (outcome === "superseded") return lose();
        withdrawn.delete(clusterName);
        return;
      }
      if (!wants.has(clusterName)) return;
      const writer = await writerOf(clusterName);
      // What changed since it was marked last is marked now.
      contentOf(clusterName);
      if ((await writer.flush()) === "superseded" && writers.get(clusterName) === writer) lose();
    },
  };
}

const FENCE = "translated";
const NOTHING: PartitionContent = { kinds: [], objects: () => [], at: () => undefined };

function partitionOf(clusterName: string): StorePartition {
  return { section: "translated", clusterName };
}

function contentFrom(wanted: OutputSet): PartitionContent {
  const byKind = new Map<string, Resource[]>();
  let isSorted = false;
  function sorted(): ReadonlyMap<string, readonly Resource[]> {
    if (!isSorted) {
      for (const [key, { resource }] of wanted.entries()) {
        const { kindKey } = splitKey(key);
        const list = byKind.get(kindKey);
        if (list === undefined) byKind.set(kindKey, [resource]);
        else list.push(resource);
      }
      isSorted = true;
    }
    return byKind;
  }
  return {
    get kinds() {
      return [...sorted().keys()];
    },
    objects: (kindKey) => sorted().get(kindKey) ?? [],
    at: (kindKey, key) => wanted.at(`${kindKey}|${key}`)?.resource,
  };
}
