import { type AccessLogRecord, type Mesh, meshClusters } from "@isthmus/api";
import type { Matching } from "../../../incremental/matching.ts";
import { accessLogRecordFormOf } from "../../../policy/forms/accessLogRecordForm.ts";
import { uniqueInKeyOrder, workloadMatching } from "../workloadMatching.ts";

/** AccessLogRecords and the Workloads that they select. */
export const { selecting: selectingRecords, first: firstLogging } = workloadMatching((record: AccessLogRecord) => {
  const { spec } = accessLogRecordFormOf(record);
  return spec && (spec.workloadSelectors ?? NONE);
});

/** A Mesh and the AccessLogRecords that can select Workloads of its cluster, in key order: whether they do is not asked. */
export const recordsIn: Matching<Mesh, AccessLogRecord> = {
  find: (mesh, records) => uniqueInKeyOrder([ANY, ...meshClusters(mesh)].flatMap((cluster) => records.where(byCluster, cluster))),
  *findBack(record, meshes) {
    for (const cluster of byCluster(record)) {
      if (cluster !== ANY) yield* meshes.where(byOwnClusters, cluster);
      else for (const [, mesh] of meshes.entries()) yield mesh;
    }
  },
  isSameAsking: (before, after) => before.spec === after.spec,
  isSameFound: (before, after) => before === after,
  indexes: [byCluster],
  backIndexes: [byOwnClusters],
};

function byOwnClusters(mesh: Mesh): readonly string[] {
  return meshClusters(mesh);
}

/** AccessLogRecords by the clusters that they name; `ANY` where some entry, or nothing, names none. */
function byCluster(record: AccessLogRecord): readonly string[] {
  const { spec } = accessLogRecordFormOf(record);
  if (spec === undefined) return NONE;
  const lists = (spec.workloadSelectors ?? NONE).map(({ kubeWorkloadMatcher }) => kubeWorkloadMatcher?.clusters ?? NONE);
  const isAny = lists.length === 0 || lists.some((clusters) => clusters.length === 0);
  return isAny ? [ANY] : [...new Set(lists.flat())];
}

// No cluster has this name.
const ANY = "";
const NONE: readonly never[] = [];
