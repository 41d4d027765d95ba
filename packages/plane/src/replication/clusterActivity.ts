import {
  edgeOfRow,
  edgeRow,
  isSignalCount,
  keptText,
  kindKeyOf,
  METRICS,
  type Resource,
  SIGNAL_COUNT,
  type Snapshot,
  type TrafficEdge,
} from "@isthmus/core";
import type { PartitionContent } from "./partitionWriter.ts";

/** What happened in a cluster within the last hour, by the word of its agent. */
export interface ClusterActivity {
  readonly clusterName: string;
  /** When its agent said so, in milliseconds since 1970. */
  readonly at: number;
  /** How many changes took how long to be applied there, in the last hour: by the buckets of `SYNC_BOUNDS`, and one for what took longer. */
  readonly sync: readonly number[];
  /** Undefined: nobody counts it, as `problem` says. */
  readonly traffic: TrafficActivity | undefined;
  /** Why there is no traffic, and what to do. */
  readonly problem?: string;
}

/** The traffic of the workloads of a cluster, where it is sent. */
export interface TrafficActivity {
  /** The last five minutes, and the last hour. */
  readonly windows: readonly TrafficWindow[];
  /** How many proxies and control planes there are, and how many of them were read last. */
  readonly targets: number;
  readonly scraped: number;
  /** The busiest of the last hour, at most `MOST_ACTIVITY_EDGES`; what the others had is one of them, `(other)`. */
  readonly edges: readonly EdgeActivity[];
  /** Edges that are part of `(other)`. */
  readonly left: number;
}

/** A time that activity are of. */
export interface TrafficWindow {
  readonly minutes: number;
  /** Of these, so many seconds were counted: of the rest nothing is known. */
  readonly seconds: number;
}

/** An edge, with its numbers in each of the windows. */
export interface EdgeActivity {
  readonly edge: TrafficEdge;
  readonly signals: readonly Float64Array[];
}

/** The minutes of the windows. */
export const ACTIVITY_MINUTES = [5, 60] as const;
/** Edges of a cluster in the store, and in each browser. */
export const MOST_ACTIVITY_EDGES = 1_000;
/** Upper bounds of the durations of synchronization, in seconds: those of the metric. */
export const SYNC_BOUNDS: readonly number[] = METRICS.gloo_mesh_propagation_time_sec.buckets;

const GROUP = "activity.isthmus.mesh/v1";
const HEAD = { apiVersion: GROUP, kind: "ClusterActivity" } as const;
const PART = { apiVersion: GROUP, kind: "TrafficActivity" } as const;
const HEAD_KEY = kindKeyOf(HEAD);
const PART_KEY = kindKeyOf(PART);
// With the longest names there are, 400 kB.
const EDGES_OF_PART = 250;
const MOST_PARTS = Math.ceil(MOST_ACTIVITY_EDGES / EDGES_OF_PART);
const MOST_PROBLEM = 300;

/** As the partition of a cluster holds it. */
export function activityObjects({ clusterName, at, sync, traffic, problem }: ClusterActivity): readonly Resource[] {
  const metadata = (name: string) => ({ name, namespace: "", clusterName });
  const { edges = [], ...about } = traffic ?? {};
  const parts: Resource[] = [];
  for (let i = 0; i < edges.length; i += EDGES_OF_PART) {
    const rows = edges.slice(i, i + EDGES_OF_PART).map(({ edge, signals }) =>
      edgeRow(
        edge,
        signals.flatMap((numbers) => [...numbers]),
      ),
    );
    parts.push({ ...PART, metadata: metadata(String(parts.length)), at, rows } as Resource);
  }
  const said = { at, sync, ...(traffic === undefined ? {} : { traffic: about }), ...(problem === undefined ? {} : { problem }) };
  return [{ ...HEAD, metadata: metadata("activity"), ...said, parts: parts.length } as Resource, ...parts];
}

/** Objects as what a partition shall hold. */
export function activityContent(objects: readonly Resource[], keyOf: (resource: Resource) => string): PartitionContent {
  const ofKind = (kindKey: string) => objects.filter((resource) => kindKeyOf(resource) === kindKey);
  return {
    kinds: [...new Set(objects.map(kindKeyOf))],
    objects: ofKind,
    at: (kindKey, key) => ofKind(kindKey).find((resource) => keyOf(resource) === key),
  };
}

/** What a partition says; undefined for one that is half written, and for what no server of this version writes. Nothing in it is taken unchecked. */
export function activityIn(clusterName: string, snapshot: Snapshot): ClusterActivity | undefined {
  const [head] = snapshot.collections().get(HEAD_KEY) ?? [];
  const { at, sync, traffic, problem, parts } = (head ?? {}) as Unchecked;
  if (!isTime(at) || !isSync(sync) || typeof parts !== "number" || parts > MOST_PARTS) return undefined;
  const known = { clusterName, at, sync };
  const why = typeof problem === "string" ? { problem: keptText(problem, MOST_PROBLEM) } : {};
  if (traffic === undefined) return { ...known, traffic, ...why };
  const pieces = [...(snapshot.collections().get(PART_KEY) ?? [])] as readonly Unchecked[];
  // Written by two writes: what was whole before stays.
  if (pieces.length !== parts || pieces.some((piece) => piece.at !== at)) return undefined;
  const about = trafficIn(traffic);
  const edges = pieces.flatMap(({ rows }) => (Array.isArray(rows) && rows.length <= EDGES_OF_PART ? rows.map(edgeIn) : [undefined]));
  if (about === undefined || !edges.every((edge) => edge !== undefined)) return undefined;
  return { ...known, traffic: { ...about, edges }, ...why };
}

type Unchecked = { readonly [M in "at" | "sync" | "traffic" | "problem" | "parts" | "rows"]?: unknown };

function edgeIn(row: unknown): EdgeActivity | undefined {
  const read = edgeOfRow(row, ACTIVITY_MINUTES.length * SIGNAL_COUNT);
  if (read === undefined) return undefined;
  return { edge: read.edge, signals: ACTIVITY_MINUTES.map((_, at) => read.numbers.slice(at * SIGNAL_COUNT, (at + 1) * SIGNAL_COUNT)) };
}

function trafficIn(traffic: unknown): Omit<TrafficActivity, "edges"> | undefined {
  if (typeof traffic !== "object" || traffic === null) return undefined;
  const { windows, targets, scraped, left }: { readonly [M in keyof TrafficActivity]?: unknown } = traffic;
  if (!Array.isArray(windows) || windows.length !== ACTIVITY_MINUTES.length || !windows.every(isWindow)) return undefined;
  return isSignalCount(targets) && isSignalCount(scraped) && isSignalCount(left) ? { windows, targets, scraped, left } : undefined;
}

function isWindow(value: unknown, at: number): value is TrafficWindow {
  if (typeof value !== "object" || value === null) return false;
  const { minutes, seconds }: { readonly [M in keyof TrafficWindow]?: unknown } = value;
  return minutes === ACTIVITY_MINUTES[at] && isSignalCount(seconds);
}

function isSync(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.length === SYNC_BOUNDS.length + 1 && value.every(isSignalCount);
}

/** Milliseconds since 1970 that a Date can be of. Source: ECMAScript, "Time Values and Time Range". */
function isTime(value: unknown): value is number {
  return typeof value === "number" && value > 0 && value <= 8.64e15;
}
