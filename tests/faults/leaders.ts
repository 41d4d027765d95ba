import { Lease } from "@isthmus/api";
import type { Write } from "./actorPort.ts";
import { AGENT_LEASE, processOf, SERVER_LEASE } from "./processes.ts";

/** Who held the Lease of the servers, and those of the agents' replicas, and since when. */
export interface Leaders {
  /** Takes in a write; says whether it was one of a Lease. */
  wrote(write: Write): boolean;
  /** Whether a process may write into a cluster at that time. */
  mayWrite(cluster: string, process: string, at: number): boolean;
}

interface Turn {
  readonly process: string;
  readonly since: number;
  /** When it has last renewed its lease. */
  renewed: number;
  /** Whether it has written anything but the Lease. */
  hasWritten: boolean;
}

/** So long a leader may act on its last renewal. Source: docs/decisions/0018. */
const DEADLINE_MS = 5_000;

export function leaders(): Leaders {
  const turnsOf = new Map<string, Turn[]>();
  return {
    wrote({ at, begun, actor, cluster, ref, after }) {
      const turns = turnsOf.get(cluster) ?? [];
      turnsOf.set(cluster, turns);
      const current = turns.at(-1);
      if (ref.kind !== Lease.kind) {
        if (current?.process === actor) current.hasWritten = true;
        return false;
      }
      const { holderIdentity = "" } = (after?.["spec"] ?? {}) as { readonly holderIdentity?: string };
      const lease = cluster === "" ? SERVER_LEASE : AGENT_LEASE;
      if (ref.name !== lease.name || ref.namespace !== lease.namespace) return true;
      const process = processOf(holderIdentity);
      if (current?.process === process) current.renewed = begun;
      else turns.push({ process, since: at, renewed: begun, hasWritten: false });
      return true;
    },
    mayWrite(cluster, process, at) {
      const turns = turnsOf.get(cluster) ?? [];
      const last = turns.findLastIndex(({ since }) => since <= at);
      if (turns.length === 0 || turns[last]?.process === process) return true;
      // Who takes a lease that was lost waits until the one before must have noticed.
      const before = turns.slice(0, last).findLast((turn) => turn.process === process);
      return before !== undefined && turns[last]?.hasWritten === false && at - before.renewed < DEADLINE_MS;
    },
  };
}
