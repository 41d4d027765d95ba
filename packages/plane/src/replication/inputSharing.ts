import { type Clock, type JsonObject, type Log, type Metric, type Snapshot, uptimeOf } from "@isthmus/core";
import type { Fence, ServerLink, Store, StoreHead, StoreNotice, StoreOverview, StorePartition } from "@isthmus/ports";
import { runTimeSliced, SLICE_MS } from "../runtime/timeSlices.ts";
import type { ReplicatedState, SnapshotStore } from "../snapshots/snapshotStore.ts";
import { type ClusterMeta, metaOf } from "./clusterMeta.ts";
import {
  type ClusterShare,
  type ClusterView,
  isNewShare,
  isReportComplete,
  NEW_SHARE,
  NO_REPLICA,
  type ShareEffect,
  type ShareEvent,
  type ShareTask,
} from "./clusterShare.ts";
import { earlierFirstSeen } from "./earlierFirstSeen.ts";
import { acceptsHead } from "./followerShare.ts";
import { contentIn, inputFeed } from "./inputFeed.ts";
import { inputTexts } from "./inputTexts.ts";
import { loadPartition } from "./partitionLoader.ts";
import { type PartitionWriter, partitionWriter } from "./partitionWriter.ts";
import { readSlots } from "./readSlots.ts";
import { stepShare } from "./shareStep.ts";

/**
 * Shares what agents report: the replica that an agent is connected to holds the fence of its cluster and writes what it
 * hears; all others follow.
 */
export interface InputSharing {
  /** Something is to be done for a cluster: its agent came or went, it was registered, what is said of it changed. */
  touch(clusterName: string): void;
  /** What was reported may have changed. */
  changed(): void;
  /** The cluster is no longer registered: nothing of it stays in the store. */
  forget(clusterName: string): void;
  hear(notice: StoreNotice): void;
  /** Looks for what was not received: an emptied store, another's fence, another version. Rejects with StoreError. */
  compare(): Promise<StoreOverview>;
  /** Does what is to be done for one cluster, or asks for another call when others have been read; rejects with StoreError. */
  work(clusterName: string): Promise<"done" | "later">;
  /** Who lives has changed: clusters of replicas that are gone count as without agent. */
  replicasChanged(): void;
  /** What others say of clusters that they serve. */
  readonly reported: ReadonlyMap<string, ClusterMeta>;
  /** What of the store was refused. */
  metrics(): readonly Metric[];
  /** Clusters that this replica writes. */
  readonly owned: ReadonlySet<string>;
}

export interface InputSharingOptions {
  readonly store: Store;
  /** Names this replica among all that run or ran. */
  readonly instance: string;
  readonly snapshots: SnapshotStore;
  readonly isRegistered: (clusterName: string) => boolean;
  /** Whether all registrations are known: before, one that is not seen may be there all the same. */
  readonly areRegistrationsKnown: () => boolean;
  readonly isAlive: (instance: string) => boolean;
  /** Whether this replica clears what no other will. */
  readonly leads: () => boolean;
  /** What is to be said of a cluster whose agent is, or was last, connected here. */
  readonly meta: (clusterName: string, isHeard: boolean) => JsonObject;
  readonly link: () => ServerLink;
  /** Asks for a call of `work`. */
  readonly wake: (clusterName: string) => void;
  /** Another replica said something of a cluster. */
  readonly onReport: (clusterName: string) => void;
  /** The same of a cluster whose agent has come here before that was read: it is written over after this call. */
  readonly onEarlierReport: (clusterName: string, said: ClusterMeta) => void;
  readonly clock: Clock;
  readonly log: Log;
}

