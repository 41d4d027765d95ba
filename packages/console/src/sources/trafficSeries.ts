import { edgeKey, errorsIn, requestsIn } from "@isthmus/core";
import type { ClusterActivity, EdgeActivity, TrafficActivity } from "@isthmus/plane";

/** What the edges of a cluster were at the last moments, oldest first. */
export interface TrafficSeries {
  /** Of each moment, in ISO 8601. */
  readonly times: readonly string[];
  /** Of an edge that the cluster has now: requests a second and failed ones a second, at each moment. */
  of(edge: EdgeActivity["edge"]): readonly number[];
}

/** A series as it grows. */
interface Known {
  readonly at: number;
  readonly times: readonly string[];
  /** By `edgeKey`. */
  readonly edges: ReadonlyMap<string, readonly number[]>;
}

/**
 * Remembers what was counted at the last moments, per cluster: to be called with each activity as it comes. An edge that was not among those of a moment had
 * no request then. Where a cluster has said nothing for some minutes its series begins again: what was not counted is unknown, and not nothing. Bounded by
 * the edges that clusters have now.
 */
export function trafficSeries(): {
  readonly next: (activity: ClusterActivity, traffic: TrafficActivity) => TrafficSeries;
  forget(clusterName: string): void;
} {
  const clusters = new Map<string, Known>();
  return {
    next({ clusterName, at }, traffic) {
      const before = clusters.get(clusterName);
      const known = before?.at === at ? before : later(before, at, traffic);
      clusters.set(clusterName, known);
      return { times: known.times, of: (edge) => known.edges.get(edgeKey(edge)) ?? [] };
    },
    forget: (clusterName) => void clusters.delete(clusterName),
  };
}

function later(before: Known | undefined, at: number, traffic: TrafficActivity): Known {
  const isNext = before !== undefined && at > before.at && at - before.at <= GAP_MS;
  const known = isNext ? before.times : [];
  // The last moment is replaced as long as it is near the one before it.
  const kept = at - Date.parse(known.at(-2) ?? "") < STEP_MS ? known.slice(0, -1) : known;
  const from = Math.max(0, kept.length - POINTS + 1);
  const times = kept.slice(from);
  const seconds = Math.max(1, traffic.windows[0]?.seconds ?? 0);
  const edges = traffic.edges.map(({ edge, signals: [counted = NOTHING] }) => {
    const key = edgeKey(edge);
    const last = isNext ? before.edges.get(key) : undefined;
    const earlier = last?.slice(2 * from, 2 * (from + times.length)) ?? times.flatMap(() => [0, 0]);
    return [key, [...earlier, requestsIn(counted) / seconds, errorsIn(counted) / seconds]] as const;
  });
  return { at, times: [...times, new Date(at).toISOString()], edges: new Map(edges) };
}

const NOTHING = new Float64Array(0);
// Servers write once a minute; in the demo more often.
const POINTS = 30;
const STEP_MS = 70_000;
const GAP_MS = 180_000;
