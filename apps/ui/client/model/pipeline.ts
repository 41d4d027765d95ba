import type { Fleet } from "../data/fleet.ts";
import { type ClusterRow, clusterRows } from "./clusters/clusterRows.ts";
import { objectCounts } from "./objectCounts.ts";
import { isInScope, NO_SCOPE, type Scope } from "./scope.ts";

/** A cluster on the way from what it reports to what it acknowledges. */
export interface PipelineRow extends Pick<ClusterRow, "name" | "status" | "heardAt" | "lag"> {
  /** Objects that are known of it. */
  readonly received: number;
  /** Objects that are desired in it. */
  readonly translated: number;
  /** Undefined: it is not known. */
  readonly isConnected: boolean | undefined;
}

/** How far each stage is, of the clusters of a scope; objects of the management cluster are counted with the merged ones. */
export interface Pipeline {
  readonly clusters: readonly PipelineRow[];
  readonly received: number;
  /** When the cluster of which longest nothing was heard was heard last, in ISO 8601. */
  readonly oldestHeardAt: string | undefined;
  /** All objects of the snapshot, whatever the scope. */
  readonly merged: number;
  readonly translated: number;
  readonly connected: number;
  /** Clusters that have acknowledged what is desired, that are behind, and of which it is not known. */
  readonly acknowledged: number;
  readonly behind: number;
  readonly unknown: number;
  /** Since when the first of those that are behind is so, in ISO 8601. */
  readonly behindSince: string | undefined;
}

/** The pipeline as the browser knows it. */
export function pipelineOf(fleet: Fleet, scope: Scope = NO_SCOPE): Pipeline {
  const generated = objectCounts(fleet.generated).byCluster;
  const connected = new Map((fleet.clock?.clusters ?? []).map((clock) => [clock.name, clock.connected]));
  const clusters = clusterRows(fleet)
    .filter(({ name }) => isInScope(scope, [name]))
    .map(
      ({ name, cluster, status, heardAt, lag, objects }): PipelineRow => ({
        name,
        status,
        heardAt,
        lag,
        received: objects,
        translated: generated.get(name) ?? 0,
        isConnected: connected.get(name) ?? cluster?.status?.agent?.connected,
      }),
    );
  const sum = (of: (row: PipelineRow) => number) => clusters.reduce((total, row) => total + of(row), 0);
  const least = (times: readonly string[]) =>
    times.reduce<string | undefined>((first, time) => (first === undefined || time < first ? time : first), undefined);
  const since = clusters.flatMap(({ lag }) => (typeof lag === "object" ? [lag.since] : []));
  return {
    clusters,
    received: sum(({ received }) => received),
    oldestHeardAt: least(clusters.flatMap(({ heardAt }) => heardAt ?? [])),
    merged: [...objectCounts(fleet.snapshot).byCluster.values()].reduce((total, count) => total + count, 0),
    translated: sum(({ translated }) => translated),
    connected: clusters.filter(({ isConnected }) => isConnected === true).length,
    acknowledged: clusters.filter(({ lag }) => lag === "none" || lag === "short").length,
    behind: since.length,
    unknown: clusters.filter(({ lag }) => lag === "unknown").length,
    behindSince: least(since),
  };
}
