import { Destination, Workload } from "@isthmus/api";
import { type CooperativeTask, type EntryChange, emptyTable, nearestName, SortedMap, type Table } from "@isthmus/core";
import { changesOf } from "../../incremental/changes.ts";
import { entriesOf } from "../../incremental/lookupTable.ts";
import { memoizeRow } from "../../incremental/memoizeRow.ts";
import { destinationLocation, type NamespaceLocation, workloadLocation } from "../../policy/policyScope.ts";
import type { AttachmentStep } from "../step.ts";

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

/** The names as the one row of a table. */
export const rowOfPlaces = memoizeRow((names: PlaceNames) => entriesOf(new Map([["", names]])));

/** The namespaces of one cluster in which something can be selected. */
export interface ClusterPlaces {
  /** Name of the cluster. */
  readonly key: string;
  readonly namespacesOfServices: readonly string[];
  readonly namespacesOfWorkloads: readonly string[];
}

type Place = "namespacesOfServices" | "clustersOfServices" | "namespacesOfWorkloads" | "clustersOfWorkloads";

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

/** How many more rows are in each namespace of each cluster. */
type Difference = ReadonlyMap<string, ReadonlyMap<string, number>>;

function* differenceOf<R extends object>(
  changes: readonly EntryChange<R>[],
  locationOf: (row: R) => NamespaceLocation,
): CooperativeTask<Difference> {
  const difference = new Map<string, Map<string, number>>();
  const add = ({ clusterName, namespace }: NamespaceLocation, by: number) => {
    let ofCluster = difference.get(clusterName);
    if (ofCluster === undefined) {
      ofCluster = new Map();
      difference.set(clusterName, ofCluster);
    }
    ofCluster.set(namespace, (ofCluster.get(namespace) ?? 0) + by);
  };
  let at = 0;
  for (const { before, after } of changes) {
    const left = before && locationOf(before);
    const right = after && locationOf(after);
    if (left?.clusterName !== right?.clusterName || left?.namespace !== right?.namespace) {
      if (left !== undefined) add(left, -1);
      if (right !== undefined) add(right, 1);
    }
    if (++at % CHANGES_PER_STEP === 0) yield;
  }
  return difference;
}

/** Counts that follow what comes and goes. */
export function* placesAfter({ inputs, since }: AttachmentStep, before: KnownPlaces): CooperativeTask<KnownPlaces> {
  const services = yield* differenceOf(since?.changes.of(Destination) ?? changesOf(Destination, inputs, undefined), destinationLocation);
  const workloads = yield* differenceOf(since?.changes.of(Workload) ?? changesOf(Workload, inputs, undefined), workloadLocation);
  const counts = new Map<string, PlaceCount>();
  const count = (sort: string, name: string, by: number) => {
    const key = `${sort} ${name}`;
    if (name !== "" && by !== 0) counts.set(key, { name, count: ((counts.get(key) ?? before.counts.get(key))?.count ?? 0) + by });
  };
  for (const [difference, sort, namespaces, clusters] of [
    [services, "services", "namespacesOfServices", "clustersOfServices"],
    [workloads, "workloads", "namespacesOfWorkloads", "clustersOfWorkloads"],
  ] as const) {
    for (const [clusterName, ofCluster] of difference) {
      for (const [namespace, by] of ofCluster) {
        count(namespaces, namespace, by);
        count(clusters, clusterName, by);
        if (clusterName !== "" && namespace !== "") count(`${IN_CLUSTER} ${sort}`, `${clusterName}/${namespace}`, by);
      }
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
