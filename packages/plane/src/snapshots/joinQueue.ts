import { type Delta, isEmpty, type Snapshot } from "@isthmus/core";
import { countObjects as snapshotSize } from "./snapshotStore.ts";

/**
 * What waits to become part of what is translated. Changes of users, and of clusters that are part of it already, are taken up at the
 * next turn. Clusters that join wait behind them, and join a few at a time: else a change would wait for a whole fleet that is
 * just being heard. What a cluster says while it waits, waits with it. Bounded by what is known: a cluster joins once.
 */
export interface JoinQueue {
  take(delta: Delta, origin: ChangeOrigin): void;
  /** Whether a cluster is known and not part of what is translated yet. */
  waits(clusterName: string): boolean;
  /** How many clusters wait. */
  readonly waiting: number;
  /**
   * What the next turn takes up; `everything`: all there is, as a first translation must not lack what is known. `known`: how many objects
   * are part of what is translated.
   */
  next(everything: boolean, known: number): JoinBatch;
}

/** Where a change comes from. */
export interface ChangeOrigin {
  /** "" is the management cluster. */
  readonly clusterName: string;
  /** Everything of a cluster of which nothing was known, when that is what the change is. */
  readonly whole?: Snapshot;
}

/** A change, or everything of some clusters. */
export type QueuedChange = Delta | { readonly wholes: readonly Snapshot[] };

export interface JoinBatch {
  /** In the order in which they came, as far as they are about one cluster; clusters that join come together. */
  readonly arrivals: readonly QueuedChange[];
  /** The clusters that join. */
  readonly joined: readonly string[];
}

/**
 * A queue in which nothing waits. A turn lets clusters join until they have 10,000 objects, or a quarter of what is known where that is
 * more, and at least one cluster.
 */
export function joinQueue(): JoinQueue {
  let due: Delta[] = [];
  const joining = new Map<string, Newcomer>();
  let wasOvertaken = false;

  return {
    take(delta, { clusterName, whole }) {
      const waiting = joining.get(clusterName);
      if (waiting !== undefined) waiting.since.push(delta);
      else if (whole !== undefined) joining.set(clusterName, { whole, since: [] });
      else if (!isEmpty(delta)) due.push(delta);
    },
    waits: (clusterName) => joining.has(clusterName),
    get waiting() {
      return joining.size;
    },
    next(everything, known) {
      const arrivals = due;
      due = [];
      // Every other turn is the clusters' as well: who edits without end does not keep them out.
      const isOvertaken = arrivals.length > 0 && joining.size > 0 && !everything && !wasOvertaken;
      wasOvertaken = isOvertaken;
      if (isOvertaken) return { arrivals, joined: [] };
      const joined: string[] = [];
      const wholes: Snapshot[] = [];
      const since: Delta[] = [];
      const most = Math.max(MOST_OBJECTS, known * MOST_GROWTH);
      let objects = 0;
      for (const [clusterName, newcomer] of joining) {
        if (objects >= most && !everything) break;
        joining.delete(clusterName);
        joined.push(clusterName);
        wholes.push(newcomer.whole);
        since.push(...newcomer.since);
        objects += sizeOf(newcomer);
      }
      return { arrivals: wholes.length === 0 ? arrivals : [...arrivals, { wholes }, ...since], joined };
    },
  };
}

/** A cluster that waits: everything in it, and what changed meanwhile. */
interface Newcomer {
  readonly whole: Snapshot;
  readonly since: Delta[];
}

// As many as a cluster of a thousand services has: about a second of work, by which a change of a user comes later.
const MOST_OBJECTS = 10_000;
// Where clusters are federated, who joins changes something about each that is there, be it one or several that join: without a share
// of what is there, a fleet would cost the square of itself.
const MOST_GROWTH = 0.25;

function sizeOf({ whole, since }: Newcomer): number {
  return since.reduce((sum, { put }) => sum + put.length, snapshotSize(whole));
}
