import { setMaxListeners } from "node:events";
import type { BenchmarkOptions, Figures } from "../benchmarks.ts";
import { clusterName } from "../fleet.ts";
import { peakRssMiB, rounded } from "../measure.ts";
import { startFleetBeside } from "./fleetBeside.ts";
import { machineLoad, rssMiB } from "./load.ts";
import { remoteCluster } from "./remoteCluster.ts";
import type { ServerAddress } from "./serverUnderTest.ts";
import { startWholeAgent } from "./simulatedAgent.ts";

/** What the agent of a large cluster holds; its cluster and the server are in another process. */
export async function* memoryAgentBenchmark(options: BenchmarkOptions): AsyncIterable<Figures> {
  const { smoke, services = smoke ? 4 : 1000, pods = smoke ? 2 : 20 } = options;
  const beside = startFleetBeside();
  await beside.call("open", { size: { clusters: 1, servicesPerCluster: services, podsPerService: pods }, agents: "whole" });
  const address = await beside.call<ServerAddress>("serve");
  const emptyMiB = rssMiB();
  const life = new AbortController();
  setMaxListeners(0, life.signal);
  const name = clusterName(0);
  const started = performance.now();
  const cpu = process.cpuUsage();
  const agent = startWholeAgent({ clusterName: name, address, wallet: new Map() }, remoteCluster(name, beside), life.signal);
  const syncMs = (await agent.inSync) - started;
  const { user, system } = process.cpuUsage(cpu);
  await new Promise((resolve) => setTimeout(resolve, smoke ? 100 : SETTLING_MS));
  yield {
    name: "memory-agent",
    services,
    pods: services * pods,
    syncMs: rounded(syncMs),
    syncCpuMs: rounded((user + system) / 1000),
    emptyMiB,
    rssMiB: rssMiB(),
    heapUsedMiB: Math.round(process.memoryUsage().heapUsed / 1024 / 1024),
    peakMiB: peakRssMiB(),
    load: machineLoad(),
  };
  life.abort(new Error("the benchmark is over"));
  await agent.ended;
  await beside.close();
}

// V8 gives memory back when it has been idle for a while.
const SETTLING_MS = 20_000;
