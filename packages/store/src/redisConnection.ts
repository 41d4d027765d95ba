import { createHash } from "node:crypto";
import { type Log, messageOf } from "@isthmus/core";
import { Redis } from "ioredis";

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

export type { Redis };

/** Connects, and again whenever the connection is lost. `purpose` tells several connections apart in the log. */
export function connectRedis(settings: RedisSettings, { purpose, log }: { readonly purpose: string; readonly log: Log }): Redis {
  const { host, port, db = 0, username, password, tls, timeoutMs = 3_000 } = settings;
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
    if (message !== told) log.warn({ purpose }, `${redisAddress(settings)}: ${message}; reconnecting`);
    told = message;
  });
  redis.on("ready", () => {
    told = "";
    log.info({ purpose }, `connected to ${redisAddress(settings)}`);
  });
  return redis;
}

export function redisAddress({ host, port }: RedisSettings): string {
  return `Redis at ${host}:${port}`;
}

// Those of the published chart are 8 and 512 ms; a Redis that is away for minutes need not be asked twice a second.
const FIRST_RETRY_MS = 8;
const LAST_RETRY_MS = 2_000;

/** Runs scripts, by their hashes where Redis knows them already. */
export function scriptRunner(redis: Redis): (script: string, keys: readonly string[], args: readonly string[]) => Promise<unknown> {
  const shas = new Map<string, string>();
  return async (script, keys, args) => {
    let sha = shas.get(script);
    if (sha === undefined) {
      sha = createHash("sha1").update(script).digest("hex");
      shas.set(script, sha);
    }
    try {
      return await redis.evalsha(sha, keys.length, ...keys, ...args);
    } catch (error) {
      if (!messageOf(error).startsWith("NOSCRIPT")) throw error;
      return redis.eval(script, keys.length, ...keys, ...args);
    }
  };
}

/** What leaves a Redis open to others, each as a sentence for who runs it. */
export function weaknessesOf({ tls, password }: RedisSettings): readonly string[] {
  return [
    ...(tls === undefined ? ["the connection to Redis is not encrypted: set --redis-tls or --redis-ca"] : []),
    ...(password === undefined ? ["Redis does not require a password: set REDIS_PASSWORD, and REDIS_USERNAME for a dedicated user"] : []),
  ];
}
