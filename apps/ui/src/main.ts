import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { startConsoleHub, startConsoleServer, storeSource } from "@isthmus/console";
import { type Log, UsageError } from "@isthmus/core";
import { type Store, serverRoles, systemClock } from "@isthmus/plane";
import { createLog, runProgram } from "@isthmus/process";
import { openStore } from "@isthmus/store/options";
import { readUiConfig, type UiConfig } from "./config.ts";
import { storeKeyFiles } from "./storeKeyFiles.ts";

async function run(config: UiConfig, signal: AbortSignal): Promise<void> {
  const { storeKey = "" } = config;
  const log = createLog({ logger: "gloo-mesh-ui", verbose: config.verbose });
  const { redis, path } = config.store;
  // A store that is opened is made where there is none.
  if (path !== undefined && !existsSync(path)) throw new UsageError(`--store-path ${path} does not exist`);
  const store = await openStore(config.store, {
    keys: () => storeKeyFiles(storeKey),
    refused: () => undefined,
    isReader: true,
    clock: systemClock,
    log,
  });
  if (store === undefined) throw new UsageError("there is nothing to show: set --redis-address, or --store-path");
  try {
    const name = redis === undefined ? `${path}` : `Redis at ${redis.host}:${redis.port}`;
    await serve(store, { ...config, name, log }, signal);
  } finally {
    await store.close();
  }
}

interface Serving extends Pick<UiConfig, "namespace" | "host" | "port" | "disallowIntersectingConfig" | "version"> {
  /** Of the store, for people. */
  readonly name: string;
  readonly log: Log;
}

async function serve(store: Store, { host, port, log, ...settings }: Serving, signal: AbortSignal): Promise<void> {
  const clock = systemClock;
  const { kinds } = serverRoles(settings.namespace);
  const source = storeSource({ ...settings, store, kinds, clock, log }, signal);
  const hub = startConsoleHub({ source, epoch: randomUUID().replaceAll("-", ""), clock, log }, signal);
  const pages = fileURLToPath(new URL("./client/", import.meta.url));
  const served = await startConsoleServer({ host, port, hub, log, ...(existsSync(pages) ? { files: pages } : {}) });
  log.info({ port: served.port }, `the console is at http://${host}:${served.port}/`);
  signal.addEventListener("abort", () => log.info({}, "stopping"), { once: true });
  try {
    await hub.ended;
  } finally {
    await served.close();
  }
}

process.exitCode = await runProgram((signal) => run(readUiConfig(process.argv.slice(2)), signal));
