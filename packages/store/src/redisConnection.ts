import { createHash } from "node:crypto";
import { type BackoffRange, doublingMs, type Log, messageOf } from "@isthmus/core";
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

export interface RedisConnectionOptions {
  /** Tells several connections apart in the log. */
  readonly purpose: string;
  /** Called with why there is no connection, and with undefined when there is one. Default: nobody asks. */
  readonly problem?: (message: string | undefined) => void;
  readonly log: Log;
}

/** Connects, and again whenever the connection is lost. */
export function connectRedis(settings: RedisSettings, { purpose, problem = () => undefined, log }: RedisConnectionOptions): Redis {
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
    // The one who calls has its own rule for trying again: what waits here would only be late.
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    autoResubscribe: false,
    retryStrategy: (attempt) => doublingMs(attempt, RETRY),
  });
  let told = "";
  redis.on("error", (error: Error) => {
    const message = connectionProblem(messageOf(error));
    problem(message);
    if (message !== told) log.warn({ purpose }, `${redisAddress(settings)}: ${message}; reconnecting`);
    told = message;
  });
  redis.on("ready", () => {
    told = "";
    problem(undefined);
    log.info({ purpose }, `connected to ${redisAddress(settings)}`);
  });
  return redis;
}

/** A failed connection in words that name the remedy. Source: Redis' error codes, and OpenSSL's verification errors (X509_V_ERR_…). */
function connectionProblem(message: string): string {
  const remedy = REMEDIES.find(([texts]) => texts.some((text) => message.includes(text)))?.[1];
  if (remedy === undefined) return message;
  return `${message.endsWith(".") ? message.slice(0, -1) : message}: ${remedy}`;
}

const REMEDIES: readonly (readonly [readonly string[], string])[] = [
  [["WRONGPASS", "NOAUTH"], "check REDIS_USERNAME and REDIS_PASSWORD (chart: the Secret in redis.auth.secretName)"],
  [["NOPERM"], "let the user read and write keys and channels that start with gloo-mesh:"],
  [
    ["self-signed certificate", "unable to verify the first certificate", "unable to get local issuer certificate"],
    "its certificate is not signed by the CA that this server trusts: check the CA certificate of --redis-ca (chart: the Secret in redis.certs.secretName)",
  ],
  [["certificate has expired"], "renew the certificate of Redis"],
  [["does not match certificate's altnames"], "set --redis-server-name (chart: redis.certs.serverName) to a name in the certificate"],
  [
    ["wrong version number", "packet length too long"],
    "it does not serve TLS on this port: use its TLS port, or leave out --redis-ca and --redis-tls",
  ],
];

/** How logs and errors name a Redis: by host and port, without its credentials. */
export function redisAddress({ host, port }: RedisSettings): string {
  return `Redis at ${host}:${port}`;
}

// Those of the published chart are 8 and 512 ms; a Redis that is unavailable for minutes need not be asked twice a second.
const RETRY: BackoffRange = { firstMs: 16, lastMs: 2_000 };

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
