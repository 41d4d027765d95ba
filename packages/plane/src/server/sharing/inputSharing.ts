import type { Clock, JsonObject, Log, Metric, Snapshot } from "@isthmus/core";
import {
  type Fence,
  isSameVersion,
  type ServerLink,
  type Store,
  type StoreArea,
  type StoreHead,
  type StoreNotice,
  type StoreOverview,
  type StoreVersion,
} from "../../ports.ts";
import { inSlices, SLICE_MS } from "../../slices.ts";
import type { SnapshotStore, ToldState } from "../snapshotStore.ts";
import { type Followed, type Loaded, loadArea, type WrittenNotice } from "./areaLoader.ts";
import { type AreaWriter, areaWriter, NO_VERSION } from "./areaWriter.ts";
import { type ClusterMeta, metaOf } from "./clusterMeta.ts";
import { earlierMoments } from "./earlierMoments.ts";
import { contentIn, inputFeed } from "./inputFeed.ts";
import { inputTexts } from "./inputTexts.ts";
import { readTurns } from "./readTurns.ts";

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
  /** Looks for what was not heard: an emptied store, another's fence, another version. Rejects with StoreError. */
  compare(): Promise<StoreOverview>;
  /** Does what is to be done for one cluster, or asks for another call when others have been read; rejects with StoreError. */
  work(clusterName: string): Promise<"done" | "later">;
  /** Who lives has changed: clusters of replicas that are gone count as without agent. */
  replicasChanged(): void;
  /** What others say of clusters that they serve. */
  readonly told: ReadonlyMap<string, ClusterMeta>;
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
  readonly heard: (clusterName: string) => void;
  readonly clock: Clock;
  readonly log: Log;
}

