import { randomUUID } from "node:crypto";
import { type Log, messageOf, onAbort } from "@isthmus/core";
import {
  type Fence,
  isSameVersion,
  type Store,
  type StoredText,
  StoreError,
  type StoreNotice,
  type StorePartition,
  type StoreVersion,
} from "@isthmus/ports";
import { headAfter, nextFence, PAGE } from "./partitions.ts";
import { isOutOfMemory, redisCapacity } from "./redisCapacity.ts";
import { connectRedis, type Redis, type RedisSettings, redisAddress, scriptRunner, weaknessesOf } from "./redisConnection.ts";
import { noticeReader, noticeSender, writtenTexts } from "./redisNotices.ts";
import { redisRecords } from "./redisRecords.ts";
import { CLEAR, FENCE, HEAD, OBJECT, OVERVIEW, PAGE_SCRIPT as PAGE_OF_OBJECTS, RAISE, readingForm, TELL, WRITE } from "./redisScripts.ts";
import { headOf, LONGEST, redisKeys, redisTexts, versionText } from "./redisWire.ts";
import { type RejectedEntry, rejectedEntries } from "./rejectedEntries.ts";
import { type StoreKeys, storeSeals } from "./seals.ts";

export type { RedisSettings } from "./redisConnection.ts";

export interface RedisStoreOptions {
  /** The keys, which Redis must not hold. While it rejects, so does every call with StoreError, and some seconds later they are asked for again. */
  readonly keys: () => Promise<StoreKeys>;
  /** Counts what does not count. */
  readonly refused?: (what: RejectedEntry) => void;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
  /** Whether it only reads: nothing is written, not even what Redis would be asked to clean up, and calls that write are rejected. Default: it writes. */
  readonly isReader?: boolean;
  readonly log: Log;
}

/**
 * A store in Redis 6 or later. It connects by itself, and again whenever the connection is lost; calls made meanwhile are
 * rejected at once. Nothing that it logs or throws holds a password. Whatever in Redis was not written there by who has the key counts
 * as absent.
 */
