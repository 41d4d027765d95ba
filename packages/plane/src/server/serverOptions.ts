import type { WriteMode } from "@isthmus/api";
import type { Clock, Delta, Kind, Log, Meter, Owner, Resource, ResourceRef, Snapshot } from "@isthmus/core";
import type { Cluster, Leadership, Quota, ReportFilter, ServerLink, ServerLinkHandler, Store } from "@isthmus/ports";
import type { TranslateOptions, Translation } from "@isthmus/translators";
import type { ManagementEventFilterOptions } from "./managementEventFilter.ts";

/** The kinds that a server deals with, by role. */
export interface ServerKinds {
  /** Read in the management cluster. */
  readonly management: readonly Kind[];
  /** Of those, read in the namespace of the management plane alone. */
  readonly own: readonly Kind[];
  /** Whether a CRD of ours defines a kind. */
  readonly isInstalled: (kind: Kind) => boolean;
  /** Written into the management cluster. */
  readonly published: readonly Kind[];
  /** Of those, the discovered ones: derived by us, and read back only to recall clusters that are offline. */
  readonly discovery: readonly Kind[];
  /** The kind whose objects register clusters. */
  readonly registration: Kind;
  readonly kindOf: (apiVersion: string, kind: string) => Kind | undefined;
  /** Whether agents report objects of a kind (`kindKeyOf`): whatever else comes from one, or of one out of the store, is refused. */
  readonly isReported: (kindKey: string) => boolean;
  /** The kinds (`kindKeyOf`) whose objects' ages count. */
  readonly aged: ReadonlySet<string>;
  /** Whether users ask things of us by objects of this kind. */
  readonly hasUserStatus: (kind: Kind) => boolean;
  /** Whether the last good form of an object that can't be read stays in use. */
  readonly keepsLastGood: (kind: Kind) => boolean;
  /** Whether users may write objects of a kind (`kindKeyOf`) in workload clusters. */
  readonly isContributed: (kindKey: string) => boolean;
}

export interface ServerOptions {
  readonly cluster: Cluster;
  /** Makes the link to the agents; called once, at the start. The filter says what of their words it takes. */
  readonly link: (handler: ServerLinkHandler, reportFilter: ReportFilter) => ServerLink;
  readonly kinds: ServerKinds;
  /** Tells the agent of a cluster that the deletes that are on hold may go; rejects when it cannot be reached. */
  readonly resumeDeletes: (clusterName: string) => Promise<void>;
  /** What users asked in workload clusters, as the status of a published object repeats it: for clusters that are silent. */
  readonly lastKnownRequests: (published: Resource) => readonly Resource[];
  /** What the agent of a cluster is to know of the settings in the management cluster. */
  readonly settingsToTell: (management: Snapshot, clusterName: string) => Resource;
  /** What the agent of a cluster is to know of what it may write; undefined for a cluster that is not registered. */
  readonly modeToTell: (management: Snapshot, clusterName: string) => Resource | undefined;
  /** What may be written in a registered cluster. */
  readonly modeOf: (registration: Resource) => WriteMode;
  /** Name of the Deployments of agents, for messages to users. */
  readonly agentName: string;
  /** The object in whose status the server says how it stands itself. */
  readonly ownStatus: ResourceRef;
  /** How much one agent may report, by the settings in the management cluster and the heap of the server. */
  readonly agentQuota: (management: Snapshot, heapBytes: number) => Quota;
  /** The most that the heap of the process may be. Default: that of the chart. */
  readonly heapBytes?: number;
  /** Namespace of the management plane: its value in owner labels. */
  readonly namespace: string;
  /**
   * UID of the management cluster, by `clusterUid`: where that cluster is registered as well, what users ask there is read once, as
   * the management cluster's. Default: it is not registered.
   */
  readonly ownUid?: string;
  readonly discoveryOwner: Owner;
  /** What translation reads of an object in the management cluster. */
  readonly translationView: (resource: Resource) => Resource;
  /** What translation is to remember of what it made. */
  readonly memory: NonNullable<ManagementEventFilterOptions["memory"]> & {
    changes(now: Translation, before: Translation | undefined): Delta;
  };
  readonly networkingOwner: Owner;
  readonly translation: TranslateOptions;
  /** Which of several replicas writes into the management cluster. Default: this one, as there is no other. */
  readonly leadership?: Leadership;
  /** Where replicas share what they know, and how this one is called, and its version. Default: there is no other, and a restart forgets. */
  readonly sharing?: { readonly store: Store; readonly replica: string; readonly version?: string };
  /** Whether it looks for insights while it leads: without, what they cost can be measured. Default: yes. */
  readonly findsInsights?: boolean;
  /** Whether Events in the management cluster say which of them begin and end. Default: yes. */
  readonly writesEvents?: boolean;
  readonly clock: Clock;
  /** For how long, in ms, a long piece of work may keep others waiting; 0: for one step of it. Default: 3. */
  readonly sliceMs?: number;
  readonly random: () => number;
  readonly log: Log;
  /** Takes in figures as they arise. Default: nobody does. */
  readonly meter?: Meter;
}
