import type { Delta, Meter, Metric, Report } from "@isthmus/core";
import type { Translation } from "@isthmus/translators";
import type { WorkQueueSizes } from "../runtime/workQueue.ts";
import { gvkOf, workQueueMetrics } from "../runtime/workQueueMetrics.ts";
import type { SnapshotStore } from "../snapshots/snapshotStore.ts";
import type { Confirmations } from "./confirmations.ts";
import type { DeliveryLog } from "./delivery.ts";
import type { Lags } from "./statuses/lag.ts";

/** What the server's loops hold now, as figures. */
export interface ServerGauges {
  readonly store: SnapshotStore;
  readonly delivery: DeliveryLog;
  readonly confirmations: Pick<Confirmations, "isConfirmed">;
  readonly lags: Lags;
  readonly translation: Translation | undefined;
  /** Clusters of which everything is known and that are not translated yet. */
  readonly waiting: number;
  readonly queues: Readonly<Record<string, WorkQueueSizes>>;
  readonly now: number;
}

/** One reading of all gauges, for the metrics page; `now` in milliseconds since 1970. */
export function serverMetrics({
  store,
  delivery,
  confirmations,
  lags,
  translation,
  waiting,
  queues,
  now,
}: ServerGauges): readonly Metric[] {
  const perCluster = [...store.clusters].flatMap(([cluster, { phase }]): Metric[] => {
    const since = lags.behindSince(cluster);
    const rejected = [...delivery.rejectedIn(cluster)].map(
      ([code, value]): Metric => ({ name: "relay_server_objects_rejected", labels: { cluster, code }, value }),
    );
    return [
      { name: "relay_push_clients_warmed", labels: { cluster }, value: phase === "unknown" ? 0 : 1 },
      { name: "relay_server_unconfirmed", labels: { cluster }, value: confirmations.isConfirmed(cluster) ? 0 : 1 },
      { name: "relay_server_lag_seconds", labels: { cluster }, value: since === undefined ? 0 : Math.max(0, now - since) / 1000 },
      ...rejected,
    ];
  });
  return [
    ...perCluster,
    { name: "gloo_mesh_clusters_to_translate", labels: {}, value: waiting },
    { name: "gloo_mesh_outputs", labels: {}, value: translation?.networking.size ?? 0 },
    { name: "gloo_mesh_translation_faults", labels: {}, value: translation?.faults.size ?? 0 },
    ...workQueueMetrics(queues),
  ];
}

/** Counts what changed of what translation reads, by the cluster that it is in. */
export function countMerged(meter: Meter, { put, remove }: Delta): void {
  const counts = new Map<string, number>();
  const count = (cluster = "") => counts.set(cluster, (counts.get(cluster) ?? 0) + 1);
  for (const { metadata } of put) count(metadata.clusterName);
  for (const { clusterName } of remove) count(clusterName);
  for (const [cluster, amount] of counts) meter.add("gloo_mesh_objects_merged_total", { cluster }, amount);
}

/** Counts findings that were not there before. */
export function countFindings(meter: Meter, found: readonly Report[]): void {
  for (const { state, subject } of found) {
    if (state !== "ACCEPTED") meter.add(state === "WARNING" ? "translation_warning" : "translation_error", { gvk: gvkOf(subject) });
  }
}
