import { Lease } from "@isthmus/api";
import type { Write } from "./actorPort.ts";
import { AGENT_LEASE, processOf, SERVER_LEASE } from "./processes.ts";

/** Who held the Lease of the servers, and those of the agents' replicas, and since when. */
export interface Leaders {
  /** Takes in a write of a Lease; says whether it was one. */
  wrote(write: Write): boolean;
  /** Whether a process may write into a cluster at that time. */
  mayWrite(cluster: string, process: string, at: number): boolean;
}

export function leaders(): Leaders {
  const holdersOf = new Map<string, { readonly since: number; readonly process: string }[]>();
  return {
    wrote({ at, cluster, ref, after }) {
      if (ref.kind !== Lease.kind) return false;
      const { holderIdentity = "" } = (after?.["spec"] ?? {}) as { readonly holderIdentity?: string };
      const lease = cluster === "" ? SERVER_LEASE : AGENT_LEASE;
      const holders = holdersOf.get(cluster) ?? [];
      const process = processOf(holderIdentity);
      const isOurs = ref.name === lease.name && ref.namespace === lease.namespace;
      if (isOurs && holders.at(-1)?.process !== process) holdersOf.set(cluster, [...holders, { since: at, process }]);
      return true;
    },
    mayWrite(cluster, process, at) {
      const holders = holdersOf.get(cluster);
      return holders === undefined || holders.findLast(({ since }) => since <= at)?.process === process;
    },
  };
}
