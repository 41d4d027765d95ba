import type { AnyResource, JsonObject, Kind, LabelSelector, Resource, ResourceRef } from "@isthmus/core";

/** Everything the loops need of the outside world. Each port has a real and a simulated implementation that pass one contract suite. */

/** One list of a kind, consistent at `resourceVersion`. */
export interface ResourceList<R extends Resource> {
  readonly items: readonly R[];
  /** Objects that are not of their kind, each with what is wrong with it. They are reported and otherwise left alone. */
  readonly malformed: readonly Malformed[];
  readonly resourceVersion: string;
}

/** An object of the cluster that could not be parsed. */
export interface Malformed {
  readonly ref: ResourceRef;
  readonly message: string;
  /** What is wrong with it beside that: a few more messages. */
  readonly further?: readonly string[];
  /** What its status says; undefined when it has none. */
  readonly status?: JsonObject;
}

export type WatchEvent<R extends Resource> =
  /** An object was added or changed. */
  | { readonly type: "put"; readonly resource: R; readonly resourceVersion: string }
  | { readonly type: "removed"; readonly resource: Resource; readonly resourceVersion: string }
  /** An object was added or changed and is not of its kind. */
  | { readonly type: "malformed"; readonly malformed: Malformed; readonly resourceVersion: string }
  /** Nothing more happened up to `resourceVersion`. */
  | { readonly type: "bookmark"; readonly resourceVersion: string };

export interface ListOptions {
  readonly namespace?: string;
  /** The one object of this name: anyone who may read no other object may list and watch it. */
  readonly name?: string;
  readonly labels?: LabelSelector;
}

export interface WholeListOptions<R extends Resource> extends ListOptions {
  /**
   * Gives what is kept of each object, as soon as it is read: of a large list no more than a page stands in memory as the API server
   * sent it. Default: all of it.
   */
  readonly transform?: (resource: R) => R;
}

export interface WatchOptions extends ListOptions {
  /** Begins with a bookmark of the version that was asked for, as soon as the API server has accepted the watch. Default: no. */
  readonly emitsAccepted?: boolean;
}

export interface ApplyOptions {
  readonly fieldManager: string;
  /** Take fields over from other managers. Off by default: their owner wins, with ApplyConflict. */
  readonly force?: boolean;
  readonly dryRun?: boolean;
}

/** Deletes only the very object that was looked at. */
export interface Preconditions {
  readonly uid?: string;
  readonly resourceVersion?: string;
}

/** A kind that a cluster's API server knows. */
export interface ServedKind {
  readonly apiVersion: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
}

/**
 * One Kubernetes cluster. Resources that come out carry `metadata.clusterName` = `name`; it is taken off those that go in.
 * Every method rejects with ClusterError; everything that waits takes an AbortSignal last and rejects with its reason.
 */
export interface Cluster {
  /** "" for the management cluster. */
  readonly name: string;
  /** Every kind and version that the API server serves now. */
  servedKinds(signal?: AbortSignal): Promise<readonly ServedKind[]>;
  /** The object as it is now, or undefined when there is none. Unlike those of `list` and `watch` it keeps `metadata.managedFields`. */
  get<R extends Resource>(
    kind: Kind<R>,
    ref: { readonly name: string; readonly namespace: string },
    signal?: AbortSignal,
  ): Promise<R | undefined>;
  /** Pages as needed. */
  list<R extends Resource>(kind: Kind<R>, options?: WholeListOptions<R>, signal?: AbortSignal): Promise<ResourceList<R>>;
  /**
   * All changes after `resourceVersion`, with bookmarks. Ends without error when the server closes the watch (watch again from
   * the last resourceVersion), with ClusterError `Expired` when it is too old (list again).
   */
  watch<R extends Resource>(
    kind: Kind<R>,
    resourceVersion: string,
    options: WatchOptions,
    signal: AbortSignal,
  ): AsyncIterable<WatchEvent<R>>;
  /** Server-side apply of the whole object as this field manager wants it; creates it when absent. Gives the object as stored. */
  apply(resource: Resource, options: ApplyOptions, signal?: AbortSignal): Promise<AnyResource>;
  /** Server-side apply of `status` alone. The object must exist; with `metadata.resourceVersion` in that very version, else `Conflict`. */
  applyStatus(resource: AnyResource, options: ApplyOptions, signal?: AbortSignal): Promise<AnyResource>;
  /** Creates; `AlreadyExists` when it does. */
  create(resource: Resource, signal?: AbortSignal): Promise<AnyResource>;
  /**
   * Replaces; with `metadata.resourceVersion` only that very version, else `Conflict`. `metadata.managedFields`, where it is given,
   * says whose fields are whose; without it nobody's claim changes but for what is changed.
   */
  update(resource: Resource, signal?: AbortSignal): Promise<AnyResource>;
  /** Replaces `status` alone, under the same rule. */
  updateStatus(resource: AnyResource, signal?: AbortSignal): Promise<AnyResource>;
  /** Deletes; `NotFound` when it is gone, `Conflict` when a precondition fails. */
  delete(ref: ResourceRef, preconditions?: Preconditions, signal?: AbortSignal): Promise<void>;
  /** Evicts a pod, as `kubectl drain` does; `Blocked` when a PodDisruptionBudget does not allow it now, `NotFound` when it is gone. */
  evict(pod: ResourceRef, preconditions?: Preconditions, signal?: AbortSignal): Promise<void>;
}

