import { createHash, randomUUID } from "node:crypto";
import { messageOf, onAbort } from "@isthmus/core";
import {
  type Log,
  type Store,
  type StoredText,
  StoreError,
  type StoreHead,
  type StoreNotice,
  type StoreWriteOutcome,
} from "@isthmus/plane/ports";
import { Redis } from "ioredis";
import { PAGE } from "./areas.ts";
import { CLEAR, EXCHANGE_RECORD, OVERVIEW, PUT_RECORD, RAISE, RECORDS, REMOVE_RECORD, WRITE } from "./redisScripts.ts";
import { fenceFrom, noticeFrom, redisKeys, versionFrom, writeArguments } from "./redisWire.ts";

export interface RedisSettings {
  readonly host: string;
  readonly port: number;
  /** Number of the database. Default: 0. */
  readonly db?: number;
  /** With Redis' access control lists. */
  readonly username?: string;
  readonly password?: string;
  /** TLS, where it is present. `ca`: PEM of who signed Redis' certificate; default: what Node trusts. */
  readonly tls?: { readonly ca?: string; readonly serverName?: string };
  /** What all keys begin with. Default: `gloo-mesh:`. */
  readonly prefix?: string;
  /** How long a call may take, in ms. Default: 3000. */
  readonly timeoutMs?: number;
}

/**
 * A store in Redis 6 or later. It connects by itself, and again whenever the connection is lost; calls made meanwhile are
 * rejected at once. Nothing that it logs or throws holds a password.
 */
