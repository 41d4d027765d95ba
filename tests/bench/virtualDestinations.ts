import { EndpointSlice, kindOf, VirtualDestination } from "@isthmus/api";
import { type AnyResource, type Resource, type Snapshot, snapshotOf } from "@isthmus/core";
import { type TranslateOptions, type Translation, translate } from "@isthmus/translators";
import type { BenchmarkOptions, Figures } from "./benchmarks.ts";
import { clusterName, type FleetSize, fleetObjects, serviceAt } from "./fleet.ts";
import { percentile, rounded, timedWithCpu } from "./measure.ts";
import { meshRef, PLANE, planeObject } from "./planeObjects.ts";

const OPTIONS: TranslateOptions = { namespace: PLANE, stage: "all" };
const SIZE: FleetSize = { clusters: 20, servicesPerCluster: 200, podsPerService: 1 };
const SMOKE_SIZE: FleetSize = { clusters: 4, servicesPerCluster: 20, podsPerService: 1 };
const CHANGES = 200;
/** One service in so many is behind a VirtualDestination. */
const SERVICES_PER_VIRTUAL_DESTINATION = 5;

/**
 * A fleet whose services are federated to the next two clusters, a fifth of them with a VirtualDestination for these two: the service of
 * that name in its own cluster and in the next one. Then the only pod of a service stops being ready, and the next time is again: of one
 * that is behind a VirtualDestination, and of one that is not. At last VirtualDestinations themselves change.
 */
export function* virtualDestinationsBenchmark({ smoke, clusters, services }: BenchmarkOptions): Iterable<Figures> {
  const sizes = smoke ? SMOKE_SIZE : SIZE;
  const size = { ...sizes, clusters: clusters ?? sizes.clusters, servicesPerCluster: services ?? sizes.servicesPerCluster };
  const hosts = [...virtualDestinations(size)];
  const given = snapshotOf([...fleetObjects(size), ...hosts]);
  const start: Instant = { given, world: translate(given, OPTIONS) };
  const times = smoke ? 8 : CHANGES;
  const fifth = (n: number) => (n * SERVICES_PER_VIRTUAL_DESTINATION) % size.servicesPerCluster;
  // Those that come first compile the code for all.
  for (const make of [readiness(fifth), outlierDetection(fifth)]) changed(start, { size, times: Math.ceil(times / 4), make });
  const ordinary = changed(start, { size, times, make: readiness((n) => fifth(n) + 1) });
  const target = changed(start, { size, times, make: readiness(fifth) });
  const own = changed(start, { size, times, make: outlierDetection(fifth) });
  yield {
    name: "virtual-destinations ordinary endpoint",
    virtualDestinations: hosts.length,
    outputs: start.world.networking.size,
    ...ordinary,
  };
  yield { name: "virtual-destinations endpoint of a target", ...target, ...ratios(target, ordinary) };
  yield { name: "virtual-destinations spec", ...own, ...ratios(own, ordinary) };
}

/** What is known, and what follows from it. */
interface Instant {
  readonly given: Snapshot;
  readonly world: Translation;
}

/** Where something changes: `service` of the cluster at `position`. */
interface Place {
  readonly position: number;
  readonly service: number;
}

interface Change {
  /** Where its `n`th change is. */
  place(n: number, size: FleetSize): Place;
  /** The object after its `n`th change. */
  object(given: Snapshot, place: Place, n: number): Resource | undefined;
}

/** The place of each change: another cluster each time, and each change twice, there and back. */
function placeBy(serviceOf: (n: number) => number): Change["place"] {
  return (n, { clusters }) => ({ position: Math.floor(n / 2) % clusters, service: serviceOf(Math.floor(n / 2)) });
}

function readiness(serviceOf: (n: number) => number): Change {
  return {
    place: placeBy(serviceOf),
    object(given, { position, service }, n) {
      const { name, namespace } = serviceAt(service);
      const slice = given.of(EndpointSlice).get({ name: `${name}-x`, namespace, clusterName: clusterName(position) });
      return slice && { ...slice, endpoints: slice.endpoints?.map((one) => ({ ...one, conditions: { ready: n % 2 === 1 } })) };
    },
  };
}

function outlierDetection(serviceOf: (n: number) => number): Change {
  return {
    place: placeBy(serviceOf),
    object(given, { position, service }, n) {
      const name = virtualDestinationName(position, service);
      const host = given.of(VirtualDestination).get({ name, namespace: PLANE, clusterName: "" });
      const { localized } = host?.spec ?? {};
      return host && { ...host, spec: { ...host.spec, localized: { ...localized, outlierDetection: { consecutiveErrors: 20 + n } } } };
    },
  };
}

