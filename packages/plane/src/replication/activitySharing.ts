import { type Clock, keyOfResource, kindKeyOf, type Log, messageOf, type Resource } from "@isthmus/core";
import { isSameVersion, type Store, StoreError, type StoreNotice } from "@isthmus/ports";
import { activityContent, activityObjects, type ClusterActivity } from "./clusterActivity.ts";
import { type PartitionWriter, partitionWriter } from "./partitionWriter.ts";

/** Keeps activity of clusters in the store, for those who look at a fleet. No server reads them there. */
export interface ActivitySharing {
  readonly ended: Promise<void>;
}

export interface ActivitySharingOptions {
  readonly store: Store;
  /** Names this replica among all that run or ran. */
  readonly instance: string;
  /** Of clusters whose agents have answered this replica lately. */
  readonly activity: () => readonly ClusterActivity[];
  /** Undefined while that is not known. */
  readonly isRegistered: (clusterName: string) => boolean | undefined;
  /** How often they are written, in milliseconds. Default: once a minute. */
  readonly everyMs?: number;
  readonly clock: Clock;
  readonly log: Log;
}

/** A cluster whose activity this replica writes. */
interface Written {
  readonly writer: PartitionWriter;
  objects: readonly Resource[];
  at: number;
}

/**
 * Writes until the signal is aborted; nothing waits for it. Each replica writes the activity of the clusters whose agents answer it: it takes over with the fence of the cluster,
 * and writes no more once another replica has. What nobody writes any more stays as it is, with its time, until its cluster is no longer registered.
 */
export function startActivitySharing(options: ActivitySharingOptions, signal: AbortSignal): ActivitySharing {
  const { store, instance, clock, log, everyMs = EVERY_MS } = options;
  const writers = new Map<string, Written>();

  async function begin(clusterName: string): Promise<Written> {
    const fence = await store.raiseFence(fenceOf(clusterName), instance);
    const made: Written = {
      objects: [],
      at: 0,
      writer: partitionWriter({
        partition: { section: SECTION, clusterName },
        fence,
        store,
        content: () => activityContent(made.objects, keyOfResource),
        meta: () => ({ writtenBy: instance }),
        clock,
        log,
      }),
    };
    writers.set(clusterName, made);
    return made;
  }

  async function write(activity: ClusterActivity): Promise<void> {
    const { clusterName, at } = activity;
    const one = writers.get(clusterName) ?? (await begin(clusterName));
    if (one.at === at && !one.writer.isDirty) return;
    const before = one.objects;
    one.objects = activityObjects(activity);
    one.at = at;
    one.writer.mark(changesBetween(before, one.objects));
    if ((await one.writer.flush()) === "superseded") writers.delete(clusterName);
  }

  /** Drops what is left of clusters that are gone. */
  async function clear(): Promise<void> {
    const { versions } = await store.overview(SECTION);
    for (const clusterName of versions.keys()) {
      if (options.isRegistered(clusterName) !== false) continue;
      writers.delete(clusterName);
      await store.clear({ section: SECTION, clusterName }, await store.raiseFence(fenceOf(clusterName), instance));
    }
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      let pauseMs = everyMs;
      try {
        const all = options.activity();
        const names = new Set(all.map(({ clusterName }) => clusterName));
        // Another replica may have its agent now: who has it again takes over again.
        for (const name of writers.keys()) if (!names.has(name)) writers.delete(name);
        for (const activity of all) await write(activity);
        await clear();
      } catch (error) {
        // Sharing reports a store that cannot be reached.
        if (!(error instanceof StoreError)) throw error;
        pauseMs = Math.min(everyMs, RETRY_MS);
        log.debug({ instance }, `cannot write activity of clusters: ${messageOf(error)}; retrying`);
      }
      await clock.sleep(pauseMs, signal).catch(() => undefined);
    }
  }

  function hear(notice: StoreNotice): void {
    if (notice.type === "missed") for (const { writer } of writers.values()) writer.doubt();
    if (notice.type !== "distrusted" || notice.partition.section !== SECTION) return;
    const writer = writers.get(notice.partition.clusterName)?.writer;
    if (isSameVersion(writer?.version, notice.version)) writer?.distrust();
  }

  store.subscribe(hear, signal);
  return { ended: run() };
}

const SECTION = "activity";
const EVERY_MS = 60_000;
// A store is reached a moment after the server starts.
const RETRY_MS = 5_000;

function fenceOf(clusterName: string): string {
  return `${SECTION}/${clusterName}`;
}

function changesBetween(before: readonly Resource[], after: readonly Resource[]) {
  const nameOf = (resource: Resource) => `${kindKeyOf(resource)}|${keyOfResource(resource)}`;
  const older = new Map(before.map((resource) => [nameOf(resource), resource]));
  return [...new Map([...before, ...after].map((resource) => [nameOf(resource), resource])).values()].map((resource) => ({
    kindKey: kindKeyOf(resource),
    key: keyOfResource(resource),
    before: older.get(nameOf(resource)),
  }));
}
