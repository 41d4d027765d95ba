import type { BenchmarkOptions, Figures } from "../benchmarks.ts";
import { rounded } from "../measure.ts";
import { podReplacement } from "./endpoint.ts";
import type { HostedFleet } from "./hostedFleet.ts";
import { machineLoad, startLoad } from "./load.ts";
import { withPlane } from "./planeRun.ts";
import { insightsOf } from "./serverUnderTest.ts";

const SECONDS = 30;

/** Traffic of all agents during the churn, in bytes. */
interface Bytes {
  readonly up: number;
  readonly down: number;
}

/** One pod replaced per second in every cluster: what that costs the server. */
export async function* churnBenchmark(options: BenchmarkOptions): AsyncIterable<Figures> {
  const {
    smoke,
    clusters = smoke ? 3 : 100,
    services = smoke ? 4 : 20,
    seconds = smoke ? 2 : SECONDS,
    rest = 0,
    withoutInsights = false,
  } = options;
  const size = { clusters, servicesPerCluster: services, podsPerService: 2 };
  yield await withPlane({ size, agents: "whole", findsInsights: !withoutInsights }, async ({ beside, plane }) => {
    await new Promise((resolve) => setTimeout(resolve, rest * 1_000));
    const loaded = startLoad();
    const { up, down } = await beside.call<Bytes>("churn", seconds);
    const load = loaded();
    return {
      name: "churn",
      clusters,
      services: clusters * services,
      podsPerSecond: clusters,
      serverCores: load.cores,
      cpuMsPerPod: rounded(load.cpuMs / clusters / seconds),
      eventLoopP99Ms: load.eventLoopP99Ms,
      eventLoopMaxMs: load.eventLoopMaxMs,
      ownDelayP99Ms: load.ownDelayP99Ms,
      ownTurnP99Ms: load.ownTurnP99Ms,
      ownTurnMaxMs: load.ownTurnMaxMs,
      bytesUpPerPod: rounded(up / clusters / seconds),
      bytesDownPerPod: rounded(down / clusters / seconds),
      insights: insightsOf(plane.server),
      load: machineLoad(),
    };
  });
}

/** Replaces a pod per second in each cluster, spread evenly over the second. */
export async function churnFor({ clusters, size, bytes }: HostedFleet, seconds: number): Promise<Bytes> {
  const before = bytes();
  const all = [...clusters.values()];
  const started = performance.now();
  for (let n = 0; n < seconds * all.length; n++) {
    const due = started + (n * 1_000) / all.length;
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, due - performance.now())));
    const cluster = all[n % all.length];
    if (cluster !== undefined) await podReplacement(cluster, Math.floor(n / all.length), size)();
  }
  await new Promise((resolve) => setTimeout(resolve, SETTLING_MS));
  const after = bytes();
  return { up: after.up - before.up, down: after.down - before.down };
}

const SETTLING_MS = 500;