export type ClusterErrorCode =
  | "NotFound"
  /** The API server does not know the kind. */
  | "Unserved"
  | "AlreadyExists"
  /** Another field manager owns a field (`apply`), or the object changed meanwhile (`update`, `delete`). */
  | "Conflict"
  /** The API server will never take this object as it is. */
  | "Invalid"
  /** The credentials do not allow it. */
  | "Forbidden"
  /** The resourceVersion is too old to watch from. */
  | "Expired"
  /** A PodDisruptionBudget does not allow the eviction: to be tried again, and said to users when it never does. */
  | "Blocked"
  /** Not answered, or overload: to be tried again. */
  | "Unavailable";

export interface ClusterErrorDetails {
  /** Fields in question, as paths. */
  readonly fields?: readonly string[];
  /** The field manager that owns them. */
  readonly manager?: string;
  /** The server asked to wait this long. */
  readonly retryAfterMs?: number;
  /** Of `Forbidden`: the server does not know who asks, as of a token that has expired. No other permission helps. */
  readonly isUnknownUser?: true;
}

/**
 * Why a cluster did not do what was asked of it: every method of `Cluster` rejects with it, unless it was aborted. Callers decide by
 * `code`; the message is for users and logs.
 */
export class ClusterError extends Error {
  override readonly name = "ClusterError";
  readonly code: ClusterErrorCode;
  readonly details: ClusterErrorDetails;

  constructor(code: ClusterErrorCode, message: string, details: ClusterErrorDetails = {}, cause?: unknown) {
    super(message, cause === undefined ? {} : { cause });
    this.code = code;
    this.details = details;
  }
}

/** Who may read what a program tells of its clusters. */
export interface Authorizer {
  /**
   * Whether the bearer of `token` may get `path`, a URL that names no resource; `isKnown`: whether there is such a user at all. Only a
   * token that was made for `audience` counts, unless it came encrypted. Rejects with ClusterError when it cannot be asked.
   */
  authorize(
    question: { readonly token: string; readonly path: string; readonly audience: string; readonly isEncrypted: boolean },
    signal?: AbortSignal,
  ): Promise<{ readonly allowed: true } | { readonly allowed: false; readonly isKnown: boolean; readonly reason: string }>;
}

/** Which of several replicas acts. A replica that does not lead reads, computes and serves, and writes nothing. */
export interface Leadership {
  /**
   * Whether this replica leads at this moment, by its own clock: false as soon as its last renewal is too old, even before
   * anybody was notified. To be asked right before each write.
   */
  readonly isLeader: boolean;
  /** Which turn this is: grows whenever the lead goes to another replica. What was written under a higher one counts. */
  readonly fence: number;
  /** Calls `listener` after each change of `isLeader`; the result takes that back. */
  onChange(listener: (isLeader: boolean) => void): () => void;
}

export type {
  Acknowledgement,
  AgentInfo,
  AgentLink,
  AgentLinkHandler,
  AgentService,
  DeleteRequest,
  DeletionCause,
  DeletionEvidence,
  DesiredUpdate,
  LinkState,
  Notices,
  Observation,
  PendingCode,
  Quota,
  QuotaExcess,
  Rejection,
  ReportFilter,
  ServerLink,
  ServerLinkHandler,
} from "@isthmus/relay/session";
export { isConfirmation, isHeldCode, isPendingCode, MODES, problemOfService } from "@isthmus/relay/session";
