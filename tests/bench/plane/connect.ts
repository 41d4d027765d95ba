import type { BenchmarkOptions, Figures } from "../benchmarks.ts";
import { rounded } from "../measure.ts";
import { startFleetBeside } from "./fleetBeside.ts";
import { machineLoad, rssMiB, settledRssMiB, startLoad, startMemory } from "./load.ts";
import { remoteCluster } from "./remoteCluster.ts";
import { newIdentity, type ServerAddress, startServerUnderTest } from "./serverUnderTest.ts";

/** A server that knows nothing starts, and all agents, who have their certificates, come at once: until all are in sync. */
export async function* connectBenchmark(options: BenchmarkOptions): AsyncIterable<Figures> {
  const { smoke, clusters = smoke ? 5 : 1000, services = smoke ? 3 : 20 } = options;
  const size = { clusters, servicesPerCluster: services, podsPerService: 1 };
  const beside = startFleetBeside();
  await beside.call("open", { size, agents: "reporters" });
  const identity = await newIdentity();
  const address = await beside.call<ServerAddress>("enrol", identity);
  await beside.call("startAgents", address);

  await beside.call("mark");
  const emptyMiB = rssMiB();
  const [loaded, watched] = [startLoad(), startMemory()];
  const plane = await startServerUnderTest({ cluster: remoteCluster("", beside), identity, port: address.port });
  const connectMs = await beside.call<number>("settled", QUIET_MS);
  const [load, peakMiB] = [loaded(), watched()];
  const steadyMiB = settledRssMiB();
  yield {
    name: "connect",
    agents: clusters,
    services: clusters * services,
    connectMs: rounded(connectMs),
    serverCpuMs: load.cpuMs,
    serverCores: load.cores,
    eventLoopP99Ms: load.eventLoopP99Ms,
    eventLoopMaxMs: load.eventLoopMaxMs,
    emptyMiB,
    peakMiB,
    steadyMiB,
    peakOverSteady: rounded(peakMiB / steadyMiB),
    load: machineLoad(),
  };
  await plane.stop();
  await beside.close();
}

const QUIET_MS = 3_000;