export function redisStore(settings: RedisSettings, options: RedisStoreOptions): Store {
  const { log, now = Date.now, refused = () => undefined, isReader = false } = options;
  const { prefix = "gloo-mesh:" } = settings;
  const keys = redisKeys(prefix);
  const place = redisAddress(settings);
  const refuse = rejectedEntries({ place, refused, now, log });
  /** Why there is no connection: it tells more than that a call could not be sent. */
  let problem: string | undefined;
  const told = (message: string | undefined): void => {
    problem = message;
  };
  const redis = connectRedis(settings, { purpose: "store", problem: told, log });
  const run = scriptRunner(redis);
  const subscriptions = new Set<Redis>();
  let opening: Promise<Opened> | undefined;
  let opened: Opened | undefined;
  /** After the keys could not be read: many wait for them. */
  let askAgainAt = Number.POSITIVE_INFINITY;

  function open(): Promise<Opened> {
    if (now() >= askAgainAt) [opening, askAgainAt] = [undefined, Number.POSITIVE_INFINITY];
    opening ??= options.keys().then(
      (given) => {
        const seals = storeSeals(given, prefix);
        opened = { seals, texts: redisTexts(seals), signed: noticeSender(seals) };
        return opened;
      },
      (error: unknown) => {
        askAgainAt = now() + KEYS_PAUSE_MS;
        throw new StoreError(`${place} is not used: ${messageOf(error)}`, error);
      },
    );
    return opening;
  }

  function known(): Opened {
    if (opened === undefined) throw new StoreError(`${place} has not been used yet`);
    return opened;
  }

  async function script<T>(text: string, scriptKeys: readonly string[], args: readonly (string | number)[]): Promise<T> {
    const runs = isReader ? readingForm(text) : text;
    if (runs === undefined) throw new StoreError(`${place} is open for reading only`);
    try {
      return (await run(runs, scriptKeys, args.map(String))) as T;
    } catch (error) {
      const message = messageOf(error);
      const isFull = isOutOfMemory(message);
      throw new StoreError(`${place}: ${isFull ? FULL : (problem ?? message)}`, error, { isFull });
    }
  }

  /** A fence as Redis has it; undefined for none, or what does not count. */
  function fenceIn(name: string, text: string): Fence | undefined {
    if (text === "") return undefined;
    const fence = known().texts.fenceIn(name, text);
    if (fence === undefined) refuse("fence", name);
    return fence;
  }

  function headIn(partition: StorePartition, found: readonly [string, string]) {
    const head = headOf(known().texts, partition, found);
    if (head === undefined && (found[0] !== "" || found[1] !== "")) refuse("head", nameOf(partition));
    return head;
  }

  /** Repeats what compares texts until they are what they were found to be: somebody else may have written meanwhile. */
  async function tried<T>(attempt: () => Promise<T | undefined>): Promise<T> {
    for (let tries = 0; tries < TRIES; tries++) {
      const result = await attempt();
      if (result !== undefined) return result;
    }
    throw new StoreError(`${place} changes on every write`);
  }

  async function tellDistrust(partition: StorePartition, version: StoreVersion): Promise<void> {
    if (isReader) return;
    const { signature, texts } = (await open()).signed(["distrusted", partition.section, partition.clusterName, versionText(version)]);
    await script(TELL, [keys.channel], [signature, ...texts]);
  }

  const objectsOf = (partition: StorePartition, kindKey: string) =>
    known().seals.objects([partition.section, partition.clusterName, kindKey]);

  async function textsOf(partition: StorePartition, kindKey: string, cursor: string): Promise<readonly [string, readonly string[]]> {
    const key = keys.objects(partition) + kindKey;
    const limits = [cursor, PAGE, LONGEST.key, LONGEST.object, PAGE_BYTES];
    const [next, flat, later, left] = await script<[string, string[], string[], number]>(PAGE_OF_OBJECTS, [key], limits);
    for (const name of later) flat.push(name, await script<string>(OBJECT, [key], [name, LONGEST.object]));
    if (left > 0) refuse("object", `of more than ${LONGEST.object} bytes in ${kindKey} of ${nameOf(partition)}`);
    return [next, flat];
  }

  return {
    weaknesses: weaknessesOf(settings),
    hashing: {
      hashOf: (partition, kindKey, { key, text, hash }) => hash ?? objectsOf(partition, kindKey).hashOf(key, text),
      digestOf: ({ section, clusterName }, kindKey, sum) => known().seals.digestOf([section, clusterName, kindKey], sum),
      isDigest: ({ section, clusterName }, kindKey, sum, digest) => known().seals.isDigest([section, clusterName, kindKey], sum, digest),
    },
    async overview(section) {
      const { texts } = await open();
      const limits = [randomUUID(), LONGEST.key, LONGEST.small, MOST_NAMES];
      const [id, pairs] = await script<[string, string[]]>(OVERVIEW, [keys.id, keys.versions(section)], limits);
      const versions = [...paired(pairs)].flatMap(([clusterName, text]) => {
        const version = texts.versionIn({ section, clusterName }, text);
        if (version === undefined) refuse("version", nameOf({ section, clusterName }));
        return version === undefined ? [] : [[clusterName, version] as const];
      });
      return { id, versions: new Map(versions) };
    },
    async head(partition) {
      const { texts } = await open();
      const { section, clusterName } = partition;
      const limits = [clusterName, LONGEST.small, LONGEST.head];
      const found = await script<[string, string]>(HEAD, [keys.versions(section), keys.heads(section)], limits);
      const head = headIn(partition, found);
      // Its writer compares versions alone.
      const version = head === undefined && found[0] !== "" ? texts.versionIn(partition, found[0]) : undefined;
      if (version !== undefined) await tellDistrust(partition, version);
      return head;
    },
    async *load(partition, kindKey) {
      await open();
      const objects = objectsOf(partition, kindKey);
      const seen = new Set<string>();
      let coming = textsOf(partition, kindKey, "0");
      for (let cursor: string | undefined; cursor !== "0"; ) {
        const [next, flat] = await coming;
        cursor = next;
        // Redis looks for the next page while this one is read; who wants no more does not hear that it could not.
        if (cursor !== "0") coming = textsOf(partition, kindKey, cursor);
        coming.catch(() => undefined);
        const page: StoredText[] = [];
        for (const [key, sealed] of paired(flat)) {
          // While it grows, Redis may give an entry twice.
          if (sealed === "" || seen.has(key)) continue;
          const object = objects.open(key, sealed);
          if (object === undefined) {
            refuse("object", `${key} in ${kindKey} of ${nameOf(partition)}`);
            continue;
          }
          seen.add(key);
          page.push({ key, ...object });
        }
        if (page.length > 0) yield page;
      }
    },
    async raiseFence(name, by, above = 0) {
      const { texts, signed } = await open();
      return tried(async () => {
        const [text, time] = await script<[string, string]>(FENCE, [keys.fences], [name, LONGEST.small]);
        const highest = Math.max(fenceIn(name, text)?.number ?? 0, above);
        const fence = nextFence(name, highest, believed(Number(time), now()));
        const { signature, texts: said } = signed(["raised", name, String(fence.number), by]);
        const args = [name, LONGEST.small, text, texts.fence(fence), signature, ...said];
        return (await script<number>(RAISE, [keys.fences, keys.channel], args)) === 1 ? fence : undefined;
      });
    },
    async write(write) {
      const { texts, signed, seals } = await open();
      const { partition, fence, base, delta } = write;
      const { section, clusterName } = partition;
      const put = delta.put.map(({ kindKey, key, text }) => {
        const sealed = seals.objects([section, clusterName, kindKey]).seal(key, text);
        return { kindKey, key, text: sealed };
      });
      const head = headAfter(write);
      const [told, silent] = writtenTexts({ ...write, delta: { ...delta, put } }, texts.head(partition, head));
      let fenceNow = "";
      let versionNow = base === undefined ? "" : texts.version(partition, base);
      return tried(async () => {
        const { signature, texts: said } = signed(told);
        const [outcome, found, foundHead = ""] = await script<[string, string, string?]>(
          WRITE,
          [keys.fences, keys.versions(section), keys.heads(section), keys.channel],
          [
            ...[fence.name, texts.fence(fence), fenceNow, clusterName, texts.version(partition, head.version), versionNow],
            ...[keys.objects(partition), LONGEST.small, LONGEST.head, signature, said.length],
            ...said,
            ...silent,
          ],
        );
        if (outcome === "written") return "written";
        if (outcome === "fence") {
          if ((fenceIn(fence.name, found)?.number ?? 0) > fence.number) return "superseded";
          // An older one was restored, or none of ours: this one has the right to write.
          fenceNow = found;
          return undefined;
        }
        if (!isSameVersion(headIn(partition, [found, foundHead])?.version, base)) return "changed";
        versionNow = found;
        return undefined;
      });
    },
    async clear(partition, fence) {
      const { texts, signed } = await open();
      const { section, clusterName } = partition;
      let fenceNow = "";
      return tried(async () => {
        const limits = [clusterName, LONGEST.small, LONGEST.head];
        const found = await script<[string, string]>(HEAD, [keys.versions(section), keys.heads(section)], limits);
        const kinds = Object.keys(headIn(partition, found)?.kinds ?? {});
        const { signature, texts: said } = signed(["cleared", section, clusterName, fence.name, String(fence.number)]);
        const [outcome, other = ""] = await script<[string, string?]>(
          CLEAR,
          [keys.fences, keys.versions(section), keys.heads(section), keys.channel],
          [
            ...[fence.name, texts.fence(fence), fenceNow, clusterName, LONGEST.small, keys.objects(partition), kinds.length],
            ...kinds,
            signature,
            ...said,
          ],
        );
        if (outcome === "written") return "written";
        if ((fenceIn(fence.name, other)?.number ?? 0) > fence.number) return "superseded";
        fenceNow = other;
        return undefined;
      });
    },
    async distrust(partition, version) {
      refuse("object", `among those of ${nameOf(partition)}, which do not match its head`);
      await tellDistrust(partition, version);
    },
    ...redisRecords({
      keys,
      open: async () => {
        const { texts, signed } = await open();
        return { texts, signed };
      },
      script,
      tried,
      refuse,
      now,
    }),
    async capacity() {
      try {
        return redisCapacity(await redis.info("memory"));
      } catch (error) {
        const message = messageOf(error);
        if (/^NOPERM\b/.test(message)) return { unknown: `its user may not ask for it: allow the command INFO ("+info")` };
        throw new StoreError(`${place}: ${problem ?? message}`, error);
      }
    },
    subscribe(hear, signal) {
      if (signal.aborted) return;
      const subscription = connectRedis(settings, { purpose: "changes", log });
      subscriptions.add(subscription);
      listen(subscription, hear);
      onAbort(signal, () => {
        subscriptions.delete(subscription);
        subscription.disconnect();
      });
    },
    async close() {
      for (const subscription of subscriptions) subscription.disconnect();
      // What was asked before is still answered, if Redis is there.
      await redis.quit().catch(() => redis.disconnect());
    },
  };

  function listen(subscription: Redis, hear: (notice: StoreNotice) => void): void {
    let read: ReturnType<typeof noticeReader> | undefined;
    subscription.on("ready", () => {
      open()
        .then(({ seals }) => {
          read ??= noticeReader(seals);
          return subscription.subscribe(keys.channel);
        })
        .then(
          // Only now is nothing missed any more.
          () => hear({ type: "missed" }),
          (error: unknown) => {
            log.warn({ channel: keys.channel }, `cannot subscribe: ${messageOf(error)}; reconnecting`);
            subscription.disconnect(true);
          },
        );
    });
    subscription.on("messageBuffer", (_: Buffer, message: Buffer) => {
      const notice = read?.(message);
      if (notice === undefined) refuse("notice", `on the channel ${keys.channel}`);
      else hear(notice);
    });
  }
}

/** What is there once the keys are. */
interface Opened {
  readonly seals: ReturnType<typeof storeSeals>;
  readonly texts: ReturnType<typeof redisTexts>;
  readonly signed: ReturnType<typeof noticeSender>;
}

/** Redis' clock, which is the same for all replicas; our own where that is a day off: numbers that come from it can never be undone. */
function believed(theirs: number, ours: number): number {
  return Math.abs(theirs - ours) <= DAY_MS ? theirs : ours;
}

function nameOf({ section, clusterName }: StorePartition): string {
  return `${section} of ${clusterName === "" ? "the management cluster" : clusterName}`;
}

const FULL = "it has reached its memory limit (maxmemory) and refuses to write";
const KEYS_PAUSE_MS = 2_000;
const DAY_MS = 86_400_000;
// Each try is lost to somebody else's write; an attacker may win as often as they like.
const TRIES = 8;
const PAGE_BYTES = 16 * 1_024 * 1_024;
const MOST_NAMES = 100_000;

function* paired(flat: readonly string[]): Iterable<readonly [string, string]> {
  for (let i = 0; i + 1 < flat.length; i += 2) yield [flat[i] as string, flat[i + 1] as string];
}