export function inputSharing(options: InputSharingOptions): InputSharing {
  const { store, instance, snapshots, isRegistered, areRegistrationsKnown, isAlive, leads, meta, link, wake, heard, clock, log } = options;
  const slicing = { clock, sliceMs: SLICE_MS };
  const texts = inputTexts({ snapshots, log });
  const moments = earlierMoments({ store, snapshots, texts, clock, log });
  const writers = new Map<string, AreaWriter>();
  const followed = new Map<string, Followed>();
  const told = new Map<string, ClusterMeta>();
  /** Clusters whose agents have told everything, and nothing of it is written yet: they may be gone again before it is. */
  const arrived = new Set<string>();
  /** Clusters that this replica writes, whose agent has not told everything here yet; with the version that memory has of the store. */
  const unheard = new Map<string, StoreVersion | undefined>();
  /**
   * Clusters of which memory may have what the store never had. Only what another replica has heard in whole replaces it, under
   * this fence or a higher one.
   */
  const ahead = new Map<string, number>();
  /** Clusters of which the store has an older state, with the version that is known: each is said once. */
  const returned = new Map<string, StoreVersion>();
  /** Of clusters that are being read: what was written meanwhile. */
  const reading = new Map<string, WrittenNotice[]>();
  const turns = readTurns(READERS, wake);
  /** No longer registered, and to be cleared in the store. */
  const withdrawn = new Set<string>();
  /** In the store and not registered, with the time since when: left by a registration that was deleted while nobody looked. */
  const strangers = new Map<string, number>();

  const feed = inputFeed({ names: () => writers.keys(), snapshotIn: snapshots.snapshotIn }, (clusterName, changes) => {
    const writer = writers.get(clusterName);
    if (writer === undefined) return;
    writer.mark(changes);
    wake(clusterName);
  });

  const isServed = (clusterName: string): boolean => snapshots.clusters.get(clusterName)?.isServed === true;
  const isHeard = (clusterName: string): boolean => isServed(clusterName) && snapshots.clusters.get(clusterName)?.phase === "synced";
  const isKnown = (clusterName: string): boolean => (snapshots.clusters.get(clusterName)?.phase ?? "unknown") !== "unknown";

  /** Whether this replica is to write it: its agent is here, or was, and nobody has written what it said. */
  const isOurs = (clusterName: string): boolean => isServed(clusterName) || (arrived.has(clusterName) && snapshots.remembers(clusterName));

  /**
   * Another replica has the cluster now, or nobody: this one writes nothing more of it. `fence` is the other's number; without it, one
   * above ours.
   */
  function yieldTo(clusterName: string, by: string, fence?: number): void {
    feed.advance();
    const writer = writers.get(clusterName);
    const state = writer?.followed();
    writers.delete(clusterName);
    unheard.delete(clusterName);
    feed.forget(clusterName);
    if (state === undefined) followed.delete(clusterName);
    else followed.set(clusterName, state);
    if (writer !== undefined && (state === undefined || isSameVersion(state.version, NO_VERSION)))
      ahead.set(clusterName, fence ?? writer.fence.number + 1);
    if (isServed(clusterName)) {
      log.warn({ cluster: clusterName, replica: by }, `the agent of ${clusterName} has gone to replica ${by}: its connection here ends`);
      link().disconnect(clusterName, `the agent is connected to another replica (${by})`, "Ended");
    }
    wake(clusterName);
  }

  /**
   * Whether another replica's number takes the cluster from a writer here. Numbers grow by the store's clock; a store that was emptied
   * within a millisecond, or whose clock was set back, may give one that is not higher. Then whoever serves the agent keeps the cluster.
   */
  function isDeposed(clusterName: string, writer: AreaWriter, fence: number): boolean {
    return fence >= writer.fence.number || !isServed(clusterName);
  }

  /** What an agent that is gone told this replica is not to be written any more: another replica has it, under `fence`, or may have. */
  function overtaken(clusterName: string, fence: number): void {
    if (arrived.delete(clusterName)) ahead.set(clusterName, fence);
  }

  async function claim(clusterName: string): Promise<void> {
    const fence = await store.raiseFence(fenceName(clusterName), instance, followed.get(clusterName)?.version.fence);
    // The agent may have gone meanwhile, to a replica that has raised the fence before.
    if (!isOurs(clusterName)) return;
    const options = { area: areaOf(clusterName), fence, store, content: () => feed.contentOf(clusterName), clock, log };
    writers.set(clusterName, areaWriter({ ...options, meta: () => meta(clusterName, !unheard.has(clusterName)) }));
    if (!isHeard(clusterName) && !arrived.has(clusterName)) unheard.set(clusterName, followed.get(clusterName)?.version);
    for (const known of [followed, told, arrived, ahead]) known.delete(clusterName);
  }

  async function claimed(clusterName: string): Promise<void> {
    if (isOurs(clusterName) && !writers.has(clusterName)) await claim(clusterName);
  }

  async function write(clusterName: string, writer: AreaWriter): Promise<void> {
    // Unknown is not empty: what was told of an earlier life stays until everything has been reported.
    if (!isKnown(clusterName) || !(await isWorthWriting(clusterName, writer))) return;
    if ((await writer.flush()) === "superseded" && writers.get(clusterName) === writer) yieldTo(clusterName, "unknown");
  }

  /** What the store has is newer than what is known, where this replica did not follow it and has not heard the agent out. */
  async function isWorthWriting(clusterName: string, writer: AreaWriter): Promise<boolean> {
    if (!unheard.has(clusterName) || writer.version !== undefined) return true;
    const head = await store.head(areaOf(clusterName));
    return head !== undefined && isSameVersion(head.version, unheard.get(clusterName));
  }

  async function clear(clusterName: string): Promise<void> {
    const fence = await store.raiseFence(fenceName(clusterName), instance);
    if (isRegistered(clusterName)) return;
    await store.clear(areaOf(clusterName), fence);
    withdrawn.delete(clusterName);
  }

  async function read(clusterName: string): Promise<void> {
    const buffer: WrittenNotice[] = [];
    reading.set(clusterName, buffer);
    try {
      const before = snapshots.snapshotIn(clusterName);
      const known = { kinds: followed.get(clusterName)?.kinds ?? {}, held: contentIn(before).kinds };
      const reader = { store, clock, heard: () => buffer, accepts: (head: StoreHead) => accepts(clusterName, head) };
      const loaded = await loadArea(reader, areaOf(clusterName), known);
      if (loaded === undefined || !(await take(clusterName, before, loaded))) return;
      const isCaughtUp = buffer.every((notice) => follow(clusterName, notice));
      if (!isCaughtUp) wake(clusterName);
    } finally {
      reading.delete(clusterName);
    }
  }

  async function worked(clusterName: string): Promise<"done" | "later"> {
    if (withdrawn.has(clusterName)) {
      if (!areRegistrationsKnown()) return "done";
      if (!isRegistered(clusterName)) {
        await clear(clusterName);
        return "done";
      }
      withdrawn.delete(clusterName);
    }
    if (!isRegistered(clusterName)) return "done";
    if (isServed(clusterName) && !isKnown(clusterName)) {
      await moments.find(areaOf(clusterName), () => claimed(clusterName));
      if (isHeard(clusterName)) unheard.delete(clusterName);
    }
    await claimed(clusterName);
    const writer = writers.get(clusterName);
    if (writer === undefined && !isOurs(clusterName)) return turns.take(clusterName, () => read(clusterName));
    if (writer !== undefined) await write(clusterName, writer);
    return "done";
  }

  /** After a while: another replica may hear of a registration before this one does. */
  function clearStrangers({ versions }: StoreOverview): void {
    if (!areRegistrationsKnown()) {
      strangers.clear();
      return;
    }
    for (const clusterName of strangers.keys()) {
      if (!versions.has(clusterName) || isRegistered(clusterName)) strangers.delete(clusterName);
    }
    for (const clusterName of versions.keys()) {
      if (isRegistered(clusterName)) continue;
      const since = strangers.get(clusterName) ?? clock.now();
      strangers.set(clusterName, since);
      if (leads() && clock.now() - since >= STRANGER_MS) withdrawn.add(clusterName);
    }
    for (const clusterName of withdrawn) wake(clusterName);
  }

  /** Whether a state that was written under a fence is known already, or a later one. */
  function isPast(clusterName: string, { number }: Fence): boolean {
    return number <= (followed.get(clusterName)?.version.fence ?? 0);
  }

  /** Whether what the store has may replace what is known. Where not, what is said of the cluster holds all the same. */
  function accepts(clusterName: string, head: StoreHead): boolean {
    if (isOlder(clusterName, head.version)) return false;
    const least = ahead.get(clusterName);
    if (least === undefined) return true;
    const said = metaOf(head);
    if (head.version.fence < least) return false;
    if (!said.isHeard) tell(clusterName, said, snapshots.snapshotIn(clusterName));
    return said.isHeard;
  }

  /** Whether this replica has followed the cluster beyond a version: somebody may have put back what was there before. */
  function isOlder(clusterName: string, version: StoreVersion): boolean {
    const known = followed.get(clusterName)?.version;
    if (known === undefined || isSameVersion(known, version) || !isNotAfter(version, known)) return false;
    if (returned.get(clusterName) !== known)
      log.warn({ cluster: clusterName }, `the store has an older state of ${clusterName} than is known: it is not taken`);
    returned.set(clusterName, known);
    return true;
  }

  async function take(clusterName: string, before: Snapshot, { head, whole, since }: Loaded): Promise<boolean> {
    const read = await inSlices(texts.snapshotFrom(clusterName, before, whole), slicing);
    if (snapshots.snapshotIn(clusterName) !== before) {
      // Its agent was here for a moment, or it was registered anew: what was read may be older than what is known.
      wake(clusterName);
      return false;
    }
    if (!tell(clusterName, metaOf(head), read)) return false;
    for (const delta of since) tell(clusterName, metaOf(head), texts.snapshotAfter(clusterName, delta));
    ahead.delete(clusterName);
    followed.set(clusterName, { version: head.version, kinds: head.kinds });
    return true;
  }

  /** Takes one write as it was made, where the one before it is what is known. */
  function follow(clusterName: string, { base, delta, head }: WrittenNotice): boolean {
    const known = followed.get(clusterName);
    if (known !== undefined && isNotAfter(head.version, known.version)) return true;
    if (known === undefined || delta === undefined || !isSameVersion(base, known.version)) return false;
    if (!tell(clusterName, metaOf(head), texts.snapshotAfter(clusterName, delta))) return false;
    followed.set(clusterName, { version: head.version, kinds: head.kinds });
    return true;
  }

  function tell(clusterName: string, said: ClusterMeta, now: Snapshot): boolean {
    if (!snapshots.followed(clusterName, toldBy(living(said)), now)) return false;
    told.set(clusterName, said);
    heard(clusterName);
    return true;
  }

  /** A replica that is gone cannot say that it lost the agent. */
  function living(said: ClusterMeta): ClusterMeta {
    return said.connected && !isAlive(said.servedBy) ? { ...said, connected: false, phase: "stale" } : said;
  }

  return {
    told,
    metrics: texts.metrics,
    get owned() {
      return new Set(writers.keys());
    },
    touch(clusterName) {
      if (isHeard(clusterName)) {
        unheard.delete(clusterName);
        if (!writers.has(clusterName)) arrived.add(clusterName);
      }
      wake(clusterName);
    },
    changed: feed.advance,
    forget(clusterName) {
      moments.forget(clusterName);
      const isOwned = writers.delete(clusterName);
      for (const known of [followed, told, arrived, ahead, unheard, returned]) known.delete(clusterName);
      if (!isOwned && !leads()) return;
      withdrawn.add(clusterName);
      wake(clusterName);
    },
    hear(notice) {
      if (notice.type === "missed") {
        // Another may have raised a fence unheard.
        for (const clusterName of arrived) {
          if (!isServed(clusterName)) overtaken(clusterName, (followed.get(clusterName)?.version.fence ?? 0) + 1);
        }
        return;
      }
      if (notice.type === "raised") {
        const clusterName = clusterOf(notice.fence.name);
        const writer = clusterName === undefined ? undefined : writers.get(clusterName);
        if (clusterName === undefined || notice.by === instance) return;
        if (!isServed(clusterName) && !isPast(clusterName, notice.fence)) overtaken(clusterName, notice.fence.number);
        if (writer === undefined) return;
        if (isDeposed(clusterName, writer, notice.fence.number)) yieldTo(clusterName, notice.by, notice.fence.number);
        return;
      }
      if (notice.type === "distrusted") {
        const writer = notice.area.section === "input" ? writers.get(notice.area.clusterName) : undefined;
        if (writer === undefined || !isSameVersion(writer.version, notice.version)) return;
        writer.distrust();
        return wake(notice.area.clusterName);
      }
      if ((notice.type !== "written" && notice.type !== "cleared") || notice.area.section !== "input") return;
      const { clusterName } = notice.area;
      if (notice.type === "cleared") {
        if (isPast(clusterName, notice.fence)) return;
        followed.delete(clusterName);
        const writer = writers.get(clusterName);
        if (writer !== undefined && notice.fence.number > writer.fence.number) yieldTo(clusterName, "unknown");
        return;
      }
      const writer = writers.get(clusterName);
      if (writer !== undefined) {
        const { fence } = notice.head.version;
        const { servedBy } = metaOf(notice.head);
        if (servedBy !== instance && isDeposed(clusterName, writer, fence)) yieldTo(clusterName, servedBy, fence);
        return;
      }
      const { fence: known = 0 } = followed.get(clusterName)?.version ?? {};
      if (known > 0 && notice.head.version.fence > known && !isServed(clusterName)) overtaken(clusterName, notice.head.version.fence);
      const buffer = reading.get(clusterName);
      if (buffer !== undefined) {
        if (buffer.length < MOST_BUFFERED) buffer.push(notice);
        return;
      }
      if (!follow(clusterName, notice) && notice.head.complete) wake(clusterName);
    },
    async compare() {
      const asked = new Map([...writers].map(([clusterName, writer]) => [clusterName, writer.version]));
      const overview = await store.overview("input");
      for (const [clusterName, writer] of [...writers]) {
        const version = overview.versions.get(clusterName);
        const isStill = asked.has(clusterName) && isSameVersion(asked.get(clusterName), writer.version);
        const isOther = isStill && !isSameVersion(version, writer.version);
        if ((version?.fence ?? 0) > writer.fence.number) yieldTo(clusterName, "unknown");
        else if (isOther && version !== undefined && !isServed(clusterName)) yieldTo(clusterName, "unknown", version.fence);
        else if (isOther) writer.doubt();
        if (writer.isDirty) wake(clusterName);
      }
      for (const [clusterName, version] of overview.versions) {
        if (!writers.has(clusterName) && !isSameVersion(followed.get(clusterName)?.version, version)) wake(clusterName);
      }
      clearStrangers(overview);
      return overview;
    },
    async work(clusterName) {
      turns.comes(clusterName);
      try {
        return await worked(clusterName);
      } finally {
        turns.goes();
      }
    },
    replicasChanged() {
      for (const [clusterName, said] of told) tell(clusterName, said, snapshots.snapshotIn(clusterName));
    },
  };
}

// One comes in while another is made sense of. Each of several that are read at once would have its slice of each turn, and keep all of
// its texts meanwhile.
const READERS = 2;

// More than that is written while a cluster is read: then it is read again.
const MOST_BUFFERED = 1_000;

const STRANGER_MS = 60_000;

function toldBy({ phase, connected, agent, excess }: ClusterMeta): ToldState {
  return { phase, connected, ...(agent === undefined ? {} : { agent }), ...(excess === undefined ? {} : { excess }) };
}

function areaOf(clusterName: string): StoreArea {
  return { section: "input", clusterName };
}

/** The fence of a cluster's input. */
function fenceName(clusterName: string): string {
  return `input/${clusterName}`;
}

function clusterOf(fence: string): string | undefined {
  return fence.startsWith("input/") ? fence.slice("input/".length) : undefined;
}

function isNotAfter(version: StoreVersion, known: StoreVersion): boolean {
  return version.fence < known.fence || (version.fence === known.fence && version.sequence <= known.sequence);
}
