import { Lease } from "@isthmus/api";
import type { Write } from "./actorPort.ts";
import { SERVER_LEASE } from "./processes.ts";

/** Who held the Lease of the servers, and since when. */
export interface Leaders {
  /** Takes in a write of a Lease; says whether it was one. */
  wrote(write: Write): boolean;
  /** Whether a process may write into the management cluster at that time. */
  mayWrite(process: string, at: number): boolean;
}

export function leaders(): Leaders {
  const holders: { readonly since: number; readonly process: string }[] = [];
  return {
    wrote({ at, ref, after }) {
      if (ref.kind !== Lease.kind) return false;
      const { holderIdentity = "" } = (after?.["spec"] ?? {}) as { readonly holderIdentity?: string };
      const isOurs = ref.name === SERVER_LEASE.name && ref.namespace === SERVER_LEASE.namespace;
      if (isOurs && holders.at(-1)?.process !== holderIdentity) holders.push({ since: at, process: holderIdentity });
      return true;
    },
    mayWrite: (process, at) => holders.length === 0 || holders.findLast(({ since }) => since <= at)?.process === process,
  };
}
