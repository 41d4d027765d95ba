import { addSignals, edgeKey, noSignals, otherEdge, SIGNAL_COUNT, type Signals, type TrafficEdge } from "@isthmus/core";
import { fairTable } from "./fairTable.ts";
import type { ControlPlaneState, EdgeCounts, TrafficAnswer } from "./trafficAnswer.ts";

/** An edge with what happened on it since this server first saw it, and what happened in a window. */
export interface FleetEdge {
  readonly edge: TrafficEdge;
  readonly totals: Signals;
  readonly recent: Signals;
}

/** What is known of the traffic of one cluster. */
export interface ClusterTraffic {
  /** Seconds of the window in which its agent counted: what is missing is unknown, not idle. */
  readonly seconds: number;
  readonly targets: number;
  readonly scraped: number;
  readonly edges: readonly FleetEdge[];
  readonly controlPlanes: readonly ControlPlaneState[];
}

/** The traffic of the last hour, minute by minute, of the clusters whose agents this server asks. */
export interface FleetTraffic {
  /** What its agent answered at `now`, in milliseconds since 1970. */
  take(cluster: string, answer: TrafficAnswer, now: number): void;
  forget(cluster: string): void;
  readonly clusters: Iterable<string>;
  /** Of the last `minutes`, at most 60. Undefined where its agent has not answered within the last two minutes. */
  of(cluster: string, minutes: number, now: number): ClusterTraffic | undefined;
  /** The same minute by minute, from the minute `from` since 1970 to `to`, both included, of the last hour. */
  minutesOf(cluster: string, span: { readonly from: number; readonly to: number }, now: number): TrafficMinutes | undefined;
  readonly edges: number;
}

/** What happened in a cluster minute by minute: lists with an item for each. */
export interface TrafficMinutes {
  /** That its agent counted: in a minute with 0, nothing is known. */
  readonly seconds: readonly number[];
  readonly edges: readonly { readonly edge: TrafficEdge; readonly minutes: readonly Signals[] }[];
}

/**
 * Edges of the fleet, of which each takes 5 KB. When there is no room, the cluster with the most gives up the one on which nothing has happened for
 * longest: also for new ones of its own, or a pod that invents edges would keep those of all others out for an hour.
 */
const MOST_FLEET_EDGES = 10_000;

/** Keeps nothing beyond an hour and the bound, whatever agents send. */
export function fleetTraffic(most: number = MOST_FLEET_EDGES): FleetTraffic {
  const clusters = new Map<string, ClusterState>();
  let answers = 0;
  // A cluster with more edges in one answer than it has room for keeps those that it has: they would only take turns.
  const rows = fairTable<Row>(most, moveToOther, ({ seen }) => seen < answers);

  /** What happened within the hour stays in the sum. The total was read where it stood: it counts once. */
  function moveToOther({ minutes: past }: Row, cluster: string): void {
    const state = clusters.get(cluster);
    if (state === undefined) return;
    const { minutes } = otherOf(state, past.newest);
    for (let minute = past.newest - MINUTES + 1; minute <= past.newest; minute++) addTo(minutes, minute, numbersOf(past, minute), 1);
  }

  function rowOf(cluster: string, edge: TrafficEdge, minute: number): Row | undefined {
    const key = edgeKey(edge);
    // What the agent had no room for either.
    if (key === OTHER_KEY) return undefined;
    const known = rows.get(cluster, key);
    if (known !== undefined) {
      rows.touch(cluster, key);
      known.seen = answers;
      return known;
    }
    const row = { edge, totals: noSignals(), minutes: history(SIGNAL_COUNT, minute), seen: answers };
    return rows.add(cluster, key, row) ? row : undefined;
  }

  function dropIdle(cluster: string, minute: number): void {
    for (const [key, row] of rows.groups.get(cluster) ?? []) if (row.minutes.newest <= minute - MINUTES) rows.delete(cluster, key);
  }

  return {
    take(cluster, { ageMs, spanMs, edges, targets, scraped, controlPlanes }, now) {
      const minute = minuteOf(now);
      const about = { answeredAt: now, targets, scraped, controlPlanes: distinct(controlPlanes) };
      const state: ClusterState = clusters.get(cluster) ?? { covered: history(1, minute), other: undefined, ...about };
      clusters.set(cluster, Object.assign(state, about));
      const parts = partsOf(now - ageMs - spanMs, now - ageMs);
      for (const { minute: at, ms } of parts) addTo(state.covered, at, [ms], 1);
      answers++;
      // Those that are known first, so that none of them makes room for a new one.
      const isKnown = ({ edge }: EdgeCounts) => rows.get(cluster, edgeKey(edge)) !== undefined;
      const known = new Set(edges.filter(isKnown));
      for (const { edge, signals } of [...known, ...edges.filter((counts) => !known.has(counts))]) {
        const row = rowOf(cluster, edge, minute) ?? otherOf(state, minute);
        addSignals(row.totals, signals);
        for (const { minute: at, ms } of parts) addTo(row.minutes, at, signals, ms / spanMs);
      }
      dropIdle(cluster, minute);
    },
    forget(cluster) {
      clusters.delete(cluster);
      for (const key of [...(rows.groups.get(cluster)?.keys() ?? [])]) rows.delete(cluster, key);
    },
    clusters: { [Symbol.iterator]: () => clusters.keys() },
    of(cluster, minutes, now) {
      const state = clusters.get(cluster);
      if (state === undefined || now - state.answeredAt > FRESH_MS) return undefined;
      const from = minuteOf(now) - Math.min(minutes, MINUTES - 1);
      const all = [...(rows.groups.get(cluster)?.values() ?? []), ...(state.other === undefined ? [] : [state.other])];
      const edges = all.map(({ edge, totals, minutes: past }) => ({ edge, totals, recent: sumSince(past, from) }));
      const { targets, scraped, controlPlanes } = state;
      return { seconds: (sumSince(state.covered, from)[0] ?? 0) / 1_000, targets, scraped, edges, controlPlanes };
    },
    minutesOf(cluster, { from, to }, now) {
      const state = clusters.get(cluster);
      if (state === undefined || now - state.answeredAt > FRESH_MS) return undefined;
      const span = Array.from({ length: Math.max(0, Math.min(MINUTES, to - from + 1)) }, (_, i) => from + i);
      const all = [...(rows.groups.get(cluster)?.values() ?? []), ...(state.other === undefined ? [] : [state.other])];
      return {
        seconds: span.map((minute) => (inMinute(state.covered, minute)[0] ?? 0) / 1_000),
        edges: all.map(({ edge, minutes: past }) => ({ edge, minutes: span.map((minute) => inMinute(past, minute)) })),
      };
    },
    get edges() {
      return rows.size;
    },
  };
}

