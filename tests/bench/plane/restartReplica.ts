import { setMaxListeners } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { allKinds } from "@isthmus/api";
import { serverRoles, startServer, systemClock } from "@isthmus/plane";
import { startServerLink } from "@isthmus/relay/session";
import { simulatedCluster } from "@isthmus/simulator";
import type { BenchmarkOptions, Figures } from "../benchmarks.ts";
import { managementObjects } from "../fleet.ts";
import { peakRssMiB, rounded } from "../measure.ts";
import { PLANE } from "../planeObjects.ts";
import { benchLog } from "./benchLog.ts";
import { machineLoad, rssMiB, startLoad } from "./load.ts";
import { filledStore, restartSize } from "./restart.ts";

/** From the start of a replica until it has read everything from Redis, and until it knows what every cluster shall hold. */
export async function* restartReplicaBenchmark(options: BenchmarkOptions): AsyncIterable<Figures> {
  const size = restartSize(options);
  const { clusters, servicesPerCluster, podsPerService } = size;
  const store = await filledStore();
  const shared = { clock: systemClock, random: Math.random, log: benchLog };
  const cluster = simulatedCluster({ name: "", clock: systemClock, kinds: allKinds() });
  cluster.load([{ apiVersion: "v1", kind: "Namespace", metadata: { name: PLANE } }, ...managementObjects(size)]);
  const life = new AbortController();
  setMaxListeners(0, life.signal);
  const load = startLoad();
  const started = performance.now();
  const server = startServer(
    {
      ...shared,
      cluster,
      link: (handler, reportFilter) => startServerLink({ ...shared, serverId: "replica", handler, reportFilter }, life.signal),
      ...serverRoles(PLANE),
      resumeDeletes: async () => undefined,
      namespace: PLANE,
      translation: { namespace: PLANE, stage: "all" },
      sharing: { store, replica: "replica" },
      leadership: { isLeader: false, fence: 1, onChange: () => () => undefined },
    },
    life.signal,
  );
  while (!server.sharing.isLoaded) await sleep(POLL_MS);
  const readMs = performance.now() - started;
  const reading = load();
  const translating = startLoad();
  while (server.translation === undefined) await sleep(POLL_MS);
  const readyMs = performance.now() - started;
  const translated = translating();
  yield {
    name: "restart-replica",
    clusters,
    services: clusters * servicesPerCluster,
    pods: clusters * servicesPerCluster * podsPerService,
    objects: [...server.store.snapshot.collections().values()].reduce((sum, { size: count }) => sum + count, 0),
    readMs: rounded(readMs),
    readCpuMs: reading.cpuMs,
    readyMs: rounded(readyMs),
    readingEventLoopP99Ms: reading.eventLoopP99Ms,
    readingOwnTurnP99Ms: reading.ownTurnP99Ms,
    readingOwnTurnMaxMs: reading.ownTurnMaxMs,
    translateCpuMs: translated.cpuMs,
    translatingEventLoopP99Ms: translated.eventLoopP99Ms,
    translatingOwnTurnP99Ms: translated.ownTurnP99Ms,
    translatingOwnTurnMaxMs: translated.ownTurnMaxMs,
    outputs: server.translation?.networking.size ?? 0,
    rssMiB: rssMiB(),
    peakMiB: peakRssMiB(),
    load: machineLoad(),
  };
  life.abort(new Error("the benchmark is over"));
  await server.ended;
  await store.close();
}

const POLL_MS = 10;
