import type { BenchmarkOptions, Figures } from "../benchmarks.ts";
import { peakRssMiB, rounded } from "../measure.ts";
import { machineLoad, rssMiB, startLoad } from "./load.ts";
import { withPlane } from "./planeRun.ts";
import { profiled } from "./profile.ts";
import { insightsOf } from "./serverUnderTest.ts";

/**
 * What a server holds of a large fleet, of a Pod what translation reads, some seconds after all agents are in sync: 200 objects a
 * second are published meanwhile.
 */
export async function* memoryServerBenchmark(options: BenchmarkOptions): AsyncIterable<Figures> {
  const {
    smoke,
    clusters = smoke ? 3 : 100,
    services = smoke ? 4 : 1000,
    pods = smoke ? 2 : 10,
    seconds = smoke ? 0.1 : 20,
    withoutInsights = false,
  } = options;
  const size = { clusters, servicesPerCluster: services, podsPerService: pods };
  const emptyMiB = rssMiB();
  const load = startLoad();
  yield await profiled(() =>
    withPlane({ size, agents: "reporters", heapMiB: 12_288, findsInsights: !withoutInsights }, async ({ syncMs, plane }) => {
      const joining = load();
      await new Promise((resolve) => setTimeout(resolve, seconds * 1_000));
      const { heapUsed, rss } = process.memoryUsage();
      return {
        name: "memory-server",
        clusters,
        services: clusters * services,
        pods: clusters * services * pods,
        syncMs: rounded(syncMs),
        cpuMs: joining.cpuMs,
        eventLoopP99Ms: joining.eventLoopP99Ms,
        ownTurnP99Ms: joining.ownTurnP99Ms,
        ownTurnMaxMs: joining.ownTurnMaxMs,
        emptyMiB,
        rssMiB: rssMiB(),
        heapUsedMiB: Math.round(heapUsed / 1024 / 1024),
        peakMiB: peakRssMiB(),
        rssKiBPerService: rounded(rss / 1024 / clusters / services),
        insights: insightsOf(plane.server),
        load: machineLoad(),
      };
    }),
  );
}
