import type { OutputSet, Resource, ResourceRef } from "@isthmus/core";
import type { RelayErrorCode } from "./relayError.ts";
import type { QuotaExcess } from "./reportFilter.ts";

/**
 * What the two ends of the relay offer to the loops, and expect of them. Neither end looks inside a resource. Resources on
 * a link carry `metadata.clusterName`; it always names the link's own cluster.
 */

/** Why an object must go. An agent refuses a removal without evidence. */
export interface DeletionEvidence {
  /** `InputRemoved`: an object that it was made of is gone. `InputChanged`: what it was made of no longer asks for it. */
  readonly reason: "InputRemoved" | "InputChanged";
  /** The objects in question, at least one. */
  readonly inputs: readonly ResourceRef[];
  /** Which of the server's input snapshots asked for it no more: they are counted from the start of the process. */
  readonly snapshot?: number;
}

/** An order to remove one object that bears our owner label. */
export interface DeleteRequest {
  readonly ref: ResourceRef;
  readonly evidence: DeletionEvidence;
}

/**
 * What the server wants in one cluster. With `complete`, `put` is everything that is desired there and whatever else bears
 * our owner label may be pruned; else `put` and `remove` are what changed since the revision before.
 */
export interface DesiredUpdate {
  /** Grows with every change; one link never uses a number twice. */
  readonly revision: number;
  readonly complete: boolean;
  readonly put: readonly Resource[];
  /** In a complete set: what the server knows to have gone while the agent was offline. */
  readonly remove: readonly DeleteRequest[];
  /** Desired, but too large to travel: whatever exists under these names is left alone. */
  readonly withheld?: readonly ResourceRef[];
  /** In a complete set: what else bears our label may be pruned only once somebody has approved it. */
  readonly holdsSurplus?: true;
  /** Ids of the changes that led to it, or of some among many. */
  readonly traces?: readonly string[];
}

/** What became of one object of a desired set. */
export interface Rejection {
  readonly ref: ResourceRef;
  /** `Conflict`: exists and is not ours. `Invalid`: the API server refuses it. `Unserved`: the cluster lacks the kind. `Failed`: anything else; it will be tried again. `Refused`: a removal that our safety rules forbid. `Held`: a removal that waits for somebody to say that so many objects may go. `Unconfirmed`: one that waits as the server cannot tell its cause. `Would…`: what the mode of the cluster forbids. */
  readonly code: "Conflict" | "Invalid" | "Unserved" | "Failed" | "Refused" | "Held" | "Unconfirmed" | PendingCode;
  readonly message: string;
}

/** What would become of an object if it might be written. `WouldConflict`: it exists and is not ours. */
export type PendingCode = "WouldCreate" | "WouldChange" | "WouldDelete" | "WouldConflict";

/** Codes of what is not written because the mode of the cluster forbids it. */
export const PENDING_CODES: readonly PendingCode[] = ["WouldCreate", "WouldChange", "WouldDelete", "WouldConflict"];

/** Whether a code says what would become of an object. */
export function isPendingCode(code: string): code is PendingCode {
  return (PENDING_CODES as readonly string[]).includes(code);
}

/** Whether an answer says that no delete waits: everything of ours that the cluster holds is desired, as far as its agent sees. */
export function isConfirmation(rejected: readonly Rejection[]): boolean {
  return rejected.every(({ code }) => !isHeldCode(code) && code !== "WouldDelete");
}

/** Whether a code says that a delete waits for an approval. */
export function isHeldCode(code: string): boolean {
  return code === "Held" || code === "Unconfirmed";
}

/**
 * An agent's answer to a desired set: all that is desired at that revision is applied, but for what is rejected, whichever
 * revision brought it. It may be given again for the same revision, when something that failed has been tried again.
 */
export interface Acknowledgement {
  readonly revision: number;
  readonly rejected: readonly Rejection[];
  /** What the agent may write, once nothing that began under another mode is on its way; undefined: not known. */
  readonly mode?: string;
  /** On the server's end: ids of the changes that led to the revisions that are answered for the first time. */
  readonly traces?: readonly string[];
}

/** One change of an agent's view of its cluster. */
export interface Observation {
  readonly put: readonly Resource[];
  readonly remove: readonly ResourceRef[];
  /** Objects that exist and whose content does not come along: what was last known of them stays. */
  readonly withheld?: readonly Withheld[];
  /** Ids of the changes that are reported, or of some among many: the same id may come with several observations. */
  readonly traces?: readonly string[];
}

/** An object that exists and whose content is not reported. */
export interface Withheld {
  readonly ref: ResourceRef;
  /** `TooLarge`: above what one message may hold; the link itself finds these. `Malformed`: not of its kind, as the agent's loops say. */
  readonly code: "TooLarge" | "Malformed";
  readonly message: string;
}

/**
 * Resources of its own cluster that an agent takes note of and does not apply: statuses of objects there, as those objects with
 * nothing but their status, and settings of the plane that concern agents.
 */
export interface Notices {
  /** `put` is everything: what was sent before is void. */
  readonly complete: boolean;
  readonly put: readonly Resource[];
  readonly remove: readonly ResourceRef[];
}

/** The state of an agent's link, for logs, metrics and health. */
export type LinkState = "registering" | "connecting" | "connected" | "waiting" | "closed";

