import type { BenchmarkOptions, Figures } from "../benchmarks.ts";
import { clusterName } from "../fleet.ts";
import { percentile, rounded } from "../measure.ts";
import { startFleetBeside } from "./fleetBeside.ts";
import type { HostedFleet } from "./hostedFleet.ts";
import { machineLoad, startLoad } from "./load.ts";
import { remoteCluster } from "./remoteCluster.ts";
import { type ServerAddress, startServerUnderTest } from "./serverUnderTest.ts";

/** Agents that have nothing but a token, one after the other, each until its first configuration is applied. */
export async function* registrationBenchmark(options: BenchmarkOptions): AsyncIterable<Figures> {
  const { smoke, clusters = smoke ? 2 : 100, services = smoke ? 4 : 20 } = options;
  const size = { clusters, servicesPerCluster: services, podsPerService: 2 };
  const beside = startFleetBeside();
  await beside.call("open", { size, agents: "whole", isRegistered: false });
  const plane = await startServerUnderTest({ cluster: remoteCluster("", beside) });
  const loaded = startLoad();
  const times = await beside.call<readonly number[]>("register", plane.address);
  const { cpuMs, eventLoopP99Ms, eventLoopMaxMs } = loaded();
  yield {
    name: "registration",
    clusters,
    services: clusters * services,
    p50Ms: rounded(percentile(times, 50)),
    p99Ms: rounded(percentile(times, 99)),
    maxMs: rounded(Math.max(...times)),
    serverCpuMsEach: rounded(cpuMs / clusters),
    eventLoopP99Ms,
    eventLoopMaxMs,
    load: machineLoad(),
  };
  await plane.stop();
  await beside.close();
}

/** The milliseconds of each cluster. */
export async function registerEach({ start, agents, size }: HostedFleet, address: ServerAddress): Promise<readonly number[]> {
  const times: number[] = [];
  for (let n = 0; n < size.clusters; n++) {
    const started = performance.now();
    start([clusterName(n)], address);
    const at = await agents.get(clusterName(n))?.inSync;
    times.push((at ?? Number.NaN) - started);
  }
  return times;
}
