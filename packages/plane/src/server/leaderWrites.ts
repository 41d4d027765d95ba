import {
  type Clock,
  type Delta,
  type Kind,
  kindKeyOf,
  type Log,
  type Meter,
  type Owner,
  type Resource,
  type Snapshot,
} from "@isthmus/core";
import type { Cluster, Leadership } from "@isthmus/ports";
import { type Applier, startApplier } from "../apply/applier.ts";
import type { DeletionLog } from "../apply/deletionLog.ts";
import { type DesiredStatus, type StatusWriter, startStatusWriter } from "../apply/statusWriter.ts";
import { leaderOnlyCluster, whileLeading } from "../leader/leadership.ts";
import { pacedCluster } from "../leader/pacedCluster.ts";
import type { WorkQueueSizes } from "../runtime/workQueue.ts";
import { type Publisher, publisher } from "./publisher.ts";

/**
 * All that the server writes into the management cluster, on the leader alone. Each turn begins with what is there: nothing
 * that an earlier one planned is carried over, and nothing is pruned before the first complete set of this turn.
 */
export interface LeaderWrites {
  /** Does nothing on a replica that does not lead. */
  readonly publisher: Pick<Publisher, "publish">;
  /** Statuses that objects should have; of those not named, what was said last in this turn stays. `traces`: ids of the changes behind them. */
  writeStatuses(updates: Iterable<DesiredStatus>, traces: readonly string[]): void;
  /** Tells what changed in the management cluster, so that drift is reverted. */
  observed(delta: Delta): void;
  /** All objects of a kind (`kindKeyOf`) in the management cluster were listed. */
  listed(kindKey: string): void;
  /** Sizes of the work queues of this turn, by name. */
  queues(): Readonly<Record<string, WorkQueueSizes>>;
  readonly ended: Promise<void>;
}

export interface LeaderWritesOptions {
  readonly cluster: Cluster;
  readonly leadership: Leadership;
  /** The kinds that may be published. */
  readonly kinds: readonly Kind[];
  /** Those (`kindKeyOf`) that there are many of: they are written behind all others, and no faster than the API server likes. */
  readonly bulk: ReadonlySet<string>;
  readonly owners: readonly Owner[];
  /** The management cluster as it is known now. */
  readonly live: () => Snapshot;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  readonly meter: Meter;
  readonly removals: DeletionLog;
  /** Called when something that was published has settled. */
  readonly onApplied: () => void;
  /** Called when a turn begins: everything has to be published, and all statuses written, once more. */
  readonly gained: () => void;
  /** Called when something that we published is back though it is not desired: it is decided by publishing once more. */
  readonly undecided: () => void;
}

interface Turn {
  readonly applier: Applier;
  readonly publisher: Publisher;
  readonly statuses: StatusWriter;
}

/** Writes whenever this replica leads, until `signal` is aborted. Objects and statuses of `bulk` kinds are paced to 200 a second. */
export function startLeaderWrites(options: LeaderWritesOptions, signal: AbortSignal): LeaderWrites {
  const { leadership, kinds, bulk, owners, live, clock, random, log, meter, removals, onApplied, gained, undecided } = options;
  // The one who waited asks whether it still leads right before it writes.
  const cluster = pacedCluster(leaderOnlyCluster(options.cluster, leadership), { kinds: bulk, perSecond: BULK_PER_SECOND, clock });
  const kindKeys = new Set(kinds.map(kindKeyOf));
  const isPublished = (resource: Resource) => kindKeys.has(kindKeyOf(resource));
  let turn: Turn | undefined;

  function start(until: AbortSignal): { readonly ended: Promise<void> } {
    const applier = startApplier({ cluster, kinds, bulk, owners, live, clock, random, log, meter, removals, onChange: onApplied }, until);
    const statuses = startStatusWriter({ cluster, bulk, live, clock, random, log, meter }, until);
    const mine = { applier, publisher: publisher({ applier, owners, isPublished, clock, undecided }, until), statuses };
    turn = mine;
    // The one who started us may not be ready yet.
    queueMicrotask(gained);
    const ended = Promise.all([applier.ended, statuses.ended]).then(() => {
      if (turn === mine) turn = undefined;
    });
    return { ended };
  }

  return {
    publisher: {
      *publish(wanted, basis) {
        if (turn !== undefined) yield* turn.publisher.publish(wanted, basis);
      },
    },
    writeStatuses: (updates, traces) => turn?.statuses.write(updates, traces),
    observed(delta) {
      turn?.applier.observed(delta);
      turn?.publisher.observed(delta);
    },
    listed(kindKey) {
      if (turn === undefined) return;
      turn.publisher.observed({ put: turn.applier.listed(kindKey), remove: [] });
      turn.statuses.listed(kindKey);
    },
    queues: () => (turn === undefined ? {} : { publish: turn.applier.sizes, status: turn.statuses.sizes }),
    ended: whileLeading(leadership, start, signal),
  };
}

// A management API server takes a few hundred writes a second, and has others to serve.
const BULK_PER_SECOND = 200;
