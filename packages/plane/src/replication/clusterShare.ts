import type { Snapshot } from "@isthmus/core";
import type { Fence, StoreDelta, StoreHead, StoreVersion } from "@isthmus/ports";
import type { ClusterMeta } from "./clusterMeta.ts";
import type { FollowedPartition, WrittenNotice } from "./partitionLoader.ts";

/**
 * How this replica shares the input of one cluster through the store, as a value: `stepShare` is all that changes it. It knows neither
 * the store nor clocks. One replica owns a cluster at a time, the one its agent is connected to; all others follow.
 */
export type ClusterShare = FollowerShare | ReadingShare | OwnerShare | ReleasingShare | WithdrawnShare;

/** A share of a cluster that this replica does not write. */
export type UnownedShare = FollowerShare | ReadingShare | WithdrawnShare;

/** What is known of a cluster that this replica does not write. */
interface Knowledge {
  /** The state of the store that memory has; undefined: none that is known. */
  readonly followed: FollowedPartition | undefined;
  /** What the owner reports beside the objects. */
  readonly meta: ClusterMeta | undefined;
  /**
   * How much the agent has reported here that is not written yet: it may be gone again before it is. Memory is then no longer what was
   * followed; everything is this replica's to write.
   */
  readonly unwritten: "nothing" | "part" | "everything";
  /**
   * Memory may have what the store never had: only what another replica has heard in whole replaces it, under this fence or a higher
   * one.
   */
  readonly minimumFence: number | undefined;
  /** Since when, by `uptimeOf`, the store is seen without that fence: it may have lost it. */
  readonly belowMinimumSince: number | undefined;
  /** The same, of what the agent reports now to whichever replica it is connected to, under any fence. */
  readonly awaitsAgent: boolean;
  /** The store has an older state than is followed; undefined: none that was seen. */
  readonly older: OlderState | undefined;
  /** The version that was known when an older state of the store was logged: each is logged once. */
  readonly loggedVersion: StoreVersion | undefined;
  /** Since when, by `uptimeOf`, the store holds the cluster without a registration. */
  readonly unregisteredSince: number | undefined;
}

/** A state of the store below the one that is followed. */
interface OlderState {
  /** Whether it says that the agent is connected: then somebody writes under a fence that is too low. */
  readonly isServed: boolean;
  /** Since when, by `uptimeOf`. */
  readonly since: number | undefined;
  /** It has stayed for so long that this replica is to raise the fence. */
  readonly isLasting: boolean;
}

/** Another replica writes the cluster, or none. */
export interface FollowerShare extends Knowledge {
  readonly type: "follower";
}

/** The cluster is being read from the store. */
export interface ReadingShare extends Knowledge {
  readonly type: "reading";
  /** What was written since the reading began, in order. */
  readonly written: readonly WrittenNotice[];
}

/** The cluster is not registered, and its partition in the store is to be cleared by this replica. */
export interface WithdrawnShare extends Knowledge {
  readonly type: "withdrawn";
}

/** This replica writes the cluster. */
export interface OwnerShare {
  readonly type: "owner";
  readonly fence: Fence;
  /** Set until the agent has reported everything here: the version of the store that memory had when this replica became the owner. */
  readonly incomplete: { readonly version: StoreVersion | undefined } | undefined;
}

/** Another replica has the right to write: the writer here is being closed, and nothing more is written. */
export interface ReleasingShare {
  readonly type: "releasing";
  /** The fence that this replica had. */
  readonly fence: Fence;
  /** The replica that owns the cluster now, and its fence where that is known. */
  readonly to: { readonly replica: string; readonly fence?: number };
}

/** What this replica knows of a cluster at the moment of an event. */
export interface ClusterView {
  readonly isRegistered: boolean;
  /** Whether all registrations are known: before, a cluster that is not seen may be registered all the same. */
  readonly areRegistrationsKnown: boolean;
  /** Whether this replica clears what no other clears. */
  readonly leads: boolean;
  /** Whether the agent is connected to this replica. */
  readonly isServed: boolean;
  /** Whether the agent is connected here and has reported everything. */
  readonly isSynced: boolean;
  /** Whether there is anything to write: what is unknown is not empty. */
  readonly isKnown: boolean;
  /** Whether everything that the agent reported here is still known as it was reported. */
  readonly remembers: boolean;
  /** The version of the store that the writer here has last written or found; undefined without a writer, and while it is in doubt. */
  readonly writerVersion: StoreVersion | undefined;
}

/**
 * What a fence is raised for: to write; to write, before the ages of objects are read; to clear; or to have the replica that writes the cluster raise it once
 * more, above what others have followed.
 */
export type FencePurpose = "write" | "age" | "clear" | "surpass";

/** By whom a fence is raised under which nobody writes. */
export const NO_REPLICA = "";

