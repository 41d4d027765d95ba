import { onAbort } from "@isthmus/core";
import { type Cluster, ClusterError, type Leadership } from "@isthmus/ports";
import { interceptWrites } from "./interceptWrites.ts";

/** Leads for ever: there is one replica only. */
export const alwaysLeader: Leadership = { isLeader: true, fence: 0, onChange: () => () => undefined };

/** Never leads. */
export const neverLeader: Leadership = { isLeader: false, fence: 0, onChange: () => () => undefined };

/** What runs for the length of one turn of leading. */
export interface LeaderWork {
  /** Ends when the turn's signal was aborted. */
  readonly ended: Promise<void>;
}

/**
 * Runs work of the leader alone: starts it when this replica gains the lead, aborts it when the lead is lost, and starts it
 * again, from nothing, at the next turn, but not before the one before has ended. Resolves when `signal` was aborted and the
 * work has ended; rejects when it does.
 */
export async function whileLeading(leadership: Leadership, start: (turn: AbortSignal) => LeaderWork, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    // At once where possible: a process that always leads has all its loops when it has started.
    if (!leadership.isLeader) await until(true, leadership, signal);
    if (signal.aborted) return;
    const turn = new AbortController();
    const work = start(turn.signal);
    const over = until(false, leadership, signal);
    // Work that has nothing more to do does not begin again within a turn.
    await Promise.race([over, work.ended.then(() => over)]);
    turn.abort(new Error("this replica is no longer the leader"));
    await work.ended;
  }
}

/** A cluster that takes writes from the leader alone; others get `Unavailable`, which is tried again. */
export function leaderOnlyCluster(cluster: Cluster, leadership: Leadership): Cluster {
  if (leadership === alwaysLeader) return cluster;
  return interceptWrites(cluster, async (_, write) => {
    // Asked in the same moment as the request is made: a replica that was paused has lost the lead by its own clock.
    if (!leadership.isLeader) throw new ClusterError("Unavailable", "this replica is not the leader and does not write");
    return write();
  });
}

/** Resolves when this replica leads, or no longer does, or when aborted. */
function until(isLeader: boolean, leadership: Leadership, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted || leadership.isLeader === isLeader) return resolve();
    const done = () => {
      forget();
      forgetAbort();
      resolve();
    };
    const forget = leadership.onChange((now) => {
      if (now === isLeader) done();
    });
    const forgetAbort = onAbort(signal, done);
  });
}
