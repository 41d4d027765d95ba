import { emptyTable, type ResourceRef, resourceKeyOf, type Snapshot, type Table } from "@isthmus/core";
import type {
  ConsoleActivity,
  ConsoleCertificate,
  ConsoleEndedInsight,
  ConsoleInsight,
  ConsoleSource,
  ConsoleViewer,
  ForgottenInsights,
  SnapshotClock,
} from "../wire.ts";

/** What is wrong with one object. */
export interface ObjectInsightList {
  readonly object: ResourceRef;
  readonly insights: readonly ConsoleInsight[];
}

/** All that a source knows at one moment. Nothing in it ever changes, so that what differs between two moments costs what differs. */
export interface FleetMoment {
  /** By the names of parts that have no object in common, in the order in which they are sent. */
  readonly objects: ReadonlyMap<string, Snapshot>;
  readonly generated: ReadonlyMap<string, Snapshot>;
  readonly insights: {
    /** In ISO 8601; null: nothing has been found out yet. */
    readonly at: string | null;
    /** By `resourceKeyOf`. */
    readonly objects: Table<ObjectInsightList>;
    readonly unknown: readonly string[];
    /** Those that are no more: the same list as long as none is added. */
    readonly ended: readonly ConsoleEndedInsight[];
    /** Of the clusters of which earlier ones were left out of `ended`. */
    readonly forgotten: readonly ForgottenInsights[];
  };
  readonly certificates: readonly ConsoleCertificate[];
  /** What happened in each cluster, by its name; absent where the source has none. What did not change is the same as before. */
  readonly activity?: ReadonlyMap<string, ConsoleActivity>;
  /** For whom it is; absent where everybody sees everything. */
  readonly viewer?: ConsoleViewer;
  /** Another one than before: what was sent until now may not be sent again. */
  readonly revision?: number;
}

/** A table of insights with nothing in it. */
export const NO_INSIGHTS: Table<ObjectInsightList> = emptyTable(({ object }) => resourceKeyOf(object));

/** A moment of which nothing is known. */
export const NOTHING_KNOWN: FleetMoment = {
  objects: new Map(),
  generated: new Map(),
  insights: { at: null, objects: NO_INSIGHTS, unknown: [], ended: [], forgotten: [] },
  certificates: [],
};

/** Where a console has the fleet from. */
export interface FleetSource {
  readonly about: ConsoleSource;
  /**
   * What is known now; the parts of it that did not change are those of the moment before. Undefined before everything has been read once: what is unknown is not shown as nothing.
   * Called again and again, never twice at once. Rejects where the source cannot be read.
   */
  read(signal: AbortSignal): Promise<FleetMoment | undefined>;
  /** How fresh it is. */
  clock(): Omit<SnapshotClock, "now">;
}