export function redisStore(settings: RedisSettings, { log }: { readonly log: Log }): Store {
  const { host, port, db = 0, username, password, tls, prefix = "gloo-mesh:", timeoutMs = 3_000 } = settings;
  const keys = redisKeys(prefix);
  const place = `Redis at ${host}:${port}`;
  const shas = new Map<string, string>();

  function connect(purpose: string): Redis {
    const redis = new Redis({
      host,
      port,
      db,
      ...(username === undefined ? {} : { username }),
      ...(password === undefined ? {} : { password }),
      ...(tls === undefined
        ? {}
        : {
            tls: {
              ...(tls.ca === undefined ? {} : { ca: tls.ca }),
              ...(tls.serverName === undefined ? {} : { servername: tls.serverName }),
            },
          }),
      connectTimeout: 5_000,
      commandTimeout: timeoutMs,
      // Whoever calls has its own rule for trying again: what waits here would only be late.
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      autoResubscribe: false,
      retryStrategy: (attempt) => Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(attempt, 20)),
    });
    let told = "";
    redis.on("error", (error: Error) => {
      const message = messageOf(error);
      if (message !== told) log.warn({ purpose }, `${place}: ${message}; connecting again`);
      told = message;
    });
    redis.on("ready", () => {
      told = "";
      log.info({ purpose }, `connected to ${place}`);
    });
    return redis;
  }

  const redis = connect("store");
  const subscriptions = new Set<Redis>();

  async function answered<T>(call: Promise<T>): Promise<T> {
    try {
      return await call;
    } catch (error) {
      throw new StoreError(`${place}: ${messageOf(error)}`, error);
    }
  }

  /** Runs a script, by its hash where Redis knows it already. */
  async function run(script: string, scriptKeys: readonly string[], args: readonly string[]): Promise<unknown> {
    let sha = shas.get(script);
    if (sha === undefined) {
      sha = createHash("sha1").update(script).digest("hex");
      shas.set(script, sha);
    }
    try {
      return await redis.evalsha(sha, scriptKeys.length, ...scriptKeys, ...args);
    } catch (error) {
      if (!messageOf(error).startsWith("NOSCRIPT")) throw error;
      return redis.eval(script, scriptKeys.length, ...scriptKeys, ...args);
    }
  }

  const script = <T>(text: string, scriptKeys: readonly string[], args: readonly string[]): Promise<T> =>
    answered(run(text, scriptKeys, args)) as Promise<T>;

  return {
    async overview(section) {
      const [id, pairs] = await script<[string, string[]]>(OVERVIEW, [keys.id, keys.versions(section)], [randomUUID()]);
      const versions = [...paired(pairs)].flatMap(([clusterName, text]) => {
        const version = versionFrom(text);
        return version === undefined ? [] : [[clusterName, version] as const];
      });
      return { id, versions: new Map(versions) };
    },
    async head({ section, clusterName }) {
      return answered(
        redis.hget(keys.heads(section), clusterName).then((text) => (text === null ? undefined : (JSON.parse(text) as StoreHead))),
      );
    },
    async *load(area, kindKey) {
      const seen = new Set<string>();
      const pageAt = (cursor: string) => answered(redis.hscan(keys.objects(area) + kindKey, cursor, "COUNT", PAGE));
      let coming = pageAt("0");
      for (let cursor: string | undefined; cursor !== "0"; ) {
        const [next, flat] = await coming;
        cursor = next;
        // Redis looks for the next page while this one is read; who wants no more does not hear that it could not.
        if (cursor !== "0") coming = pageAt(cursor);
        coming.catch(() => undefined);
        // While it grows, Redis may give an entry twice.
        const page = [...paired(flat)].filter(([key]) => !seen.has(key));
        for (const [key] of page) seen.add(key);
        if (page.length > 0) yield page.map(([key, text]): StoredText => ({ key, text }));
      }
    },
    async raiseFence(name, by) {
      return fenceFrom(name, await script<string>(RAISE, [keys.fences, keys.channel], ["raised", name, by]));
    },
    write(write) {
      const { section } = write.area;
      const written = [keys.fences, keys.versions(section), keys.heads(section), keys.channel];
      return script<StoreWriteOutcome>(WRITE, written, writeArguments(write, keys));
    },
    clear(area, fence) {
      const { section, clusterName } = area;
      const cleared = [keys.fences, keys.versions(section), keys.heads(section), keys.channel];
      return script(CLEAR, cleared, ["cleared", fence.name, String(fence.number), section, clusterName, keys.objects(area)]);
    },
    async record(group, name) {
      return (await answered(redis.get(keys.record(group) + name))) ?? undefined;
    },
    async records(group) {
      return new Map(paired(await script<string[]>(RECORDS, [keys.records(group)], [keys.record(group)])));
    },
    async putRecord(group, name, value, { ttlMs, ifAbsent = false } = {}) {
      const life = ttlMs === undefined ? "" : String(Math.ceil(ttlMs));
      const args = ["recorded", group, name, value, life, ifAbsent ? "NX" : ""];
      return (await script<number>(PUT_RECORD, [keys.record(group) + name, keys.records(group), keys.channel], args)) === 1;
    },
    async removeRecord(group, name) {
      const removed = [keys.record(group) + name, keys.records(group), keys.channel];
      return (await script<number>(REMOVE_RECORD, removed, ["recorded", group, name])) === 1;
    },
    async exchangeRecord(group, name, { from, to }) {
      const exchanged = [keys.record(group) + name, keys.records(group), keys.channel];
      const optional = (value: string | undefined) => (value === undefined ? ["", ""] : ["1", value]);
      return (await script<number>(EXCHANGE_RECORD, exchanged, ["recorded", group, name, ...optional(from), ...optional(to)])) === 1;
    },
    subscribe(hear, signal) {
      if (signal.aborted) return;
      const subscription = connect("changes");
      subscriptions.add(subscription);
      listen({ subscription, channel: keys.channel, hear, log });
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
}

// Those of the published chart are 8 and 512 ms; a Redis that is away for minutes need not be asked twice a second.
const FIRST_RETRY_MS = 8;
const LAST_RETRY_MS = 2_000;

function listen({
  subscription,
  channel,
  hear,
  log,
}: {
  readonly subscription: Redis;
  readonly channel: string;
  readonly hear: (notice: StoreNotice) => void;
  readonly log: Log;
}): void {
  subscription.on("ready", () => {
    subscription.subscribe(channel).then(
      // Only now is nothing missed any more.
      () => hear({ type: "missed" }),
      (error: unknown) => {
        log.warn({ channel }, `cannot subscribe: ${messageOf(error)}; connecting again`);
        subscription.disconnect(true);
      },
    );
  });
  subscription.on("message", (_: string, message: string) => {
    const notice = noticeFrom(message);
    if (notice !== undefined) hear(notice);
  });
}

function* paired(flat: readonly string[]): Iterable<readonly [string, string]> {
  for (let i = 0; i + 1 < flat.length; i += 2) yield [flat[i] as string, flat[i + 1] as string];
}
