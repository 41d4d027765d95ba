import type { Clock } from "@isthmus/core";
import {
  isSameVersion,
  type KindDigest,
  type Store,
  type StoreDelta,
  StoreError,
  type StoreHead,
  type StoreNotice,
  type StorePartition,
  type StoreVersion,
} from "@isthmus/ports";
import { isSameDigest, type KindSum, type PartitionDigests, partitionDigests } from "./digests.ts";

export type WrittenNotice = Extract<StoreNotice, { type: "written" }>;

/** What this replica has of a partition that another one writes. */
export interface FollowedPartition {
  readonly version: StoreVersion;
  readonly kinds: Readonly<Record<string, KindDigest>>;
}

/** What memory holds of a partition. */
export interface LoadedContent {
  /** Kinds that are known to be in memory as they were in the store, with their digests. */
  readonly kinds: Readonly<Record<string, KindDigest>>;
  /** All kinds of which memory has something, by key. */
  readonly held: readonly string[];
}

/** A partition as it was read: the kinds that differ from what was known, whole, and what changed of the others. */
export interface PartitionRead {
  readonly head: StoreHead;
  /** By kind key, texts by key: everything there is of these kinds. */
  readonly whole: ReadonlyMap<string, ReadonlyMap<string, string>>;
  /** What happened to the other kinds meanwhile, in order. */
  readonly since: readonly StoreDelta[];
}

export interface PartitionReader {
  readonly store: Store;
  readonly clock: Clock;
  /** What has been written since it began to read. */
  readonly received: () => readonly WrittenNotice[];
  /** Whether a state of the partition is desired. */
  readonly accepts: (head: StoreHead) => boolean;
}

/**
 * Reads the kinds of a partition that differ from what is known. While it reads, others write: `received` gives the notices that have
 * come since before it began, and together they make one state, whose digests must be those of its head. Undefined: there
 * is no such partition, or not all of it yet, or it is not desired. Rejects with StoreError when what it read makes no sense: to be tried again.
 */
export async function loadPartition(
  { store, clock, received, accepts }: PartitionReader,
  partition: StorePartition,
  known: LoadedContent,
): Promise<PartitionRead | undefined> {
  const first = await store.head(partition);
  if (first?.complete !== true || !accepts(first)) return undefined;
  const digests = partitionDigests(store, partition);
  const differing = Object.keys(first.kinds).filter((kindKey) => !isSameDigest(first.kinds[kindKey], known.kinds[kindKey]));
  const whole = new Map<string, KindTexts>();
  for (const kindKey of differing) whole.set(kindKey, await loadKind(kindKey));
  for (const kindKey of known.held) if (first.kinds[kindKey] === undefined) whole.set(kindKey, { texts: new Map(), sum: undefined });
  const last = await store.head(partition);
  if (last?.complete !== true || !accepts(last)) return undefined;
  const between = await receivedBetween(first.version, last.version, { received, clock });
  for (const delta of between) replay(whole, delta, digests);
  if (![...whole].every(([kindKey, { sum }]) => digests.agrees(kindKey, sum, last.kinds[kindKey]))) {
    // Without a write in between there is no other reason than that somebody else was at it.
    if (isSameVersion(first.version, last.version)) await store.distrust(partition, last.version);
    throw new StoreError(`${partition.section} of ${partition.clusterName} in the store does not match its head`);
  }
  const texts = new Map([...whole].map(([kindKey, kind]) => [kindKey, kind.texts] as const));
  return { head: last, whole: texts, since: between.map((delta) => without(delta, whole)) };

  async function loadKind(kindKey: string): Promise<KindTexts> {
    const kind: KindTexts = { texts: new Map(), sum: undefined };
    const most = (first?.kinds[kindKey]?.count ?? 0) + MOST_MORE;
    for await (const page of store.load(partition, kindKey)) {
      for (const { key, text, hash } of page) {
        kind.sum = digests.sumAfter(kindKey, kind.sum, { key, before: kind.texts.get(key), after: text, hash });
        kind.texts.set(key, text);
      }
      // Objects that were there once and are gone may have been restored: the digest would show it, after all of them were read.
      if (kind.texts.size > most + received().reduce((sum, { delta }) => sum + (delta?.put.length ?? 0), 0)) break;
      await clock.sleep(0);
    }
    return kind;
  }
}

/** The objects of a kind, and their sum. */
interface KindTexts {
  readonly texts: Map<string, string>;
  sum: KindSum | undefined;
}

// What is written while a kind is read, and was not received yet.
const MOST_MORE = 10_000;

/** The deltas that lead from one version to another; a notice may come later than the answer that tells of its version. */
async function receivedBetween(
  from: StoreVersion,
  to: StoreVersion,
  { received, clock }: { readonly received: () => readonly WrittenNotice[]; readonly clock: Clock },
): Promise<readonly StoreDelta[]> {
  for (let tries = 0; tries < PATIENCE; tries++) {
    const found = chain(received(), from, to);
    if (found !== undefined) return found;
    await clock.sleep(NOTICE_MS);
  }
  throw new StoreError("missed notices of writes while the store was read");
}

// A notice travels as long as an answer does, more or less.
const NOTICE_MS = 20;
const PATIENCE = 25;

/** The deltas that lead from one version to another; undefined when one is missing. */
function chain(received: readonly WrittenNotice[], from: StoreVersion, to: StoreVersion): readonly StoreDelta[] | undefined {
  const steps: StoreDelta[] = [];
  let at = from;
  for (const { base, delta, head } of received) {
    if (isSameVersion(at, to)) break;
    if (!isSameVersion(base, at)) continue;
    if (delta === undefined) return undefined;
    steps.push(delta);
    at = head.version;
  }
  return isSameVersion(at, to) ? steps : undefined;
}

function replay(whole: ReadonlyMap<string, KindTexts>, { erase, put, remove }: StoreDelta, digests: PartitionDigests): void {
  for (const kindKey of erase) {
    const kind = whole.get(kindKey);
    kind?.texts.clear();
    if (kind !== undefined) kind.sum = undefined;
  }
  for (const change of [...remove.map((gone) => ({ ...gone, text: undefined })), ...put]) {
    const { kindKey, key, text } = change;
    const kind = whole.get(kindKey);
    if (kind === undefined) continue;
    kind.sum = digests.sumAfter(kindKey, kind.sum, { key, before: kind.texts.get(key), after: text });
    if (text === undefined) kind.texts.delete(key);
    else kind.texts.set(key, text);
  }
}

function without({ erase, put, remove }: StoreDelta, whole: ReadonlyMap<string, unknown>): StoreDelta {
  const isOther = ({ kindKey }: { readonly kindKey: string }) => !whole.has(kindKey);
  return { erase: erase.filter((kindKey) => !whole.has(kindKey)), put: put.filter(isOther), remove: remove.filter(isOther) };
}
