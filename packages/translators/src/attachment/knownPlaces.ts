import { Destination, Workload } from "@isthmus/api";
import { type CooperativeTask, emptyTable, type Index, nearestName, SortedMap, type Table } from "@isthmus/core";
import { changesOf } from "../incremental/changes.ts";
import { entriesOf } from "../incremental/lookupTable.ts";
import { memoizeRow } from "../incremental/memoizeRow.ts";
import { byNamespace, destinationsByCluster } from "../policy/indexes.ts";
import { destinationLocation, type NamespaceLocation, workloadLocation } from "../policy/policyScope.ts";
import type { AttachmentStep } from "./attachment.ts";

/** The namespaces and clusters in which something can be selected. */
export interface KnownPlaces {
  /** How many, by sort and name. */
  readonly counts: SortedMap<PlaceCount>;
  readonly names: PlaceNames;
  /** What a policy that is limited to its own cluster may learn. */
  readonly clusters: Table<ClusterPlaces>;
}

interface PlaceCount {
  readonly name: string;
  readonly count: number;
}

/** The very same while no place comes or goes. */
export type PlaceNames = Readonly<Record<Place, readonly string[]>>;
type Place = keyof typeof PLACES;

/** The names as the one row of a table. */
export const rowOfPlaces = memoizeRow((names: PlaceNames) => entriesOf(new Map([["", names]])));

/** The namespaces of one cluster in which something can be selected. */
export interface ClusterPlaces {
  /** Name of the cluster. */
  readonly key: string;
  readonly namespacesOfServices: readonly string[];
  readonly namespacesOfWorkloads: readonly string[];
}

const ofController =
  (read: (place: { readonly namespace?: string; readonly clusterName?: string }) => string | undefined) => (workload: Workload) => {
    const name = read(workload.spec?.kubernetes?.controller ?? {});
    return name === undefined || name === "" ? [] : [name];
  };

const PLACES = {
  namespacesOfServices: byNamespace,
  clustersOfServices: destinationsByCluster,
  namespacesOfWorkloads: ofController(({ namespace }) => namespace),
  clustersOfWorkloads: ofController(({ clusterName }) => clusterName),
} as const;

const OF_SERVICES = ["namespacesOfServices", "clustersOfServices"] as const;
const OF_WORKLOADS = ["namespacesOfWorkloads", "clustersOfWorkloads"] as const;
// Places in their clusters: `in-cluster SORT CLUSTER/NAMESPACE`.
const IN_CLUSTER = "in-cluster";

/** No place. */
export function noPlaces(): KnownPlaces {
  return { counts: SortedMap.empty(), names: namesIn(SortedMap.empty()), clusters: emptyTable(({ key }) => key) };
}

function namesIn(counts: SortedMap<PlaceCount>): PlaceNames {
  const namesOf = (place: Place) => counts.withPrefix(`${place} `).map(({ name }) => name);
  return {
    namespacesOfServices: namesOf("namespacesOfServices"),
    clustersOfServices: namesOf("clustersOfServices"),
    namespacesOfWorkloads: namesOf("namespacesOfWorkloads"),
    clustersOfWorkloads: namesOf("clustersOfWorkloads"),
  };
}

const inCluster =
  <R>(locationOf: (row: R) => NamespaceLocation): Index<R> =>
  (row) => {
    const { clusterName, namespace } = locationOf(row);
    return clusterName === "" || namespace === "" ? NONE : [`${clusterName}/${namespace}`];
  };
const servicesInCluster = inCluster<Destination>(destinationLocation);
const workloadsInCluster = inCluster<Workload>(workloadLocation);