/** The agent's end. All methods return at once; the link keeps the latest of each object until the server has acknowledged it. */
export interface AgentLink {
  /** Reports what changed in the cluster. Safe at any time, connected or not. */
  observe(observation: Observation): void;
  /**
   * Says that `observe` has by now reported every object of these kinds (`kindKeyOf`) that the cluster holds. To be said
   * once per kind, after its first complete list, and again for kinds that appear later. `unserved` kinds are those that the
   * cluster's API server does not know: nothing of them is to be expected. The server hears of it when every kind of the
   * agent is either.
   */
  synced(kinds: readonly string[], unserved: readonly string[]): void;
  /** Answers a desired set. */
  acknowledge(acknowledgement: Acknowledgement): void;
}

/** What the agent's loops do with what comes down. */
export interface AgentLinkHandler {
  /** A whole desired set or change, parts already joined. Sets of an epoch come in order of revision. */
  desired(desired: DesiredUpdate): void;
  /** The server has sent something. The first time on a stream it is everything. */
  notices(notices: Notices): void;
  /** What the server of this stream knows beyond the protocol version; before anything else of the stream. */
  welcomed?(features: readonly string[]): void;
  /** `code`: why there is no connection, where the link waits to try again. */
  state(state: LinkState, detail: string, code?: RelayErrorCode): void;
}

/** Why another state of a cluster is desired than before. */
export interface DeletionCause {
  /** Asked for each object that is no longer desired. */
  readonly evidenceOf: (ref: ResourceRef) => DeletionEvidence;
  /** Asked for each complete set: whether what it lacks is kept until somebody approves its delete. Default: it is not. */
  readonly holdsSurplus?: () => boolean;
  /** Ids of the changes that led to it. */
  readonly traces?: readonly string[];
}

/** The server's end, for all agents that are connected to this replica. */
export interface ServerLink {
  /**
   * Replaces what the server wants in a cluster. The link sends what differs from what it sent before, or the complete
   * set to an agent that has just connected. `wanted` are the outputs for this cluster: the same set again costs a comparison
   * of pointers, one that was made from the last one costs what changed. Nothing is sent before the cluster is synced, or while
   * no agent of the cluster is connected.
   */
  setDesired(clusterName: string, wanted: OutputSet, why: DeletionCause): void;
  /**
   * Tells the agent of a cluster; the latest of each resource is kept and sent again to an agent that connects. A first call with
   * nothing says that there is nothing to tell: see `ServerLinkOptions.tellsFirst`.
   */
  sendNotices(clusterName: string, notices: Pick<Notices, "put" | "remove">): void;
  /**
   * Ends the session of a cluster. `Refused`: for a reason that a person has to mend. `Deregistered`: its registration was withdrawn, and
   * what is desired there is forgotten. `Ended`: it may come back at once.
   */
  disconnect(clusterName: string, reason: string, code?: "Refused" | "Deregistered" | "Ended"): void;
}

/** What the server's loops do with what comes up. */
export interface ServerLinkHandler {
  connected(clusterName: string, agent: AgentInfo): void;
  /** Changes of one agent, in order; every ref names the agent's own cluster. Resources are JSON as it came: parse before use. */
  observed(clusterName: string, observation: Observation): void;
  /**
   * The agent has reported every object of its kinds. `complete` holds, per kind (`kindKeyOf`), the keys (`keyOf`) that it holds:
   * what the server remembers beyond them vanished while the agent was offline. The first call of a connection covers every
   * kind of the agent but those in `unserved`, which its API server does not know; later calls only the kinds in question.
   */
  synced(clusterName: string, complete: ReadonlyMap<string, ReadonlySet<string>>, unserved: ReadonlySet<string>): void;
  /** `wanted` is the very set, given to `ServerLink.want`, whose revision is answered: what of it is not rejected is applied. */
  acknowledged(clusterName: string, acknowledgement: Acknowledgement, wanted: OutputSet): void;
  disconnected(clusterName: string, reason: string): void;
  /** An agent reports more than its quota, and what is above it is refused; undefined: no longer. Of an agent that connects: no longer. */
  exceeded?(clusterName: string, excess: QuotaExcess | undefined): void;
  /** How large the objects are that have been taken of an agent, as bytes of JSON. */
  booked?(clusterName: string, bytes: number): void;
}

/** A Service in the agent's namespace. */
export interface AgentService {
  /** "": there is none. */
  readonly name: string;
  /** Of access logs and Wasm filters. */
  readonly grpcPort: number;
  /** Undefined: it has no such port. */
  readonly httpPort?: number;
}

/** What an agent says of itself when it connects. */
export interface AgentInfo {
  readonly instance: string;
  readonly version: string;
  readonly agentNamespace: string;
  /** The Service by which proxies of its cluster reach it; undefined: an agent of an earlier version, which does not say. */
  readonly service?: AgentService;
  /** UID of the namespace `kube-system`: tells one cluster from another of the same name. */
  readonly clusterUid: string;
  /** Features of the wire that this agent knows. */
  readonly features: readonly string[];
  /** How it has shown who it is. Filled in by the server, with what follows. */
  readonly authentication?: "certificate" | "token" | "none";
  /** From when to when its certificate counts, in milliseconds since 1970. */
  readonly certificate?: { readonly notBefore: number; readonly notAfter: number };
  /** Names the set of roots that it trusts. */
  readonly trustedRoots?: string;
}
