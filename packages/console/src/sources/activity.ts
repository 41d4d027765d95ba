import { edgeRow } from "@isthmus/core";
import { type ClusterActivity, SYNC_BOUNDS } from "@isthmus/plane";
import type { ConsoleActivity } from "../wire.ts";
import { type TrafficSeries, trafficSeries } from "./trafficSeries.ts";

/** Figures as they are shown; the same ones, and the same map, while they are the same. */
export function shownActivity(): (activity: ReadonlyMap<string, ClusterActivity>) => ReadonlyMap<string, ConsoleActivity> {
  const known = new WeakMap<ClusterActivity, ConsoleActivity>();
  const series = trafficSeries();
  let last: { readonly of: ReadonlyMap<string, ClusterActivity>; readonly shown: ReadonlyMap<string, ConsoleActivity> } | undefined;
  return (activity) => {
    if (last?.of === activity) return last.shown;
    const shown = [...activity].map(([cluster, one]) => {
      const made = known.get(one) ?? shownOf(one, one.traffic && series.next(one, one.traffic));
      known.set(one, made);
      return [cluster, made] as const;
    });
    for (const cluster of last?.shown.keys() ?? []) if (!activity.has(cluster)) series.forget(cluster);
    last = { of: activity, shown: new Map(shown) };
    return last.shown;
  };
}

function shownOf({ clusterName, at, sync, traffic, problem }: ClusterActivity, series: TrafficSeries | undefined): ConsoleActivity {
  const about = { cluster: clusterName, at: new Date(at).toISOString(), sync, syncBounds: SYNC_BOUNDS };
  const why = problem === undefined ? {} : { problem };
  if (traffic === undefined) return { ...about, ...why };
  const { edges, ...told } = traffic;
  const rows = edges.map(({ edge, signals }) =>
    edgeRow(edge, [...signals.flatMap((numbers) => [...numbers]), ...(series?.of(edge) ?? [])]),
  );
  return { ...about, traffic: { ...told, times: series?.times ?? [], edges: rows }, ...why };
}
