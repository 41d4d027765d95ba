import { AccessPolicy, Service, TrafficPolicy, VirtualMesh } from "@isthmus/api";
import { type Resource, type Snapshot, snapshotOf } from "@isthmus/core";
import { statusesOf, type TranslateOptions, type Translation, translate } from "@isthmus/translators";
import type { BenchmarkOptions, Figures } from "./benchmarks.ts";
import { accessPolicyName, clusterName, type FleetSize, fleetObjects, serviceAt, trafficPolicyName, virtualMeshName } from "./fleet.ts";
import { peakRssMiB, percentile, rounded, timedWithCpu } from "./measure.ts";
import { meshRef, PLANE } from "./planeObjects.ts";

/** How fleets are translated here. */
export const OPTIONS: TranslateOptions = { namespace: PLANE, stage: "all" };
export const SIZE: FleetSize = { clusters: 100, servicesPerCluster: 1000, podsPerService: 1 };
export const SMOKE_SIZE: FleetSize = { clusters: 4, servicesPerCluster: 40, podsPerService: 1 };

/**
 * A large fleet translated once, from what agents report to all outputs and statuses; then again after each of many small changes,
 * to the new world and the list of outputs that changed.
 */
export function* fleetBenchmark({ smoke }: BenchmarkOptions): Iterable<Figures> {
  const size = smoke ? SMOKE_SIZE : SIZE;
  const resources = [...fleetObjects(size)];
  const [start, coldMs, coldCpuMs] = timedWithCpu((): Instant => {
    const given = snapshotOf(resources);
    const world = translate(given, OPTIONS);
    statusesOf(world);
    return { given, world };
  });
  yield {
    name: "fleet cold",
    services: size.clusters * size.servicesPerCluster,
    inputs: resources.length,
    outputs: start.world.networking.size,
    coldMs: rounded(coldMs),
    coldCpuMs: rounded(coldCpuMs),
    rssMiB: peakRssMiB(),
  };
  for (const change of CHANGES) yield changed(start, change, size, smoke ? 4 : change.times);
}

/** What is known, and what follows from it. */
interface Instant {
  readonly given: Snapshot;
  readonly world: Translation;
}

/** A small change, made many times over. */
export interface Change {
  readonly name: string;
  readonly times: number;
  /** The object after its `n`th change. */
  make(given: Snapshot, n: number, size: FleetSize): Resource | undefined;
}

/** One kind of change many times over, each of another object. */
function changed(start: Instant, { name, make }: Change, size: FleetSize, times: number): Figures {
  let before = start;
  let outputs = 0;
  const cpuTimes: number[] = [];
  const durations = Array.from({ length: times }, (_, n) => {
    const object = make(before.given, n, size);
    if (object === undefined) throw new Error(`${name}: there is no object to change`);
    const [after, ms, cpuMs] = timedWithCpu((): Instant => {
      const given = before.given.apply({ put: [object], remove: [] });
      const world = translate(given, OPTIONS, before.world);
      outputs += world.networking.changesSince(before.world.networking).length;
      return { given, world };
    });
    before = after;
    cpuTimes.push(cpuMs);
    return ms;
  });
  return {
    name: `fleet ${name}`,
    times,
    outputsPerChange: rounded(outputs / times),
    firstMs: rounded(durations[0] ?? 0),
    p50Ms: rounded(percentile(durations, 50)),
    p99Ms: rounded(percentile(durations, 99)),
    maxMs: rounded(Math.max(...durations)),
    p50CpuMs: rounded(percentile(cpuTimes, 50)),
  };
}

/** Each of another object every time. */
export const CHANGES: readonly Change[] = [
  {
    name: "TrafficPolicy",
    times: 200,
    make(given, n, size) {
      const cluster = clusterName(n % size.clusters);
      const policy = given
        .of(TrafficPolicy)
        .get({ name: trafficPolicyName(cluster, policyAt(n, size)), namespace: PLANE, clusterName: "" });
      return policy && { ...policy, spec: { ...policy.spec, policy: { ...policy.spec?.policy, requestTimeout: `${60 + n}s` } } };
    },
  },
  {
    name: "AccessPolicy",
    times: 200,
    make(given, n, size) {
      const cluster = clusterName(n % size.clusters);
      const policy = given.of(AccessPolicy).get({ name: accessPolicyName(cluster, policyAt(n, size)), namespace: PLANE, clusterName: "" });
      return policy && { ...policy, spec: { ...policy.spec, allowedPaths: [`/${n}`] } };
    },
  },
  {
    name: "Service",
    times: 200,
    make(given, n, size) {
      const place = { ...serviceAt(n % size.servicesPerCluster), clusterName: clusterName(n % size.clusters) };
      const service = given.of(Service).get(place);
      const port = { name: `grpc-${n}`, port: 9000 + n, protocol: "TCP" };
      return service && { ...service, spec: { ...service.spec, ports: [...(service.spec?.ports ?? []), port] } };
    },
  },
  {
    name: "VirtualMesh selector",
    times: 200,
    // Another two meshes for the services of one cluster; others again in each round.
    make(given, n, size) {
      const virtualMesh = given.of(VirtualMesh).get({ name: virtualMeshName(0), namespace: PLANE, clusterName: "" });
      const [cluster, round] = [n % size.clusters, Math.floor(n / size.clusters)];
      const meshes = [1, 3 + round].map((step) => meshRef(clusterName((cluster + step) % size.clusters)));
      const selectors = virtualMesh?.spec?.federation?.selectors?.map((selector, i) =>
        i === cluster ? { ...selector, meshes } : selector,
      );
      if (virtualMesh === undefined || selectors === undefined) return undefined;
      return { ...virtualMesh, spec: { ...virtualMesh.spec, federation: { ...virtualMesh.spec?.federation, selectors } } };
    },
  },
];

/** Of the services that have a policy of their own, some other one each time. */
function policyAt(n: number, { servicesPerCluster }: FleetSize): number {
  return (n * 10) % servicesPerCluster;
}