/** What happens to a cluster. */
export type ShareEvent =
  /** The agent came, went or reported, or the cluster was registered. */
  | { readonly type: "touched" }
  /** The cluster is no longer registered. */
  | { readonly type: "forgotten" }
  /** The replicas that run have changed. */
  | { readonly type: "replicasChanged" }
  /** Notices of the store were lost. */
  | { readonly type: "missed" }
  /** Another replica raised the fence; `NO_REPLICA`: nobody is to write under it. */
  | { readonly type: "raised"; readonly fence: number; readonly by: string }
  | { readonly type: "written"; readonly notice: WrittenNotice; readonly isOwn: boolean }
  | { readonly type: "cleared"; readonly fence: number }
  /** A reader found other objects at this version than its head says. */
  | { readonly type: "distrusted"; readonly version: StoreVersion }
  /** The overview of the store has this version; undefined: none. */
  | {
      readonly type: "compared";
      readonly version: StoreVersion | undefined;
      /** What the writer here had when the store was asked; undefined without one. */
      readonly asked: { readonly version: StoreVersion | undefined } | undefined;
      /** Whether the writer here has something to write. */
      readonly isDirty: boolean;
      readonly now: number;
    }
  /** It is this cluster's turn of work. */
  | { readonly type: "work" }
  /** The right to write is needed before the ages of objects are read: from then on nobody else changes them. */
  | { readonly type: "claim" }
  /** It is this cluster's turn to be read. */
  | { readonly type: "read" }
  /** The head of the partition while it is read: see `acceptsHead`. */
  | { readonly type: "headFound"; readonly head: StoreHead }
  /** The writer is closed: what memory and the store are known to have in common. */
  | { readonly type: "released"; readonly followed: FollowedPartition | undefined }
  | TaskAnswer;

/** How tasks end when the store answers. Where it does not, only a reading has to end: by `readEnded`. */
export type TaskAnswer =
  | { readonly type: "fenceGranted"; readonly fence: Fence; readonly purpose: FencePurpose }
  | { readonly type: "agesFound" }
  | { readonly type: "versionFound"; readonly version: StoreVersion | undefined }
  | { readonly type: "flushed"; readonly fence: Fence; readonly outcome: "written" | "superseded" }
  | { readonly type: "partitionCleared" }
  /** Nothing was read: there is nothing complete, it is not accepted, or the store did not answer. */
  | { readonly type: "readEnded" }
  | {
      readonly type: "loaded";
      readonly head: StoreHead;
      readonly content: Snapshot;
      /** What was written of other kinds meanwhile, in order. */
      readonly since: readonly StoreDelta[];
      /** Whether memory changed while the store was read: what was read may be older. */
      readonly isOvertaken: boolean;
    };

/** What the driver does at once, in order. */
export type ShareEffect =
  /** Asks for a turn of work. */
  | { readonly type: "wake" }
  | { readonly type: "openWriter"; readonly fence: Fence }
  | { readonly type: "closeWriter" }
  /** Closes the writer after it has taken note of all changes; answered by `released` before anything else happens. */
  | { readonly type: "release" }
  /** The writer looks at what the store has before it writes anything else. */
  | { readonly type: "doubt" }
  /** The writer writes everything again. */
  | { readonly type: "distrust" }
  /** Ends the agent's connection: it is connected to another replica. */
  | { readonly type: "disconnect"; readonly to: string }
  | { readonly type: "logOlderState" }
  /** What the owner reports of the cluster holds, with the objects as they are known. */
  | { readonly type: "publishMeta"; readonly meta: ClusterMeta }
  | { readonly type: "publishContent"; readonly meta: ClusterMeta; readonly content: Snapshot }
  | { readonly type: "publishDelta"; readonly meta: ClusterMeta; readonly delta: StoreDelta }
  /** Only in turns of work, and one at a time. */
  | { readonly type: "start"; readonly task: ShareTask };

/** What the driver asks of the store in a turn of work. Each ends in its answer, or in a StoreError: the turn is then repeated. */
export type ShareTask =
  | { readonly type: "raiseFence"; readonly purpose: FencePurpose; readonly above: number | undefined }
  /** Finds when objects were first seen, after a `claim`. */
  | { readonly type: "findAges" }
  | { readonly type: "findVersion" }
  | { readonly type: "flush"; readonly fence: Fence }
  | { readonly type: "clear"; readonly fence: Fence }
  /** Asks for `read`, now or when it is this cluster's turn. */
  | { readonly type: "queueRead" }
  /** Reads the kinds that differ from what is known. */
  | { readonly type: "load"; readonly known: FollowedPartition["kinds"] };

/** The next state, and what is to be done. */
export type ShareStep<Share extends ClusterShare = ClusterShare> = readonly [Share, readonly ShareEffect[]];

/** Nothing is known of a cluster. */
export const NEW_SHARE: FollowerShare = {
  type: "follower",
  followed: undefined,
  meta: undefined,
  unwritten: "nothing",
  minimumFence: undefined,
  belowMinimumSince: undefined,
  awaitsAgent: false,
  older: undefined,
  loggedVersion: undefined,
  unregisteredSince: undefined,
};

/** Whether nothing is known, so that nothing need be kept. */
export function isNewShare(share: ClusterShare): boolean {
  if (share.type !== "follower") return false;
  const { followed, meta, unwritten, minimumFence, awaitsAgent, unregisteredSince } = share;
  const isAwaiting = minimumFence !== undefined || awaitsAgent;
  return followed === undefined && meta === undefined && unwritten === "nothing" && !isAwaiting && unregisteredSince === undefined;
}

/** Whether this replica writes the cluster, and its agent has reported everything here. */
export function isReportComplete(share: ClusterShare): boolean {
  return share.type === "owner" && share.incomplete === undefined;
}

/** Whether a version is not newer than another one. */
export function isNotAfter(version: StoreVersion, known: StoreVersion): boolean {
  return version.fence < known.fence || (version.fence === known.fence && version.sequence <= known.sequence);
}

export const WAKE: ShareEffect = { type: "wake" };

/** Starts one task. */
export function start(task: ShareTask): ShareEffect {
  return { type: "start", task };
}