/** Drives the shares of all clusters (`stepShare`): tells them what happens, and carries out what they ask for. */
export function inputSharing(options: InputSharingOptions): InputSharing {
  const {
    store,
    instance,
    snapshots,
    isRegistered,
    areRegistrationsKnown,
    isAlive,
    leads,
    meta,
    link,
    wake,
    onReport,
    onEarlierReport,
    clock,
    log,
  } = options;
  const texts = inputTexts({ snapshots, log });
  const moments = earlierFirstSeen({
    store,
    snapshots,
    texts,
    onHead: (clusterName, head) => onEarlierReport(clusterName, metaOf(head)),
    clock,
    log,
  });
  /** A cluster that is not in it has a `NEW_SHARE`. */
  const shares = new Map<string, ClusterShare>();
  /** Of the clusters whose shares are owners. */
  const writers = new Map<string, PartitionWriter>();
  /** What the shares know of clusters that other replicas serve. */
  const told = new Map<string, ClusterMeta>();
  const slots = readSlots(READERS, wake);

  const feed = inputFeed({ names: () => writers.keys(), snapshotIn: snapshots.snapshotIn }, (clusterName, changes) => {
    const writer = writers.get(clusterName);
    if (writer === undefined) return;
    writer.mark(changes);
    wake(clusterName);
  });

  const shareOf = (clusterName: string): ClusterShare => shares.get(clusterName) ?? NEW_SHARE;

  function viewOf(clusterName: string): ClusterView {
    const { isServed = false, phase = "unknown" } = snapshots.clusters.get(clusterName) ?? {};
    return {
      isRegistered: isRegistered(clusterName),
      areRegistrationsKnown: areRegistrationsKnown(),
      leads: leads(),
      isServed,
      isSynced: isServed && phase === "synced",
      isKnown: phase !== "unknown",
      remembers: snapshots.remembers(clusterName),
      writerVersion: writers.get(clusterName)?.version,
    };
  }

  function keep(clusterName: string, share: ClusterShare): void {
    if (isNewShare(share)) shares.delete(clusterName);
    else shares.set(clusterName, share);
    const known = "meta" in share ? share.meta : undefined;
    if (known === undefined) told.delete(clusterName);
    else if (told.get(clusterName) !== known) told.set(clusterName, known);
  }

  /** Does at once what comes of an event, and gives the task that is to be started. */
  function dispatch(clusterName: string, event: ShareEvent): ShareTask | undefined {
    const [next, effects] = stepShare(shareOf(clusterName), event, viewOf(clusterName));
    keep(clusterName, next);
    let task: ShareTask | undefined;
    for (const effect of effects) {
      if (effect.type === "start") task = effect.task;
      else carryOut(clusterName, effect);
    }
    return task;
  }

  function carryOut(clusterName: string, effect: Exclude<ShareEffect, { readonly type: "start" }>): void {
    switch (effect.type) {
      case "wake":
        wake(clusterName);
        break;
      case "openWriter":
        writers.set(clusterName, writerOf(clusterName, effect.fence));
        break;
      case "closeWriter":
        close(clusterName);
        break;
      case "release": {
        feed.advance();
        const followed = writers.get(clusterName)?.followed();
        close(clusterName);
        dispatch(clusterName, { type: "released", followed });
        break;
      }
      case "doubt":
        writers.get(clusterName)?.doubt();
        break;
      case "distrust":
        writers.get(clusterName)?.distrust();
        break;
      case "disconnect":
        disconnect(clusterName, effect.to);
        break;
      case "logOlderState":
        log.warn({ cluster: clusterName }, `the store has an older state of ${clusterName} than this replica: ignoring it`);
        break;
      case "publishMeta":
        publish(clusterName, effect.meta, snapshots.snapshotIn(clusterName));
        break;
      case "publishContent":
        publish(clusterName, effect.meta, effect.content);
        break;
      case "publishDelta":
        publish(clusterName, effect.meta, texts.snapshotAfter(clusterName, effect.delta));
        break;
    }
  }

  function writerOf(clusterName: string, fence: Fence): PartitionWriter {
    const said = () => meta(clusterName, isReportComplete(shareOf(clusterName)));
    const content = () => feed.contentOf(clusterName);
    return partitionWriter({ partition: partitionOf(clusterName), fence, store, content, meta: said, clock, log });
  }

  function close(clusterName: string): void {
    writers.delete(clusterName);
    feed.forget(clusterName);
  }

  function disconnect(clusterName: string, to: string): void {
    log.warn(
      { cluster: clusterName, replica: to },
      `the agent of ${clusterName} has connected to replica ${to}: closing its connection here`,
    );
    link().disconnect(clusterName, `the agent is connected to another replica (${to})`, "Ended");
  }

  function publish(clusterName: string, said: ClusterMeta, now: Snapshot): void {
    if (snapshots.followed(clusterName, toldBy(living(said)), now)) onReport(clusterName);
  }

  /** A replica that is gone cannot say that it lost the agent. */
  function living(said: ClusterMeta): ClusterMeta {
    return said.connected && !isAlive(said.servedBy) ? { ...said, connected: false, phase: "stale" } : said;
  }

  /** Dispatches an event, and continues until there is nothing to be started any more. Rejects with StoreError. */
  async function run(clusterName: string, event: ShareEvent): Promise<"done" | "later"> {
    const task = dispatch(clusterName, event);
    return task === undefined ? "done" : perform(clusterName, task);
  }

  // Answers are dispatched in the moment in which they come: what they are judged by is of that moment.
  async function perform(clusterName: string, task: ShareTask): Promise<"done" | "later"> {
    const partition = partitionOf(clusterName);
    switch (task.type) {
      case "raiseFence": {
        const by = task.purpose === "surpass" ? NO_REPLICA : instance;
        if (by === NO_REPLICA)
          log.warn({ cluster: clusterName }, `raising the fence of ${clusterName} above the state that this replica has`);
        const fence = await store.raiseFence(fenceName(clusterName), by, task.above);
        return run(clusterName, { type: "fenceGranted", fence, purpose: task.purpose });
      }
      case "findAges":
        await moments.find(partition, async () => void (await run(clusterName, { type: "claim" })));
        return run(clusterName, { type: "agesFound" });
      case "findVersion": {
        const head = await store.head(partition);
        return run(clusterName, { type: "versionFound", version: head?.version });
      }
      case "flush": {
        const outcome = (await writers.get(clusterName)?.flush()) ?? "written";
        return run(clusterName, { type: "flushed", fence: task.fence, outcome });
      }
      case "clear":
        await store.clear(partition, task.fence);
        return run(clusterName, { type: "partitionCleared" });
      case "queueRead":
        return slots.take(clusterName, async () => void (await run(clusterName, { type: "read" })));
      case "load":
        return load(clusterName, task.known);
    }
  }

  async function load(clusterName: string, kinds: Extract<ShareTask, { type: "load" }>["known"]): Promise<"done" | "later"> {
    const before = snapshots.snapshotIn(clusterName);
    const reading = () => {
      const share = shareOf(clusterName);
      return share.type === "reading" ? share : undefined;
    };
    const accepts = (head: StoreHead): boolean => {
      const share = reading();
      dispatch(clusterName, { type: "headFound", head });
      return share !== undefined && acceptsHead(share, head);
    };
    try {
      const reader = { store, clock, received: () => reading()?.written ?? [], accepts };
      const loaded = await loadPartition(reader, partitionOf(clusterName), { kinds, held: contentIn(before).kinds });
      if (loaded === undefined) return run(clusterName, { type: "readEnded" });
      const { head, whole, since } = loaded;
      const content = await runTimeSliced(texts.snapshotFrom(clusterName, before, whole), { clock, sliceMs: SLICE_MS });
      const isOvertaken = snapshots.snapshotIn(clusterName) !== before;
      return run(clusterName, { type: "loaded", head, content, since, isOvertaken });
    } catch (error) {
      dispatch(clusterName, { type: "readEnded" });
      throw error;
    }
  }

  function hearOfPartition(notice: Extract<StoreNotice, { readonly partition: StorePartition }>): void {
    const { section, clusterName } = notice.partition;
    if (section !== "input") return;
    if (notice.type === "distrusted") dispatch(clusterName, { type: "distrusted", version: notice.version });
    else if (notice.type === "cleared") dispatch(clusterName, { type: "cleared", fence: notice.fence.number });
    else dispatch(clusterName, { type: "written", notice, isOwn: metaOf(notice.head).servedBy === instance });
  }

  return {
    reported: told,
    metrics: texts.metrics,
    get owned() {
      return new Set(writers.keys());
    },
    touch: (clusterName) => void dispatch(clusterName, { type: "touched" }),
    changed: feed.advance,
    forget(clusterName) {
      moments.forget(clusterName);
      dispatch(clusterName, { type: "forgotten" });
    },
    hear(notice) {
      if (notice.type === "missed") {
        for (const clusterName of [...shares.keys()]) dispatch(clusterName, { type: "missed" });
      } else if (notice.type === "raised") {
        const { fence, by } = notice;
        const clusterName = clusterOf(fence.name);
        if (clusterName !== undefined && by !== instance) dispatch(clusterName, { type: "raised", fence: fence.number, by });
      } else if (notice.type !== "recorded") hearOfPartition(notice);
    },
    async compare() {
      const asked = new Map([...writers].map(([clusterName, { version }]) => [clusterName, { version }]));
      const overview = await store.overview("input");
      const now = uptimeOf(clock);
      for (const clusterName of new Set([...shares.keys(), ...overview.versions.keys()])) {
        const isDirty = writers.get(clusterName)?.isDirty === true;
        const version = overview.versions.get(clusterName);
        dispatch(clusterName, { type: "compared", version, asked: asked.get(clusterName), isDirty, now });
      }
      return overview;
    },
    async work(clusterName) {
      slots.started(clusterName);
      try {
        return await run(clusterName, { type: "work" });
      } finally {
        slots.finished();
      }
    },
    replicasChanged() {
      for (const clusterName of [...told.keys()]) dispatch(clusterName, { type: "replicasChanged" });
    },
  };
}

// One comes in while another is made sense of. Each of several that are read at once would have its slice of each turn, and keep all of
// its texts meanwhile.
const READERS = 2;

function toldBy({ phase, connected, agent, excess }: ClusterMeta): ReplicatedState {
  return { phase, connected, ...(agent === undefined ? {} : { agent }), ...(excess === undefined ? {} : { excess }) };
}

function partitionOf(clusterName: string): StorePartition {
  return { section: "input", clusterName };
}

/** The fence of a cluster's input. */
function fenceName(clusterName: string): string {
  return `input/${clusterName}`;
}

function clusterOf(fence: string): string | undefined {
  return fence.startsWith("input/") ? fence.slice("input/".length) : undefined;
}
