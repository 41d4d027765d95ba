import { type Clock, type Log, messageOf } from "@isthmus/core";
import { type Cluster, ClusterError } from "../ports/clusterPort.ts";
import { nextRestart, type RestartablePod, unreplacedPods, type WorkloadRestart } from "./podRestarts.ts";

/** Restarts the pods of meshes by evictions, so that PodDisruptionBudgets hold. */
export interface MeshRestarts {
  /** Evicts the next of the outdated pods of a mesh, if any may go now; gives what is waited for, for users. */
  next(
    mesh: string,
    pods: { readonly all: readonly RestartablePod[]; readonly outdated: readonly RestartablePod[] },
  ): Promise<string | undefined>;
}

export interface MeshRestartsOptions {
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Restarts one workload after the other, and keeps in memory, per mesh, which was the last: the next one waits until it is complete again.
 * `next` rejects with the reason of `signal` when that is aborted.
 */
export function meshRestarts({ cluster, clock, log }: MeshRestartsOptions, signal: AbortSignal): MeshRestarts {
  /** By mesh, the workload that was restarted last. */
  const last = new Map<string, WorkloadRestart & { readonly at: number }>();

  /** A workload that was scaled down meanwhile is whole with fewer pods. */
  function lastOf(mesh: string, all: readonly RestartablePod[]): WorkloadRestart | undefined {
    const known = last.get(mesh);
    if (known === undefined || clock.now() < known.at + LONGEST_GAP_MS) return known;
    return { ...known, pods: all.filter(({ namespace, owner }) => `${namespace}/${owner?.name}` === known.workload).length };
  }

  async function evict(pod: RestartablePod): Promise<"evicted" | string> {
    const ref = { apiVersion: "v1", kind: "Pod", name: pod.name, namespace: pod.namespace, clusterName: cluster.name };
    try {
      await cluster.evict(ref, pod.uid === "" ? {} : { uid: pod.uid }, signal);
      log.info({ pod: `${pod.namespace}/${pod.name}` }, "evicted a pod that uses an earlier certificate");
      return "evicted";
    } catch (error) {
      if (!(error instanceof ClusterError)) throw error;
      if (error.code === "Blocked") {
        return `pod ${pod.namespace}/${pod.name} cannot be evicted: ${messageOf(error)}: it is tried again; let the PodDisruptionBudget allow one disruption, or add a replica`;
      }
      if (error.code === "Forbidden") {
        return (
          `pod ${pod.namespace}/${pod.name} cannot be evicted: ${messageOf(error)}: set the value meshCertificates.restartPods of the agent's chart, ` +
          "or restart the pods yourself"
        );
      }
      // It is gone, or another one, or the API server does not answer: the next round sees it.
      return `pod ${pod.namespace}/${pod.name} is being evicted`;
    }
  }

  return {
    async next(mesh, { all, outdated }) {
      const step = nextRestart(all, outdated, lastOf(mesh, all));
      if (step.type === "wait") return `workload ${step.workload} lacks a ready pod: no other pod is restarted before it is complete`;
      if (step.type === "none") {
        const left = unreplacedPods(outdated).map(({ namespace, name }) => `${namespace}/${name}`);
        if (left.length === 0) return undefined;
        return `nothing replaces these pods, so they are not evicted: ${left.slice(0, MOST_NAMED).join(", ")}: restart them yourself`;
      }
      const outcome = await evict(step.pod);
      if (outcome !== "evicted") return outcome;
      last.set(mesh, { ...step.restart, at: clock.now() });
      return `workload ${step.restart.workload} is being restarted`;
    },
  };
}

const LONGEST_GAP_MS = 600_000;
const MOST_NAMED = 5;
