import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { type Clock, messageOf, UsageError } from "@isthmus/core";
import type { Store } from "@isthmus/ports";
import { isOn } from "@isthmus/process";
import { type Command, Option } from "commander";
import { fileStore } from "./file.ts";
import { type RedisSettings, type RedisStoreOptions, redisStore } from "./redis.ts";
import type { RejectedEntry } from "./rejectedEntries.ts";

/** Where replicas share what they know, or where one finds it again after a restart. */
export interface StoreConfig {
  readonly redis: RedisSettings | undefined;
  /** Directory of local files, without Redis. */
  readonly path: string | undefined;
}

/** What the command line gives. */
export interface StoreFlags {
  readonly redisAddress?: string;
  readonly redisDb?: number;
  readonly redisTls?: boolean;
  readonly redisCa?: string;
  readonly redisServerName?: string;
  readonly storePath?: string;
}

/** Adds the options that say where the store is. Names of variables: those of the published chart's `redis`. */
export function addStoreOptions(command: Command): Command {
  return command
    .addOption(
      new Option(
        "--redis-address <host:port>",
        "Redis in which replicas share their state; user and password are read from REDIS_USERNAME and REDIS_PASSWORD",
      ).env("REDIS_ADDRESS"),
    )
    .addOption(new Option("--redis-db <number>", "number of the database in Redis; default: 0").env("REDIS_DB").argParser(databaseNumber))
    .addOption(new Option("--redis-tls", "use TLS for the connection to Redis; also REDIS_TLS=true"))
    .addOption(new Option("--redis-ca <file>", "PEM of the CA certificate of Redis; implies TLS").env("REDIS_CA_FILE"))
    .addOption(
      new Option("--redis-server-name <dns name>", "name in the certificate of Redis; default: the host of its address").env(
        "REDIS_SERVER_NAME",
      ),
    )
    .addOption(
      new Option("--store-path <directory>", "without Redis: directory in which the server keeps its state across restarts").env(
        "STORE_PATH",
      ),
    );
}

function databaseNumber(text: string): number {
  const db = Number(text);
  if (!Number.isInteger(db) || db < 0) throw new UsageError(`${text} is not a number of a Redis database: use 0 or more`);
  return db;
}

/** Reads flags and environment. Throws UsageError. */
export function storeConfig(flags: StoreFlags, environment: NodeJS.ProcessEnv): StoreConfig {
  const { redisAddress, redisCa, redisDb, redisServerName, storePath } = flags;
  if (redisAddress === undefined || redisAddress === "") return { redis: undefined, path: storePath };
  if (storePath !== undefined) throw new UsageError("--redis-address and --store-path are mutually exclusive: use one of them");
  const username = environment["REDIS_USERNAME"];
  const password = environment["REDIS_PASSWORD"];
  const isSecure = flags.redisTls === true || redisCa !== undefined || isOn(environment["REDIS_TLS"]);
  const { host, port } = address(redisAddress);
  return {
    redis: {
      host,
      port,
      ...(redisDb === undefined ? {} : { db: redisDb }),
      ...(username === undefined || username === "" ? {} : { username }),
      ...(password === undefined || password === "" ? {} : { password }),
      ...(isSecure ? { tls: { serverName: redisServerName ?? host, ...(redisCa === undefined ? {} : { ca: read(redisCa) }) } } : {}),
    },
    path: undefined,
  };
}

function address(text: string): { readonly host: string; readonly port: number } {
  const colon = text.lastIndexOf(":");
  const host = (colon < 0 ? text : text.slice(0, colon)).replace(/^\[(.*)\]$/, "$1");
  const port = colon < 0 ? REDIS_PORT : Number(text.slice(colon + 1));
  if (host === "" || !Number.isInteger(port) || port < 1 || port > 65_535) {
    throw new UsageError(`--redis-address ${text} is not an address such as gloo-mesh-redis.gloo-mesh:6379`);
  }
  return { host, port };
}

const REDIS_PORT = 6379;

function read(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new UsageError(`--redis-ca: ${messageOf(error)}`);
  }
}

export interface StoreDependencies extends Pick<RedisStoreOptions, "keys" | "log" | "isReader"> {
  readonly refused: (what: RejectedEntry) => void;
  readonly clock: Clock;
}

/** Opens what is configured; undefined: memory alone. Rejects with StoreError when files cannot be used. */
export async function openStore(
  { redis, path }: StoreConfig,
  { keys, refused, isReader = false, clock, log }: StoreDependencies,
): Promise<Store | undefined> {
  if (redis !== undefined) {
    const store = redisStore(redis, { keys, refused, isReader, log });
    for (const weakness of store.weaknesses ?? []) log.warn({}, weakness);
    return store;
  }
  if (path === undefined) return undefined;
  const store = await fileStore({ path, clock, id: randomUUID });
  log.info({ path }, `keeping state in ${path}`);
  return store;
}
