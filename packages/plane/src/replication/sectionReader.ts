import {
  type AnyResource,
  type Clock,
  emptySnapshot,
  type JsonObject,
  type Kind,
  type Log,
  messageOf,
  type Resource,
  type Snapshot,
} from "@isthmus/core";
import {
  isSameVersion,
  type KindDigest,
  type Store,
  StoreError,
  type StoreNotice,
  type StoreSection,
  type StoreVersion,
} from "@isthmus/ports";
import { runTimeSliced, SLICE_MS } from "../runtime/timeSlices.ts";
import { isNotAfter } from "./clusterShare.ts";
import { type InputTexts, inputTexts } from "./inputTexts.ts";
import { loadPartition, type WrittenNotice } from "./partitionLoader.ts";
import { hasRoomFor } from "./receivedNotices.ts";

/** What the store has of one cluster, as it was when it was whole last. */
export interface FollowedContent {
  readonly snapshot: Snapshot;
  /** What its writer says besides. */
  readonly meta: JsonObject;
  /** When this reader last took something of it, in milliseconds since 1970; undefined: it was there before the reader began. */
  readonly changedAt: number | undefined;
}

/** Follows a section of the store and writes nothing: for those who look at a fleet, whether or not a server runs. */
export interface SectionReader {
  /** By cluster. What could be read once stays, whatever becomes of the store, until its writer clears it. */
  readonly contents: ReadonlyMap<string, FollowedContent>;
  /** What keeps single clusters from being read, as sentences. */
  readonly problems: readonly string[];
  /** Takes what was written since the last call, which has to have ended. Rejects with StoreError when the store does not answer. */
  update(signal: AbortSignal): Promise<void>;
}

export interface SectionReaderOptions {
  readonly store: Store;
  readonly section: StoreSection;
  /** Whether a kind (`kindKeyOf`) belongs there. Default: all do. */
  readonly isReported?: (kindKey: string) => boolean;
  /** The kind of an object; undefined: it is left out. Default: objects are taken as they are. */
  readonly kindOf?: (apiVersion: string, kind: string) => Kind | undefined;
  /** Whether an object may be in the partition of a cluster. Default: it is of that cluster. */
  readonly isIn?: (resource: Resource, clusterName: string) => boolean;
  /** How often it is looked whether something was missed, in milliseconds. Default: every five seconds. */
  readonly compareMs?: number;
  readonly clock: Clock;
  readonly log: Log;
}

interface Followed extends FollowedContent {
  readonly version: StoreVersion;
  readonly kinds: Readonly<Record<string, KindDigest>>;
}

