import { VirtualService } from "@isthmus/api";
import type { BenchmarkOptions, Figures } from "../benchmarks.ts";
import { serviceAt } from "../fleet.ts";
import { percentile, rounded } from "../measure.ts";
import { networking } from "../planeObjects.ts";
import type { HostedFleet } from "./hostedFleet.ts";
import { machineLoad, startLoad } from "./load.ts";
import { withPlane } from "./planeRun.ts";
import { profiled } from "./profile.ts";
import { firstSeen } from "./seen.ts";

const ROUNDS = 20;

/** A policy written to the management cluster, until every cluster has what comes of it. */
export async function* propagateBenchmark(options: BenchmarkOptions): AsyncIterable<Figures> {
  const { smoke, clusters = smoke ? 3 : 100, services = smoke ? 4 : 20 } = options;
  const rounds = smoke ? 2 : ROUNDS;
  const size = { clusters, servicesPerCluster: services, podsPerService: 2 };
  yield await withPlane({ size, agents: "whole", isAtRest: true }, async ({ beside }) => {
    const loaded = startLoad();
    const { times, besideCpuMs } = await profiled(() => beside.call<PropagateTimes>("propagate", rounds));
    const { cpuMs } = loaded();
    return {
      name: "propagate",
      clusters,
      services: clusters * services,
      p50Ms: rounded(percentile(times, 50)),
      p99Ms: rounded(percentile(times, 99)),
      serverCpuMsPerChange: rounded(cpuMs / rounds),
      clustersCpuMsPerChange: rounded(besideCpuMs / rounds),
      load: machineLoad(),
    };
  });
}

interface PropagateTimes {
  readonly times: readonly number[];
  /** What all clusters, their API servers and agents, spent on a processor. */
  readonly besideCpuMs: number;
}

/** For each round and cluster the milliseconds from the write of a policy that holds for one service of every cluster. */
export async function propagateRounds({ management, clusters }: HostedFleet, rounds: number): Promise<PropagateTimes> {
  const loaded = startLoad();
  const { name, namespace } = serviceAt(1);
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const timeout = `${61 + round}s`;
    const seen = [...clusters.values()].map((cluster) =>
      firstSeen(
        cluster,
        VirtualService,
        ({ metadata, spec }) => metadata.name === name && (spec?.http ?? []).some((route) => route.timeout === timeout),
      ),
    );
    const spec = {
      destinationSelector: [{ kubeServiceMatcher: { labels: { app: name }, namespaces: [namespace] } }],
      policy: { requestTimeout: timeout },
    };
    const started = performance.now();
    await management.apply(networking("TrafficPolicy", "propagated", spec), { fieldManager: "kubectl" });
    for (const at of await Promise.all(seen)) times.push(at - started);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  return { times, besideCpuMs: loaded().cpuMs };
}

// Statuses and acknowledgements of one round are no part of the next one.
const PAUSE_MS = 500;
