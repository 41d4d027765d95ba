import type { Delta, OutputSet } from "@isthmus/core";
import type { Acknowledgement } from "@isthmus/ports";
import type { EventHub } from "../runtime/eventHub.ts";
import type { ChangeOrigin } from "../snapshots/joinQueue.ts";

/** What the parts of a server tell each other. */
export interface ServerEvents {
  /** Objects in the management cluster changed, or another kind of it has been listed. */
  readonly managementChanged: readonly [delta: Delta];
  /** All objects of a kind (`kindKeyOf`) in the management cluster were listed. */
  readonly managementListed: readonly [kindKey: string];
  /** Something that translation reads changed. */
  readonly inputChanged: readonly [delta: Delta, origin: ChangeOrigin];
  /** The agent of a cluster connected to this replica. */
  readonly agentConnected: readonly [clusterName: string];
  /** A cluster was registered, or its agent connected, disconnected or reported everything. */
  readonly clusterChanged: readonly [clusterName: string];
  /** A cluster is no longer registered: each part forgets what it holds of it. */
  readonly clusterRemoved: readonly [clusterName: string];
  /** The outputs that a cluster should hold, as of this translation. "" is the management cluster. */
  readonly desiredChanged: readonly [clusterName: string, desired: OutputSet];
  /** The agent of a cluster answered for a set of outputs. */
  readonly deliveryAcknowledged: readonly [clusterName: string, acknowledgement: Acknowledgement, desired: OutputSet];
  /** This replica became the leader: everything has to be published, and all statuses written, once more. */
  readonly leadershipGained: readonly [];
  /** Translation has to run. */
  readonly reconcileDue: readonly [];
  /** Inputs were translated, and what follows was handed on. */
  readonly translated: readonly [];
  /** Statuses may have changed. */
  readonly statusesDue: readonly [];
}

/** The event hub of one server. */
export type ServerEventHub = EventHub<ServerEvents>;