/** Listens to the store until the signal is aborted. Signatures and digests are checked as replicas do. */
export function sectionReader(options: SectionReaderOptions, signal: AbortSignal): SectionReader {
  const { section, clock, log, compareMs = COMPARE_MS } = options;
  // Who finds something wrong tells its writer; a reader tells nobody.
  const store: Store = { ...options.store, distrust: async () => undefined };
  const known = new Map<string, Followed>();
  const pending = new Map<string, WrittenNotice[]>();
  const dirty = new Set<string>();
  const failures = new Map<string, string>();
  let id: string | undefined;
  let compareDue = 0;
  let isFirst = true;

  const texts: InputTexts = inputTexts({
    snapshots: {
      snapshotIn: (clusterName) => known.get(clusterName)?.snapshot ?? emptySnapshot(),
      isReported: options.isReported ?? (() => true),
      parsed: (clusterName, resource) => parsed(clusterName, resource),
    },
    ...(options.isIn === undefined ? {} : { isIn: options.isIn }),
    log,
  });

  function parsed(clusterName: string, resource: Resource): Resource | undefined {
    if (options.kindOf === undefined) return resource;
    try {
      return options.kindOf(resource.apiVersion, resource.kind)?.parse(resource as AnyResource);
    } catch (error) {
      log.debug({ cluster: clusterName }, `${messageOf(error)}; it is left out`);
      return undefined;
    }
  }

  function hear(notice: StoreNotice): void {
    if (notice.type === "missed") compareDue = 0;
    if (!("partition" in notice) || notice.partition.section !== section) return;
    const { clusterName } = notice.partition;
    if (notice.type === "cleared") forget(clusterName);
    if (notice.type !== "written") return;
    const heard = pending.get(clusterName) ?? [];
    pending.set(clusterName, heard);
    if (hasRoomFor(notice, heard)) heard.push(notice);
    else dirty.add(clusterName);
  }

  function forget(clusterName: string): void {
    for (const map of [known, pending, failures]) map.delete(clusterName);
    dirty.delete(clusterName);
  }

  async function compare(): Promise<void> {
    const overview = await store.overview(section);
    // An empty store has no id before somebody writes.
    const isOther = id !== undefined && id !== "" && overview.id !== id;
    if (isOther) log.warn({}, `the store has lost what it held of ${section}: showing what was known before until it is written again`);
    id = overview.id;
    for (const [clusterName, version] of overview.versions) {
      const before = known.get(clusterName);
      if (isSameVersion(before?.version, version)) {
        failures.delete(clusterName);
        continue;
      }
      const isOlder = before !== undefined && !isOther && isNotAfter(version, before.version);
      if (isOlder) failures.set(clusterName, `the store has an older state of ${section} of ${nameOf(clusterName)} than was read before`);
      else dirty.add(clusterName);
    }
    for (const clusterName of known.keys()) {
      if (!overview.versions.has(clusterName)) failures.set(clusterName, `the store no longer has ${section} of ${nameOf(clusterName)}`);
    }
    compareDue = clock.now() + compareMs;
  }

  async function load(clusterName: string, until: AbortSignal): Promise<void> {
    const before = known.get(clusterName);
    const heard = pending.get(clusterName) ?? [];
    pending.set(clusterName, heard);
    const reader = { store, clock, received: () => heard, accepts: () => true };
    const held = [...(before?.snapshot.collections().keys() ?? [])];
    const found = await loadPartition(reader, { section, clusterName }, { kinds: before?.kinds ?? {}, held });
    // Its writer is about to say all of it: what is known stays until then.
    if (found === undefined) return;
    const { head, whole, since } = found;
    const steps = texts.snapshotFrom(clusterName, before?.snapshot ?? emptySnapshot(), whole);
    const snapshot = await runTimeSliced(steps, { clock, sliceMs: SLICE_MS }, until);
    take(clusterName, { snapshot, version: head.version, kinds: head.kinds, meta: head.meta });
    for (const delta of since) take(clusterName, { ...head, snapshot: texts.snapshotAfter(clusterName, delta) });
    failures.delete(clusterName);
  }

  function take(clusterName: string, { snapshot, version, kinds, meta }: Omit<Followed, "changedAt">): void {
    known.set(clusterName, { snapshot, version, kinds, meta, changedAt: isFirst ? undefined : clock.now() });
  }

  /** Follows the writes that were heard of, as long as each builds on what is known. */
  function follow(clusterName: string): void {
    for (const { base, head, delta } of pending.get(clusterName)?.splice(0) ?? []) {
      const before = known.get(clusterName);
      if (before !== undefined && isNotAfter(head.version, before.version)) continue;
      if (before === undefined || delta === undefined || !isSameVersion(base, before.version)) dirty.add(clusterName);
      else take(clusterName, { ...head, snapshot: texts.snapshotAfter(clusterName, delta) });
    }
  }

  options.store.subscribe(hear, signal);

  return {
    contents: known,
    get problems() {
      return [...failures].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, problem]) => problem);
    },
    async update(until) {
      if (clock.now() >= compareDue) await compare();
      for (const clusterName of pending.keys()) follow(clusterName);
      for (const clusterName of [...dirty].sort()) {
        dirty.delete(clusterName);
        try {
          await load(clusterName, until);
        } catch (error) {
          until.throwIfAborted();
          if (!(error instanceof StoreError)) throw error;
          // The others are read all the same; this one again when all are compared.
          failures.set(clusterName, error.message);
        }
        follow(clusterName);
      }
      isFirst = false;
    },
  };
}

function nameOf(clusterName: string): string {
  return clusterName === "" ? "the management cluster" : clusterName;
}

const COMPARE_MS = 5_000;
