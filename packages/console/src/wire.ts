import type { Resource, ResourceRef } from "@isthmus/core";
import type { Insight } from "@isthmus/insights";

/**
 * What the console's server sends as Server-Sent Events on `STREAM_PATH`: the name of each event, with what its `data` holds as JSON. A stream begins
 * with `reset` and ends its first part with `ready`; a browser that comes back with `Last-Event-ID` gets what it missed, or a `reset`.
 */
export interface ConsoleEvents {
  /** Forget everything: what follows is from the beginning. */
  readonly reset: ConsoleSource;
  /** Objects as they are reported, discovered, declared, with their statuses: one `Snapshot`. Secrets never are among them. */
  readonly change: ObjectChanges;
  /** What translation wants in the clusters: a `Snapshot` of its own, as the same object may be reported in another form. */
  readonly generated: ObjectChanges;
  readonly insights: InsightChanges;
  /** Insights that have ended, beside those that were sent before. */
  readonly ended: readonly ConsoleEndedInsight[];
  readonly certificates: readonly ConsoleCertificate[];
  /** What happened in one cluster, as its agent said it last. */
  readonly activity: ConsoleActivity;
  /** Who reads this stream; only where there is a login. */
  readonly viewer: ConsoleViewer;
  /** Everything that was known when the stream began has been sent. */
  readonly ready: Record<string, never>;
  /** Every few seconds, whether something changed or not. */
  readonly clock: SnapshotClock;
}

/** Where the server has it from. */
export interface ConsoleSource {
  /** `server`: a management server in this process; `store`: Redis, whether or not a server runs; `file`: a saved snapshot, which never changes; `recording`: what a console knew over a time, as it was then. */
  readonly kind: "server" | "store" | "file" | "recording";
  /** Where, in words: an address, a file's name. */
  readonly name: string;
  readonly version: string;
  /** Of the management plane: only objects there count of a kind such as Settings, which is read under one name. */
  readonly namespace: string;
}

/** Objects to put (whole), and names of objects that are gone. */
export interface ObjectChanges {
  readonly put: readonly Resource[];
  readonly remove: readonly ResourceRef[];
}

/** Insights of the objects for which they changed. */
export interface InsightChanges {
  /** Of which moment, in ISO 8601; null: nothing has been found out yet. */
  readonly at: string | null;
  /** All that is wrong with each object now; none: nothing any more. */
  readonly changed: readonly { readonly object: ResourceRef; readonly insights: readonly ConsoleInsight[] }[];
  /** Clusters of which nothing is known, so that what is wrong there is what was found before. */
  readonly unknown: readonly string[];
  /** Clusters of which so many have ended that the earlier ones are forgotten; of all others, every one that has ended since a server began to look is known. */
  readonly forgotten: readonly ForgottenInsights[];
}

/** An insight, and since when it is there. */
export interface ConsoleInsight extends Insight {
  /** ISO 8601. */
  readonly since: string;
  readonly suppressed?: { readonly reason: string; readonly until?: string; readonly by: "annotation" | "Settings" };
}

/** An insight that is no more. Of each cluster, servers know the last hundred. */
export interface ConsoleEndedInsight extends Pick<Insight, "object" | "code" | "severity" | "field" | "message"> {
  /** ISO 8601. */
  readonly since: string;
  readonly until: string;
}

/** What is no longer known of the insights about objects of one cluster; "" is the management cluster. */
export interface ForgottenInsights {
  readonly cluster: string;
  /** In ISO 8601: those that ended before are not known. */
  readonly before: string;
}

/** A certificate of the fleet, without its key. */
export interface ConsoleCertificate {
  readonly cluster: string;
  /** What it is: `relay client certificate`, … as `meshctl cert list` names it. */
  readonly kind: string;
  readonly name: string;
  readonly subject?: string;
  readonly issuer?: string;
  /** ISO 8601. */
  readonly notAfter?: string;
  readonly problem?: string;
  /** ISO 8601. */
  readonly notBefore?: string;
  /** `VALID`, `EXPIRING`, `EXPIRED`, `NO_EXPIRY` or `UNKNOWN`, as `meshctl cert list` has it. */
  readonly state?: string;
  /** What happens next, and who does it. */
  readonly next?: string;
  /** The VirtualMesh that uses it, as namespace/name. */
  readonly virtualMesh?: string;
}

/** What happened in a cluster within the last hour. */
export interface ConsoleActivity {
  readonly cluster: string;
  /** When its agent said so, in ISO 8601; null: nothing is known any more. */
  readonly at: string | null;
  /** How many changes took how long to be applied, by the buckets of `syncBounds`, in seconds, and one for what took longer. */
  readonly sync: readonly number[];
  readonly syncBounds: readonly number[];
  /** Absent: nobody counts it, as `problem` says, or the reader may not see it. */
  readonly traffic?: ConsoleTraffic;
  /** Why there is no traffic, and what to do. */
  readonly problem?: string;
}

/** The traffic of the workloads of a cluster, where it is sent. */
export interface ConsoleTraffic {
  /** Of so many minutes, so many seconds were counted: of the rest nothing is known. */
  readonly windows: readonly { readonly minutes: number; readonly seconds: number }[];
  /** How many proxies and control planes there are, and how many of them were read last. */
  readonly targets: number;
  readonly scraped: number;
  /** The last moments of which the console knows what was counted, in ISO 8601, oldest first. Absent: of none, as in a recording of an earlier version. */
  readonly times?: readonly string[];
  /**
   * The names of an edge, then its numbers in each of the windows, as `edgeRow` of core makes them, then of each of `times` its requests and its failed requests a second, as means of
   * the shortest window.
   */
  readonly edges: readonly (readonly (string | number)[])[];
  /** Edges that are part of the one that stands for others. */
  readonly left: number;
}