interface Run {
  readonly size: FleetSize;
  readonly times: number;
  readonly make: Change;
}

type ChangeFigures = Readonly<
  Record<
    "times" | "clustersPerChange" | "outputsPerChange" | "virtualOutputsPerChange" | "p50Ms" | "p99Ms" | "p50CpuMs" | "p99CpuMs",
    number
  >
>;

/** Throws when a change reaches a cluster that neither has the service nor may call it. */
function changed(start: Instant, { size, times, make }: Run): ChangeFigures {
  let before = start;
  let [outputs, ofHosts, clusters] = [0, 0, 0];
  const cpuTimes: number[] = [];
  const durations = Array.from({ length: times }, (_, n) => {
    const place = make.place(n, size);
    const object = make.object(before.given, place, n);
    if (object === undefined) throw new Error(`there is no object to change at ${JSON.stringify(place)}`);
    const [after, ms, cpuMs] = timedWithCpu((): Instant => {
      const given = before.given.apply({ put: [object], remove: [] });
      return { given, world: translate(given, OPTIONS, before.world) };
    });
    const touched = touchedBy(before.world, after.world);
    const concerned = new Set([0, 1, 2].map((step) => clusterName((place.position + step) % size.clusters)));
    for (const { cluster, name } of touched)
      if (!concerned.has(cluster)) throw new Error(`${name} in ${cluster} changed with ${JSON.stringify(place)}`);
    outputs += touched.length;
    ofHosts += touched.filter(({ isOfHost }) => isOfHost).length;
    clusters += new Set(touched.map(({ cluster }) => cluster)).size;
    before = after;
    cpuTimes.push(cpuMs);
    return ms;
  });
  return {
    times,
    clustersPerChange: rounded(clusters / times),
    outputsPerChange: rounded(outputs / times),
    virtualOutputsPerChange: rounded(ofHosts / times),
    p50Ms: rounded(percentile(durations, 50)),
    p99Ms: rounded(percentile(durations, 99)),
    p50CpuMs: rounded(percentile(cpuTimes, 50)),
    p99CpuMs: rounded(percentile(cpuTimes, 99)),
  };
}

interface Touched {
  readonly cluster: string;
  readonly name: string;
  /** Whether it is there because of a VirtualDestination. */
  readonly isOfHost: boolean;
}

function touchedBy(before: Translation, after: Translation): readonly Touched[] {
  return after.networking.changesSince(before.networking).flatMap((change) => {
    const output = change.after ?? change.before;
    if (output === undefined) return [];
    const { clusterName: cluster = "", name } = output.resource.metadata;
    return [{ cluster, name, isOfHost: output.parents.some(({ kind }) => kind === VirtualDestination.kind) }];
  });
}

/** Of processor time, to the same change without a VirtualDestination, in the same process. */
function ratios(figures: ChangeFigures, ordinary: ChangeFigures): Readonly<Record<"p50Ratio" | "p99Ratio", number>> {
  return { p50Ratio: rounded(figures.p50CpuMs / ordinary.p50CpuMs), p99Ratio: rounded(figures.p99CpuMs / ordinary.p99CpuMs) };
}

function virtualDestinationName(position: number, service: number): string {
  return `${serviceAt(service).name}-${clusterName(position)}`;
}

function* virtualDestinations({ clusters, servicesPerCluster }: FleetSize): Iterable<Resource> {
  for (let position = 0; position < clusters; position++) {
    for (let service = 0; service < servicesPerCluster; service += SERVICES_PER_VIRTUAL_DESTINATION) {
      const object = virtualDestination(position, service, (step) => clusterName((position + step) % clusters));
      yield kindOf(object.apiVersion, object.kind)?.parse(object) ?? object;
    }
  }
}

function virtualDestination(position: number, service: number, clusterAfter: (step: number) => string): AnyResource {
  const name = virtualDestinationName(position, service);
  const services = [0, 1].map((step) => ({ ...serviceAt(service), clusterName: clusterAfter(step) }));
  return planeObject(VirtualDestination.apiVersion, VirtualDestination.kind, name, {
    hostname: `${name}.mesh.global`,
    port: { number: 8080, protocol: "http" },
    meshList: { meshes: [1, 2].map((step) => meshRef(clusterAfter(step))) },
    localized: { destinationSelectors: [{ kubeServiceRefs: { services } }] },
  });
}
