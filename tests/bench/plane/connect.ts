import type { BenchmarkOptions, Figures } from "../benchmarks.ts";
import { peakRssMiB, rounded } from "../measure.ts";
import { machineLoad, rssMiB, startLoad } from "./load.ts";
import { withPlane } from "./planeRun.ts";

/** A server that knows nothing takes the place of another, and all agents come back at once: until all are in sync. */
export async function* connectBenchmark(options: BenchmarkOptions): AsyncIterable<Figures> {
  const { smoke, clusters = smoke ? 5 : 1000, services = smoke ? 3 : 20 } = options;
  const size = { clusters, servicesPerCluster: services, podsPerService: 1 };
  yield await withPlane({ size, agents: "reporters" }, async ({ beside, restart, syncMs }) => {
    const steadyMiB = rssMiB();
    await restart();
    const loaded = startLoad();
    const connectMs = await beside.call<number>("settled", QUIET_MS);
    const load = loaded();
    return {
      name: "connect",
      agents: clusters,
      services: clusters * services,
      registerMs: rounded(syncMs),
      connectMs: rounded(connectMs),
      serverCpuMs: load.cpuMs,
      serverCores: load.cores,
      eventLoopP99Ms: load.eventLoopP99Ms,
      eventLoopMaxMs: load.eventLoopMaxMs,
      steadyMiB,
      afterMiB: rssMiB(),
      peakMiB: peakRssMiB(),
      load: machineLoad(),
    };
  });
}

const QUIET_MS = 3_000;