/** Whom a stream is for, and what is left out of it. */
export interface ConsoleViewer {
  readonly username: string;
  /** Whether something may be left out. */
  readonly isPartial: boolean;
  /** Resources that this user may not list in all namespaces, as `plural.group`: of them, only namespaces in which that is allowed are here. */
  readonly missing: readonly string[];
  /** Whether clusters may be left out whose KubernetesCluster this user may not get. */
  readonly hasAllClusters: boolean;
  /** Whether more would have had to be asked of the Kubernetes API than one user may: the rest is left out. */
  readonly isExhausted: boolean;
}

/** How fresh what is shown is. Times in ISO 8601, of the server's clock. */
export interface SnapshotClock {
  readonly now: string;
  /** When the source last answered; in the past while Redis cannot be reached. */
  readonly at: string;
  /** Of each cluster, when it was last heard of, as far as it is known; its objects are of that moment. */
  readonly clusters: readonly ClusterClock[];
  /** The management servers that run; absent: the source does not know, or none runs. A saved fleet has none. */
  readonly servers?: readonly ConsoleServerVersion[];
  /** What keeps the source from answering, if anything. */
  readonly problem?: string;
}

/** Which version of the management server runs, and in how many replicas. */
export interface ConsoleServerVersion {
  /** Absent: replicas that do not say, as those of earlier versions. */
  readonly version?: string;
  readonly replicas: number;
}

/** How fresh what is shown of one cluster is. */
export interface ClusterClock {
  readonly name: string;
  /** In ISO 8601, of the server's clock; null: it is not known. */
  readonly at: string | null;
  /** `synced`: everything is known and kept up to date. `stale`: what was known stays, and its agent does not report. `unknown`: not everything was reported yet. */
  readonly phase?: "unknown" | "synced" | "stale";
  /** Whether its agent is connected; of a `store`, by the word of the server that wrote last. */
  readonly connected?: boolean;
  /** Version of its agent. */
  readonly version?: string;
  /** The replica of the management server to which its agent is connected. */
  readonly replica?: string;
  /** In ISO 8601: when the oldest was desired that its agent has not acknowledged; absent when all is, and of a source that does not know. */
  readonly behindSince?: string;
}

/** Path of the stream. */
export const STREAM_PATH = "/api/v1/stream";

/** Path of the times of which the server knows what was: `MomentTimes` as JSON. */
export const HISTORY_PATH = "/api/v1/history";

/**
 * Path of what was known at a time, which is in the query as `at`, in ISO 8601: events as on `STREAM_PATH`, from `reset` to `ready`, with the `clock` of that time; then it ends. Status 404:
 * nothing that old is kept.
 */
export const MOMENT_PATH = "/api/v1/history/moment";

/** What the server keeps of the past. */
export interface MomentTimes {
  /** In ISO 8601, of the server's clock, the oldest first: since when something else was known than before. */
  readonly times: readonly string[];
  /** Of the server's clock. */
  readonly now: string;
}

/**
 * Path of the generations that an object had, as far as they are kept: `ObjectGenerations` as JSON. The query names it: `kind`, and `group`, `cluster`, `namespace` and `name`, which may be empty.
 */
export const GENERATIONS_PATH = "/api/v1/history/generations";

/** Which generations of an object the server knows. */
export interface ObjectGenerations {
  /** The oldest first; none: nothing of it is kept. One that lasted less than the time between two moments is not among them. */
  readonly generations: readonly ObjectGeneration[];
}

/** A generation of an object, or its absence. */
export interface ObjectGeneration {
  /** In ISO 8601, of the server's clock: the first moment that has it. */
  readonly at: string;
  /** `metadata.generation`; null: it has none. */
  readonly generation: number | null;
  readonly isAbsent: boolean;
  /** Which tool manages the object, such as `Argo CD application shop`, as its labels and annotations say; absent: they do not. */
  readonly manager?: string;
  /** Its annotation `kubernetes.io/change-cause`. */
  readonly cause?: string;
}

/** Path of how much changed in each cluster from one moment that is kept to the next: `MomentChanges` as JSON. */
export const CHANGES_PATH = "/api/v1/history/changes";

/** How much changed, of what the user may see. */
export interface MomentChanges {
  /** One for each of `MomentTimes.times`, the oldest first: nothing is counted for that one. */
  readonly moments: readonly {
    /** In ISO 8601, of the server's clock. */
    readonly at: string;
    /** Objects that were reported, desired, discovered or declared, or no longer so, or otherwise than before. Clusters of which nothing changed are left out; "" is the management cluster. */
    readonly clusters: readonly { readonly name: string; readonly count: number }[];
  }[];
}

/** Path of when agents connected and disconnected: `AgentSessions` as JSON. */
export const SESSIONS_PATH = "/api/v1/sessions";

/** What the console's server has seen of agents, of the clusters that the user may see. */
export interface AgentSessions {
  /** In ISO 8601, of the server's clock: since when it has looked. */
  readonly since: string | null;
  /** The oldest first. Of each cluster the last hundred; what lasts less than the time between two reads is not among them. */
  readonly events: readonly SessionEvent[];
}

/** Something that happened to the session of an agent. */
export interface SessionEvent {
  /** In ISO 8601, of the server's clock. */
  readonly at: string;
  readonly cluster: string;
  /**
   * `connected`, `disconnected`, or to another replica (`moved`). `resyncing`: the agent reports everything from the beginning; `synced`: it has done so. `updated`: it has another version.
   * `added`: the cluster is known from here on; `removed`: no longer.
   */
  readonly what: "added" | "connected" | "disconnected" | "moved" | "resyncing" | "synced" | "updated" | "removed";
  /** The replica, or the version. */
  readonly detail?: string;
}
