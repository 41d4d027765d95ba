import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Clock } from "@isthmus/core";
import type { PodsAt, ScrapeAddress } from "@isthmus/dataplane";
import type { SimulatedCluster } from "@isthmus/simulator";
import type { Translation } from "@isthmus/translators";
import { type AccessLogging, accessLogging, logsOf, type ProxyLog } from "./accessLogging.ts";
import { type ProxyCounters, proxyCounters } from "./counters.ts";
import { type TrafficEffect, trafficEffect } from "./effect.ts";
import { type MeshProxy, proxyKey } from "./proxies.ts";
import { seededRandom } from "./random.ts";
import { requestSimulation, type Seen } from "./requests.ts";
import { podRooms } from "./rooms.ts";
import { CLIENTS, type Client } from "./services.ts";

export interface DataPlaneOptions {
  readonly clusters: readonly SimulatedCluster[];
  /** What the server has made of the fleet; undefined before it has. */
  readonly translation: () => Translation | undefined;
  /** Namespace of the management plane. */
  readonly namespace: string;
  /** Whether two proxies accept each other's certificate. */
  readonly isMutual: (one: MeshProxy, other: MeshProxy) => boolean;
  /** Default: those of the demo. */
  readonly clients?: readonly Client[];
  readonly seed: number;
  readonly clock: Clock;
}

/** The proxies of simulated clusters, with the requests that go through them. */
export interface DataPlane {
  /** Where what the pods of a cluster have at an address and port is served on loopback; undefined: no pod is there. */
  reachedAt(cluster: string, at: ScrapeAddress): ScrapeAddress | undefined;
  /** All proxies call from loopback: such a peer may be any pod of the cluster. */
  podsAt(cluster: string, podsAt: PodsAt): PodsAt;
  /** The port on which the agent of a cluster takes access logs; undefined: it has stopped. */
  agentAt(cluster: string, port: number | undefined): void;
  readonly ended: Promise<void>;
}

/**
 * Sends requests from now on until `signal` is aborted, each routed by what the agents have written, and counts and logs them as proxies do: metrics are
 * served on loopback, access logs sent to the agents. Requests are computed, not sent: their durations cost no time.
 */