/** Counts that follow what comes and goes. */
export function* placesAfter({ inputs, since }: AttachmentStep, before: KnownPlaces): CooperativeTask<KnownPlaces> {
  const differences = new Map<string, Map<string, number>>();
  function* count<R extends object>(
    changes: readonly { readonly before: R | undefined; readonly after: R | undefined }[],
    sorts: readonly (readonly [string, Index<R>])[],
  ) {
    for (const [place, index] of sorts) {
      const difference = new Map<string, number>();
      differences.set(place, difference);
      let at = 0;
      for (const { before: was, after } of changes) {
        const left = was === undefined ? NONE : index(was);
        const right = after === undefined ? NONE : index(after);
        if (left[0] !== right[0]) {
          for (const name of left) difference.set(name, (difference.get(name) ?? 0) - 1);
          for (const name of right) difference.set(name, (difference.get(name) ?? 0) + 1);
        }
        if (++at % CHANGES_PER_STEP === 0) yield;
      }
    }
  }
  yield* count(since?.changes.of(Destination) ?? changesOf(Destination, inputs, undefined), [
    ...OF_SERVICES.map((place) => [place, PLACES[place]] as const),
    [`${IN_CLUSTER} services`, servicesInCluster] as const,
  ]);
  yield* count(since?.changes.of(Workload) ?? changesOf(Workload, inputs, undefined), [
    ...OF_WORKLOADS.map((place) => [place, PLACES[place]] as const),
    [`${IN_CLUSTER} workloads`, workloadsInCluster] as const,
  ]);
  const counts = new Map<string, PlaceCount>();
  for (const [place, difference] of differences) {
    for (const [name, by] of difference) {
      const key = `${place} ${name}`;
      if (by !== 0) counts.set(key, { name, count: (before.counts.get(key)?.count ?? 0) + by });
    }
  }
  if (counts.size === 0) return before;
  const others = [...counts].filter(([key, { count }]) => count > 0 !== before.counts.has(key)).map(([key]) => key);
  const after = before.counts.update([...counts].map(([key, place]) => [key, place.count > 0 ? place : undefined] as const));
  const [within, anywhere] = [others.filter(isInCluster), others.filter((key) => !isInCluster(key))];
  const clusters = new Set(within.map((key) => key.slice(key.lastIndexOf(" ") + 1, key.lastIndexOf("/"))));
  return {
    counts: after,
    names: anywhere.length > 0 ? namesIn(after) : before.names,
    clusters: clusters.size === 0 ? before.clusters : before.clusters.with([...clusters].map((key) => [key, placesOf(key, after)])),
  };
}

function isInCluster(key: string): boolean {
  return key.startsWith(`${IN_CLUSTER} `);
}

function placesOf(key: string, counts: SortedMap<PlaceCount>): ClusterPlaces | undefined {
  const namesOf = (sort: string) => counts.withPrefix(`${IN_CLUSTER} ${sort} ${key}/`).map(({ name }) => name.slice(key.length + 1));
  const [namespacesOfServices, namespacesOfWorkloads] = [namesOf("services"), namesOf("workloads")];
  return namespacesOfServices.length + namespacesOfWorkloads.length === 0
    ? undefined
    : { key, namespacesOfServices, namespacesOfWorkloads };
}

// Each takes a microsecond.
const CHANGES_PER_STEP = 64;
const NONE: readonly never[] = [];

/** By what places an entry of a selector selects. */
export interface PlaceMatcher {
  readonly labels?: Readonly<Record<string, string>>;
  readonly namespaces?: readonly string[];
  readonly clusters?: readonly string[];
}

/** Where something is that can be selected; undefined: not to be reported. */
export interface SelectablePlaces {
  readonly namespaces: readonly string[];
  readonly clusters: readonly string[] | undefined;
}

/** What is selected, and what to do where nothing is wrong with the places. */
export const SELECTED = {
  service: { what: "Service", remedy: "check its labels, which are those of the Service and not of its pods" },
  workload: { what: "workload", remedy: "check its labels, which are those of the pods" },
} as const;

/** Why nothing is selected: the first place that nothing is in, with the one that was perhaps meant. */
export function causeOfNothing(matchers: readonly PlaceMatcher[], known: SelectablePlaces, selected: keyof typeof SELECTED): string {
  const { what, remedy } = SELECTED[selected];
  for (const [member, place] of [
    ["namespaces", "namespace"],
    ["clusters", "cluster"],
  ] as const) {
    const names = known[member];
    if (names === undefined) continue;
    for (const name of matchers.flatMap((matcher) => matcher[member] ?? NONE)) {
      if (names.includes(name)) continue;
      const near = nearestName(name, names);
      return `no ${what} is in ${place} ${name}${near === undefined ? ": check the name" : ` (did you mean ${near}?)`}`;
    }
  }
  const hasLabels = matchers.some(({ labels = {} }) => Object.keys(labels).length > 0);
  return `no ${what} has all that an entry asks for: ${hasLabels ? remedy : "check its namespaces and clusters together"}`;
}
