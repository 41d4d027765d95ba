import type { Leadership } from "@isthmus/ports";
import { whileLeading } from "../leader/leadership.ts";

/** Which names the product bears: `gloo-mesh-agent` with `gloo-mesh-mgmt-server`, or, before, `enterprise-agent` with `enterprise-networking`. */
export type Generation = "gloo-mesh" | "enterprise";

/** Names that differ by generation. */
export const NAMES: Readonly<Record<Generation, { readonly server: string; readonly agent: string }>> = {
  "gloo-mesh": { server: "gloo-mesh-mgmt-server", agent: "gloo-mesh-agent" },
  enterprise: { server: "enterprise-networking", agent: "enterprise-agent" },
};

/**
 * What an agent starts, and on which of its replicas. Source: seed 000 (“Agent replicas”); seed 002 names relay, discovery and the
 * verifier; seeds 001 and 004 know one agent. No process that we have differs by generation.
 */
export const AGENT_PROCESSES = {
  /** Watches the cluster, and CRDs as they come and go (“verifier cache clearing for CRD watch management”). */
  clusterWatch: { runsOn: "everyReplica" },
  /** Gives proxies their Wasm filters: each of them asks one replica (“xDS agent for Wasm”). */
  wasmFilters: { runsOn: "everyReplica" },
  /** Takes access logs of proxies, each of which is connected to one replica (“access log sink”). */
  accessLogs: { runsOn: "everyReplica" },
  /** Answers the other replicas for what this one alone knows: the replica that leads asks, as the server reaches no other one. */
  replicaQueries: { runsOn: "everyReplica" },
  /** Reports what discovery reads, and applies what the server desires: relay and discovery are one, as the server discovers. */
  relay: { runsOn: "leader" },
  /** Scrapes proxies and control planes (“metrics”): one replica, as two would count each request twice. */
  meshMetrics: { runsOn: "leader" },
  /** Makes, requests and installs the CAs of meshes (“certificate management”). */
  certificates: { runsOn: "leader" },
  /** Reads the OpenAPI documents of Services, and writes ApiDocs of them (“API discovery and schema reporter”). */
  apiDiscovery: { runsOn: "leader" },
} as const satisfies Readonly<Record<string, { readonly runsOn: "everyReplica" | "leader" }>>;

type Table = typeof AGENT_PROCESSES;

/** A process of the table. */
export type AgentProcess = keyof Table;

type ProcessOn<Replicas> = { readonly [Name in AgentProcess]: Table[Name]["runsOn"] extends Replicas ? Name : never }[AgentProcess];

/** A process that was started; `ended` resolves when it was aborted. */
interface StartedProcess {
  readonly ended: Promise<void>;
}

/** Starts the processes of the table, each where the table says: one that stands elsewhere, or not at all, does not compile. */
export interface ProcessStarter {
  /** Starts a process that runs on every replica, at once. */
  everyReplica<P extends StartedProcess>(name: ProcessOn<"everyReplica">, start: (signal: AbortSignal) => P): P;
  /** Has a process started whenever this replica becomes the leader, in the order of these calls. `current`: the one that was started last, if any. */
  leader<P extends StartedProcess>(name: ProcessOn<"leader">, start: (term: AbortSignal) => P): { readonly current: P | undefined };
  /**
   * From now on those of the leader are started: all of a term together, and not before all of the term before have ended, as one uses the other.
   * Resolves when all were aborted and have ended. Throws when one that the table lists was left out.
   */
  run(): Promise<void>;
}

/** A starter for the processes of one replica of an agent. */
export function processStarter(leadership: Leadership, signal: AbortSignal): ProcessStarter {
  const names = new Set<AgentProcess>();
  const onEveryReplica: Promise<void>[] = [];
  const launches: ((term: AbortSignal) => StartedProcess)[] = [];
  return {
    everyReplica(name, start) {
      const process = start(signal);
      names.add(name);
      onEveryReplica.push(process.ended);
      return process;
    },
    leader<P extends StartedProcess>(name: AgentProcess, start: (term: AbortSignal) => P) {
      let current: P | undefined;
      names.add(name);
      launches.push((term) => {
        current = start(term);
        return current;
      });
      return {
        get current() {
          return current;
        },
      };
    },
    run() {
      const missing = Object.keys(AGENT_PROCESSES).filter((name) => !names.has(name as AgentProcess));
      if (missing.length > 0) throw new Error(`the agent does not start ${missing.join(", ")}, which AGENT_PROCESSES lists`);
      const together = (term: AbortSignal) => ({ ended: Promise.all(launches.map((launch) => launch(term).ended)).then(() => undefined) });
      return Promise.all([...onEveryReplica, whileLeading(leadership, together, signal)]).then(() => undefined);
    },
  };
}