interface Row {
  readonly edge: TrafficEdge;
  readonly totals: Signals;
  readonly minutes: History;
  /** The answer that had it last. */
  seen: number;
}

interface ClusterState {
  readonly covered: History;
  /** What there is no room for, of this cluster. */
  other: Row | undefined;
  answeredAt: number;
  targets: number;
  scraped: number;
  controlPlanes: readonly ControlPlaneState[];
}

/** Made when there is need for it: most clusters never have it. */
function otherOf(state: ClusterState, minute: number): Row {
  state.other ??= { edge: otherEdge(""), totals: noSignals(), minutes: history(SIGNAL_COUNT, minute), seen: 0 };
  return state.other;
}

const OTHER_KEY = edgeKey(otherEdge(""));

/** Each control plane once, whatever an agent sends. */
function distinct(controlPlanes: readonly ControlPlaneState[]): readonly ControlPlaneState[] {
  return [...new Map(controlPlanes.map((plane) => [`${plane.namespace}\n${plane.workload}`, plane])).values()];
}

const MINUTES = 60;
const MINUTE_MS = 60_000;
const FRESH_MS = 2 * MINUTE_MS;

function minuteOf(ms: number): number {
  return Math.floor(ms / MINUTE_MS);
}

/** Numbers for each minute of the last hour: a ring, of which `newest` is the last minute since 1970 that something was added to. */
interface History {
  readonly width: number;
  readonly ring: Float32Array;
  newest: number;
}

function history(width: number, minute: number): History {
  return { width, ring: new Float32Array(width * MINUTES), newest: minute };
}

/** What was added in a minute of the last hour. */
function numbersOf({ width, ring }: History, minute: number): Float32Array {
  return ring.subarray((minute % MINUTES) * width, ((minute % MINUTES) + 1) * width);
}

/** Adds to a minute; to one that is an hour older than the newest, nothing. */
function addTo(past: History, minute: number, numbers: ArrayLike<number>, part: number): void {
  const { width, ring } = past;
  for (let passed = Math.max(past.newest + 1, minute - MINUTES + 1); passed <= minute; passed++)
    ring.fill(0, (passed % MINUTES) * width, ((passed % MINUTES) + 1) * width);
  past.newest = Math.max(past.newest, minute);
  if (minute <= past.newest - MINUTES) return;
  const start = (minute % MINUTES) * width;
  for (let i = 0; i < width; i++) ring[start + i] = (ring[start + i] ?? 0) + (numbers[i] ?? 0) * part;
}

/** Of a minute that is too old, or has not been, nothing. */
function inMinute(past: History, minute: number): Signals {
  const isKept = minute <= past.newest && minute > past.newest - MINUTES;
  return isKept ? Float64Array.from(numbersOf(past, minute)) : new Float64Array(past.width);
}

function sumSince({ width, ring, newest }: History, from: number): Signals {
  const sum = new Float64Array(width);
  for (let minute = Math.max(from, newest - MINUTES + 1); minute <= newest; minute++)
    for (let i = 0; i < width; i++) sum[i] = (sum[i] ?? 0) + (ring[(minute % MINUTES) * width + i] ?? 0);
  return sum;
}

/** A time, minute by minute. */
function partsOf(from: number, to: number): readonly { readonly minute: number; readonly ms: number }[] {
  const parts: { minute: number; ms: number }[] = [];
  for (let at = from; at < to; ) {
    const end = Math.min(to, (minuteOf(at) + 1) * MINUTE_MS);
    parts.push({ minute: minuteOf(at), ms: end - at });
    at = end;
  }
  return parts;
}
