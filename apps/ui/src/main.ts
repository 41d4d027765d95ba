import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import {
  type ConsoleAccess,
  type ConsoleHub,
  startConsoleHub,
  startConsoleServer,
  startLogin,
  startViewerHubs,
  storeSource,
} from "@isthmus/console";
import { type Log, type Metric, UsageError } from "@isthmus/core";
import { kubernetesAccessReviews, kubernetesCluster, loadKubeconfig } from "@isthmus/kubernetes";
import { type Store, serverRoles, systemClock } from "@isthmus/plane";
import { createLog, type Metrics, readTlsFiles, runProgram, startAdmin, startMetrics, watchTlsFiles } from "@isthmus/process";
import { openStore } from "@isthmus/store/options";
import { type LoginConfig, readUiConfig, type UiConfig } from "./config.ts";
import { labelledNamespaces } from "./labelledNamespaces.ts";
import { storeKeyFiles } from "./storeKeyFiles.ts";

async function run(config: UiConfig, signal: AbortSignal): Promise<void> {
  const { storeKey = "" } = config;
  const log = createLog({ logger: "gloo-mesh-ui", verbose: config.verbose });
  const { redis, path } = config.store;
  // A store that is opened is made where there is none.
  if (path !== undefined && !existsSync(path)) throw new UsageError(`--store-path ${path} does not exist`);
  let figures: () => readonly Metric[] = () => [];
  const metrics = startMetrics({ source: "console", read: () => figures() });
  const store = await openStore(config.store, {
    keys: () => storeKeyFiles(storeKey),
    refused: (what) => metrics.add("gloo_mesh_store_refused_total", { what }),
    isReader: true,
    clock: systemClock,
    log,
  });
  if (store === undefined) throw new UsageError("there is nothing to show: set --redis-address, or --store-path");
  try {
    const name = redis === undefined ? `${path}` : `Redis at ${redis.host}:${redis.port}`;
    const read = (now: () => readonly Metric[]) => {
      figures = now;
    };
    await serve(store, { ...config, name, log, metrics, read }, signal);
  } finally {
    await store.close();
  }
}

// Of the time slider.
const HISTORY_MS = 60_000;

interface Serving
  extends Pick<
    UiConfig,
    "namespace" | "host" | "port" | "login" | "tls" | "adminHost" | "adminPort" | "disallowIntersectingConfig" | "version"
  > {
  /** Of the store, for people. */
  readonly name: string;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Is given how the figures are read that nothing pushes. */
  readonly read: (figures: () => readonly Metric[]) => void;
}

async function serve(
  store: Store,
  { host, port, login, tls, adminHost, adminPort, log, metrics, read, ...settings }: Serving,
  signal: AbortSignal,
): Promise<void> {
  const clock = systemClock;
  const { kinds } = serverRoles(settings.namespace);
  const source = storeSource({ ...settings, store, kinds, clock, log }, signal);
  const hub = startConsoleHub({ source, historyMs: HISTORY_MS, epoch: randomUUID().replaceAll("-", ""), clock, log }, signal);
  const pages = fileURLToPath(new URL("./client/", import.meta.url));
  const access = login === undefined ? undefined : accessBy(login, { hub, kinds, log, namespace: settings.namespace }, signal);
  const served = await startConsoleServer({
    host,
    port,
    hub,
    log,
    ...(access === undefined ? {} : { access }),
    ...(tls === undefined ? {} : { tls: readTlsFiles(tls) }),
    ...(existsSync(pages) ? { files: pages } : {}),
  });
  const following = tls === undefined ? undefined : watchTlsFiles(tls, served.setSecureContext);
  try {
    read(() => {
      const streams: Metric = { name: "gloo_mesh_console_streams", labels: {}, value: served.streams };
      if (!hub.isReady) return [streams];
      const ageMs = Math.max(0, clock.now() - Date.parse(hub.clock().at));
      return [streams, { name: "gloo_mesh_console_age_seconds", labels: {}, value: ageMs / 1_000 }];
    });
    const admin = await startAdmin({ host: adminHost, port: adminPort, isReady: () => hub.isReady, metrics });
    const url = login?.publicUrl.href ?? `http://${host}:${served.port}/`;
    log.info({ port: served.port, adminPort: admin.port }, `the console is at ${url}`);
    signal.addEventListener("abort", () => log.info({}, "stopping"), { once: true });
    try {
      await hub.ended;
    } finally {
      await admin.close();
    }
  } finally {
    following?.stop();
    await served.close();
    await access?.login.ended;
  }
}

interface Reading {
  readonly hub: ConsoleHub;
  readonly kinds: ReturnType<typeof serverRoles>["kinds"];
  readonly namespace: string;
  readonly log: Log;
}

/** Users are who the management cluster's Kubernetes API says they are, and see what it lets them list. */
function accessBy(
  { publicUrl, isEncrypted, kubeconfig: path, context, namespaceLabel: labels }: LoginConfig,
  reading: Reading,
  signal: AbortSignal,
): ConsoleAccess {
  const clock = systemClock;
  const kubeconfig = loadKubeconfig({ ...(path === undefined ? {} : { path }), ...(context === undefined ? {} : { context }) });
  const reviews = kubernetesAccessReviews({ kubeconfig, clock });
  const cluster = kubernetesCluster({ name: "", kubeconfig, clock, random: Math.random });
  const counted = labels === undefined ? {} : { countedNamespaces: labelledNamespaces(cluster, { labels, clock }) };
  return {
    publicUrl,
    login: startLogin({ reviews, publicUrl, isEncrypted, clock, log: reading.log }, signal),
    viewers: startViewerHubs({ ...reading, ...counted, reviews, clock }, signal),
  };
}

process.exitCode = await runProgram((signal) => run(readUiConfig(process.argv.slice(2)), signal));
