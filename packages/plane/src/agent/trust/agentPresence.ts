import { Lease } from "@isthmus/api";
import { type Clock, type Log, messageOf, uptimeOf } from "@isthmus/core";
import { type Cluster, ClusterError } from "@isthmus/ports";

/** Whether an agent that no server is connected to is alive, by the Lease that it renews. */
export interface AgentPresence {
  /** The process that holds the Lease, if it was renewed within the last minute. */
  look(): Promise<string | undefined>;
}

/**
 * Nobody trusts another's clock: an agent counts as gone when its Lease has stood still for a minute since it was first seen here. `look` rejects
 * with the reason of `signal` when that is aborted.
 */
export function agentPresence({ cluster, lease, clock, log }: AgentPresenceOptions, signal: AbortSignal): AgentPresence {
  let seen: { readonly mark: string; readonly holder: string; readonly since: number } | undefined;
  let told: string | undefined;

  async function markNow(): Promise<{ readonly mark: string; readonly holder: string } | undefined> {
    try {
      const { spec } = (await cluster.get(Lease, lease, signal)) ?? {};
      told = undefined;
      const { holderIdentity: holder = "", renewTime = "" } = spec ?? {};
      return { mark: `${holder} ${renewTime}`, holder };
    } catch (error) {
      if (signal.aborted || !(error instanceof ClusterError)) throw error;
      const problem = messageOf(error);
      if (problem !== told) {
        const remedy = error.code === "Forbidden" ? ': repeat "meshctl cluster register --standard", which grants this' : "";
        log.warn(
          { cluster: cluster.name },
          `cannot read Lease ${lease.namespace}/${lease.name} of the agent for certificates: ${problem}${remedy}`,
        );
      }
      told = problem;
      return undefined;
    }
  }

  return {
    async look() {
      // What cannot be read stands still.
      const { mark, holder } = (await markNow()) ?? seen ?? { mark: "", holder: "" };
      if (seen?.mark !== mark) seen = { mark, holder, since: uptimeOf(clock) };
      return holder !== "" && uptimeOf(clock) - seen.since < SILENT_MS ? holder : undefined;
    },
  };
}

export interface AgentPresenceOptions {
  readonly cluster: Cluster;
  readonly lease: { readonly name: string; readonly namespace: string };
  readonly clock: Clock;
  readonly log: Log;
}

// Several times as long as a lease lasts.
const SILENT_MS = 60_000;