export async function startDataPlane(options: DataPlaneOptions, signal: AbortSignal): Promise<DataPlane> {
  const { clusters, clock, clients = CLIENTS } = options;
  const random = seededRandom(options.seed);
  const counters = new Map<string, { readonly address: string; readonly of: ProxyCounters }>();
  const logging = new Map(
    clusters.map(({ name }) => [name, accessLogging({ now: clock.now, random, trustDomain: `${name}.example` })] as const),
  );
  const effects = effectKeeper(options);
  const { hasRoom, pass } = podRooms();
  const due = clients.map(() => 0);
  let logs = new Map<string, readonly ProxyLog[]>();
  let effect: TrafficEffect | undefined;
  let pushes = 0;

  function count(seen: Seen): void {
    const key = proxyKey(seen.by);
    const known = counters.get(key) ?? { address: seen.by.address, of: proxyCounters() };
    counters.set(key, known);
    known.of.count(seen.labels, seen.counted);
    const wanted = logs.get(key) ?? logsOf(effect?.filtersOf(seen.by) ?? []);
    logs.set(key, wanted);
    logging.get(seen.by.cluster)?.log(wanted, seen);
  }

  const requests = requestSimulation({ effect: () => effect as TrafficEffect, isMutual: options.isMutual, random, hasRoom, seen: count });

  function step(seconds: number): void {
    const next = effects();
    if (next === undefined) return;
    if (next !== effect) {
      [effect, logs] = [next, new Map()];
      pushes += next.proxies.length;
      forgetGone(counters, next);
    }
    pass(seconds, effect.proxies);
    for (const [at, client] of clients.entries()) {
      due[at] = (due[at] ?? 0) + client.perSecond * seconds;
      for (; (due[at] ?? 0) >= 1; due[at] = (due[at] ?? 0) - 1) sendFor(client, effect);
    }
    for (const one of logging.values()) one.flush();
  }

  function sendFor({ cluster, workload, host, path }: Client, { proxies }: TrafficEffect): void {
    const caller = proxies.find((proxy) => proxy.cluster === cluster && proxy.workload === workload);
    if (caller === undefined) return;
    requests.send(caller, { host, port: 9080, method: "GET", path, headers: {} });
  }

  async function run(): Promise<void> {
    let last = clock.now();
    while (!signal.aborted) {
      await clock.sleep(STEP_MS, signal).catch(() => undefined);
      const now = clock.now();
      // A machine that was busy, or slept, does not send all at once.
      step(Math.min(now - last, MOST_STEP_MS) / 1_000);
      last = now;
    }
  }

  const exposed = (path: string): string | undefined => {
    const [, cluster = "", address = "", page] = path.split("/");
    if (page === "metrics") return controlPlaneText(effect?.proxies.filter((one) => one.cluster === cluster).length ?? 0, pushes);
    // A pod that nobody has called yet has counted nothing.
    const found = counters.get(`${cluster} ${address}`);
    const isThere = effect?.proxies.some((one) => one.cluster === cluster && one.address === address) ?? false;
    return found?.of.text() ?? (isThere ? "" : undefined);
  };
  const server = await serve(exposed);
  const port = (server.address() as AddressInfo).port;
  return {
    reachedAt: (cluster, { address, path }) => ({ address: "127.0.0.1", port, path: `/${cluster}/${address}${path}` }),
    podsAt: (cluster, podsAt) => (address) =>
      address === "127.0.0.1"
        ? (effect?.proxies ?? []).flatMap((one) => (one.cluster === cluster ? podsAt(one.address) : []))
        : podsAt(address),
    agentAt: (cluster, agentPort) => logging.get(cluster)?.agentAt(agentPort),
    ended: run().then(() => stopped(server, [...logging.values()])),
  };
}

/** Made again when something has changed in the clusters, or in what the server makes of them. */
function effectKeeper({ clusters, translation, namespace }: DataPlaneOptions): () => TrafficEffect | undefined {
  let known: { readonly of: readonly unknown[]; readonly effect: TrafficEffect } | undefined;
  return () => {
    const now = translation();
    if (now === undefined) return undefined;
    const of = [now, ...clusters.map(({ revision }) => revision)];
    if (known === undefined || of.some((one, at) => one !== known?.of[at])) known = { of, effect: trafficEffect(now, clusters, namespace) };
    return known.effect;
  };
}

function forgetGone(counters: Map<string, unknown>, { proxies }: TrafficEffect): void {
  const there = new Set(proxies.map(proxyKey));
  for (const key of counters.keys()) if (!there.has(key)) counters.delete(key);
}

/** Source: istio.io/docs/reference/commands/pilot-discovery, exported metrics. */
function controlPlaneText(proxies: number, pushes: number): string {
  return [
    `pilot_xds{version="1.27.1"} ${proxies}`,
    `pilot_xds_pushes{type="cds"} ${pushes}`,
    `pilot_proxy_convergence_time_sum ${(pushes * 0.05).toFixed(3)}`,
    `pilot_proxy_convergence_time_count ${pushes}`,
    "",
  ].join("\n");
}

async function serve(exposed: (path: string) => string | undefined): Promise<Server> {
  const server = createServer(({ url = "" }, response) => {
    const text = exposed(url);
    response.writeHead(text === undefined ? 404 : 200, { "content-type": "text/plain; version=0.0.4" });
    response.end(text);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  return server;
}

async function stopped(server: Server, logging: readonly AccessLogging[]): Promise<void> {
  for (const one of logging) one.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}

const STEP_MS = 250;
const MOST_STEP_MS = 2_000;
