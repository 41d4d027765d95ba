import type {
  ConsoleActivity,
  ConsoleCertificate,
  ConsoleEndedInsight,
  ConsoleInsight,
  ConsoleSource,
  ConsoleViewer,
  ForgottenInsights,
  SnapshotClock,
} from "@isthmus/console/wire";
import { emptySnapshot, emptyTable, type ResourceRef, resourceKeyOf, type Snapshot, type Table } from "@isthmus/core";

/** All that is wrong with one object. */
export interface ObjectInsights {
  readonly object: ResourceRef;
  readonly insights: readonly ConsoleInsight[];
}

/** All that the browser knows at one instant. What did not change is shared with the instant before. */
export interface Fleet {
  /** Undefined until the server has said what it is. */
  readonly source: ConsoleSource | undefined;
  /** Objects as they are reported, discovered, declared, with their statuses. */
  readonly snapshot: Snapshot;
  /** What translation wants in the clusters. */
  readonly generated: Snapshot;
  /** By `resourceKeyOf`. */
  readonly insights: Table<ObjectInsights>;
  /** Of which moment the insights are, in ISO 8601; null: nothing has been found out yet. */
  readonly insightsAt: string | null;
  /** Insights that are no more, the older first. */
  readonly ended: readonly ConsoleEndedInsight[];
  /** Clusters of which earlier ones are not known. */
  readonly forgottenInsights: readonly ForgottenInsights[];
  readonly unknownClusters: readonly string[];
  readonly certificates: readonly ConsoleCertificate[];
  /** What happened in each cluster within the last hour, by its name; of one that is missing nothing is known. */
  readonly activity: ReadonlyMap<string, ConsoleActivity>;
  /** Who reads it, and what is left out; undefined where there is no login. */
  readonly viewer: ConsoleViewer | undefined;
  readonly clock: SnapshotClock | undefined;
  /** Whether everything that was known when the stream began is here. */
  readonly isReady: boolean;
  /** Of which earlier time it is, in ISO 8601; undefined: it is as new as its clock says. */
  readonly past: string | undefined;
}

/** Nothing is known yet. */
export function emptyFleet(): Fleet {
  return {
    source: undefined,
    snapshot: emptySnapshot(),
    generated: emptySnapshot(),
    insights: emptyTable<ObjectInsights>(({ object }) => resourceKeyOf(object)),
    insightsAt: null,
    ended: [],
    forgottenInsights: [],
    unknownClusters: [],
    certificates: [],
    activity: new Map(),
    viewer: undefined,
    clock: undefined,
    isReady: false,
    past: undefined,
  };
}
