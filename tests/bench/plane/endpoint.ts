import { ServiceEntry } from "@isthmus/api";
import type { AnyResource } from "@isthmus/core";
import type { SimulatedCluster } from "@isthmus/simulator";
import type { BenchmarkOptions, Figures } from "../benchmarks.ts";
import { type FleetSize, serviceAt } from "../fleet.ts";
import { percentile, rounded } from "../measure.ts";
import type { HostedFleet } from "./hostedFleet.ts";
import { machineLoad, startLoad } from "./load.ts";
import { withPlane } from "./planeRun.ts";
import { profiled } from "./profile.ts";
import { firstSeen } from "./seen.ts";

const TIMES = 100;

/** A pod replaced in one cluster, until what names its address there has the new one. */
export async function* endpointBenchmark(options: BenchmarkOptions): AsyncIterable<Figures> {
  const { smoke, clusters = smoke ? 3 : 100, services = smoke ? 4 : 20 } = options;
  const size = { clusters, servicesPerCluster: services, podsPerService: 2 };
  yield await withPlane({ size, agents: "whole", isAtRest: true }, async ({ beside }) => {
    const loaded = startLoad();
    const times = await profiled(() => beside.call<readonly number[]>("replacePods", smoke ? 3 : TIMES));
    const { cpuMs } = loaded();
    return {
      name: "endpoint",
      clusters,
      services: clusters * services,
      times: times.length,
      p50Ms: rounded(percentile(times, 50)),
      p99Ms: rounded(percentile(times, 99)),
      serverCpuMsPerChange: rounded(cpuMs / times.length),
      load: machineLoad(),
    };
  });
}

export async function replacePods({ clusters, size }: HostedFleet, times: number): Promise<readonly number[]> {
  const all = [...clusters.values()];
  const durations: number[] = [];
  for (let n = 0; n < times; n++) {
    const cluster = all[n % all.length];
    if (cluster === undefined) break;
    const replace = podReplacement(cluster, n, size);
    const seen = firstSeen(cluster, ServiceEntry, ({ spec }) => (spec?.endpoints ?? []).some(({ address }) => address === newAddress(n)));
    const started = performance.now();
    await replace();
    durations.push((await seen) - started);
  }
  return durations;
}

function newAddress(n: number): string {
  return `10.200.${(n >> 8) & 255}.${n & 255}`;
}

/** In one service of a cluster a pod goes and another one with another address comes, as its controllers would write it. */
export function podReplacement(cluster: SimulatedCluster, n: number, size: FleetSize): () => Promise<void> {
  const { name, namespace } = serviceAt(n % size.servicesPerCluster);
  const slice = cluster.object({ apiVersion: "discovery.k8s.io/v1", kind: "EndpointSlice", name: `${name}-x`, namespace });
  const endpoints = (slice?.["endpoints"] ?? []) as readonly { readonly targetRef: { readonly name: string } }[];
  const old = endpoints[0]?.targetRef.name ?? "";
  const pod = cluster.object({ apiVersion: "v1", kind: "Pod", name: old, namespace });
  if (slice === undefined || pod === undefined) throw new Error(`${cluster.name} has no pod of ${name}`);
  const [podName, address] = [`${name}-r${n}`, newAddress(n)];
  const fresh = {
    ...pod,
    metadata: { ...named(pod, podName), uid: `uid-${podName}-${cluster.name}` },
    status: { ...(pod["status"] as object), podIP: address },
  };
  const replaced = { ...endpoints[0], addresses: [address], targetRef: { ...endpoints[0]?.targetRef, name: podName } };
  return async () => {
    cluster.load([fresh]);
    cluster.load([{ ...slice, endpoints: [...endpoints.slice(1), replaced] } as AnyResource]);
    await cluster.delete({ apiVersion: "v1", kind: "Pod", name: old, namespace, clusterName: cluster.name });
  };
}

function named({ metadata }: AnyResource, name: string) {
  const { resourceVersion: _, ...rest } = metadata;
  return { ...rest, name };
}
