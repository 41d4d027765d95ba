import { type Clock, type Log, messageOf, uptimeOf } from "@isthmus/core";
import { type Cluster, ClusterError } from "@isthmus/ports";
import { nextRestart, type RestartablePod, unreplacedPods, type WorkloadRestart, workloadOf } from "./podRestarts.ts";
import { rolloutRestarts } from "./rolloutRestarts.ts";

/** Restarts the pods of meshes: by evictions, so that PodDisruptionBudgets hold, or by rollouts, where the agent may. */
export interface MeshRestarts {
  /** Restarts the next of the outdated pods of a mesh, if any may go now; gives what is waited for, for users. */
  next(mesh: string, pods: OutdatedPods): Promise<string | undefined>;
}

/** What of a mesh may have to restart. */
export interface OutdatedPods {
  readonly all: readonly RestartablePod[];
  readonly outdated: readonly RestartablePod[];
  /** Workloads, `namespace/name`, that are left out of the change of root: nothing waits for them. */
  readonly leave: readonly string[];
  /** The outdated pods are those of the control plane, without which no change of root continues. */
  readonly isControlPlane: boolean;
  /** Since when a pod that starts counts as restarted, in milliseconds since 1970. */
  readonly since: number;
}

export interface MeshRestartsOptions {
  readonly cluster: Cluster;
  /** Restarts workloads by rollouts, and evicts only pods of those that cannot be rolled out. */
  readonly byRollout: boolean;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Restarts one workload after the other, and keeps in memory, per mesh, which was the last: the next one waits until it is complete again.
 * `next` rejects with the reason of `signal` when that is aborted.
 */
export function meshRestarts({ cluster, byRollout, clock, log }: MeshRestartsOptions, signal: AbortSignal): MeshRestarts {
  const rollouts = byRollout ? rolloutRestarts({ cluster, log }, signal) : undefined;
  /** By mesh, the workload that was restarted last. */
  const last = new Map<string, WorkloadRestart & { readonly at: number }>();
  /** By mesh, the workload of which no pod is missing, and since when. */
  const whole = new Map<string, { readonly workload: string; readonly since: number }>();
  /** By mesh, the workload that holds it up, and since when: only the time that passes counts, whatever clocks show. */
  const held = new Map<string, { readonly workload: string; readonly since: number }>();

  /** A workload that was scaled down meanwhile is whole with fewer pods. */
  function lastOf(mesh: string, { all, leave }: OutdatedPods): WorkloadRestart | undefined {
    const known = last.get(mesh);
    if (known === undefined || leave.includes(known.workload)) return undefined;
    if (clock.now() < known.at + LONGEST_GAP_MS) return known;
    return { ...known, pods: all.filter((pod) => pod.owner !== undefined && workloadOf(pod) === known.workload).length };
  }

  async function evict(pod: RestartablePod): Promise<Outcome> {
    const ref = { apiVersion: "v1", kind: "Pod", name: pod.name, namespace: pod.namespace, clusterName: cluster.name };
    const name = `pod ${pod.namespace}/${pod.name}`;
    try {
      await cluster.evict(ref, pod.uid === "" ? {} : { uid: pod.uid }, signal);
      log.info({ pod: `${pod.namespace}/${pod.name}` }, "evicted a pod that uses an earlier certificate");
      return { type: "evicted" };
    } catch (error) {
      if (!(error instanceof ClusterError)) throw error;
      // It is gone, or another one has its name: the next round sees it.
      if (error.code === "NotFound" || error.code === "Conflict") return { type: "gone", text: `${name} is being replaced` };
      const refused = `${name} cannot be evicted: ${messageOf(error)}`;
      if (error.code === "Blocked") {
        const remedy = "let the PodDisruptionBudget allow one disruption, or add a replica";
        return { type: "held", text: `${refused}: it is tried again; ${remedy}` };
      }
      if (error.code !== "Forbidden") return { type: "held", text: `${refused}: it is tried again` };
      const remedy = "set the value meshCertificates.restartPods of the agent's chart, or restart the pods yourself";
      return { type: "gone", text: `${refused}: ${remedy}` };
    }
  }

  /** What is said of a workload that holds a mesh up: after a while also how to continue without it. */
  function heldBy(workload: string, text: string, { mesh, isControlPlane }: { mesh: string; isControlPlane: boolean }): string {
    const known = held.get(mesh);
    const since = known?.workload === workload ? known.since : uptimeOf(clock);
    held.set(mesh, { workload, since });
    if (uptimeOf(clock) < since + LONGEST_HOLD_MS) return text;
    // Without the control plane no proxy gets other certificates.
    if (isControlPlane) return `${text}; this has been so for ten minutes: no change of root continues without the control plane`;
    return (
      `${text}; this has been so for ten minutes: if neither helps, leave workload ${workload} out of this change of root, which breaks calls to and from it, as ` +
      `the command says before it asks: meshctl cert rotate meshIntermediate/${mesh} --leave ${workload}`
    );
  }

  /**
   * Whether those who call a workload may not know its youngest pod yet: of one that was restarted last, and of the first one after a start of
   * this agent, which does not know what was.
   */
  function isUnknownToCallers(
    mesh: string,
    { pod, restart }: { readonly pod: RestartablePod; readonly restart: WorkloadRestart },
  ): boolean {
    const before = last.get(mesh);
    if (restart.pods < 2 || !pod.isReady || (before !== undefined && before.workload !== restart.workload)) return false;
    const known = whole.get(mesh);
    const since = known?.workload === restart.workload ? known.since : uptimeOf(clock);
    whole.set(mesh, { workload: restart.workload, since });
    return uptimeOf(clock) < since + SETTLING_MS;
  }

  return {
    async next(mesh, pods) {
      const { all, outdated, isControlPlane } = pods;
      const step = nextRestart(all, outdated, lastOf(mesh, pods));
      if (step.type === "wait") {
        whole.delete(mesh);
        const text = `workload ${step.workload} lacks a ready pod: no other pod is restarted before it is complete`;
        return heldBy(step.workload, text, { mesh, isControlPlane });
      }
      if (step.type === "none") {
        const left = unreplacedPods(outdated).map(({ namespace, name }) => `${namespace}/${name}`);
        if (left.length === 0) return undefined;
        return `nothing replaces these pods, so they are not evicted: ${left.slice(0, MOST_NAMED).join(", ")}: restart them yourself`;
      }
      const rollout = await rollouts?.restart(step.pod, pods.since);
      if (rollout?.type === "rolling") {
        // There are more of them while a new pod is ready and the old one is not yet deleted: those never come back.
        const count = Math.min(step.restart.pods, rollout.pods ?? step.restart.pods);
        last.set(mesh, { workload: step.restart.workload, pods: count, at: clock.now() });
        return heldBy(step.restart.workload, `workload ${step.restart.workload} is being restarted by a rollout`, { mesh, isControlPlane });
      }
      const why = rollout?.reason === undefined ? "" : `, by evictions, as it cannot be rolled out: ${rollout.reason}`;
      if (isUnknownToCallers(mesh, step)) {
        return `workload ${step.restart.workload} is complete: its next pod is restarted once those who call it know the last one, after ${SETTLING_MS / 1_000} s`;
      }
      const outcome = await evict(step.pod);
      if (outcome.type === "held") return heldBy(step.restart.workload, outcome.text, { mesh, isControlPlane });
      held.delete(mesh);
      whole.delete(mesh);
      if (outcome.type === "gone") return outcome.text;
      last.set(mesh, { ...step.restart, at: clock.now() });
      return `workload ${step.restart.workload} is being restarted${why}`;
    },
  };
}

type Outcome =
  | { readonly type: "evicted" }
  /** There is nothing to wait for. */
  | { readonly type: "gone"; readonly text: string }
  /** It is refused, and tried again. */
  | { readonly type: "held"; readonly text: string };

const LONGEST_GAP_MS = 600_000;
// istiod collects changes of endpoints for up to 10 s before it pushes them (PILOT_DEBOUNCE_MAX), and a sidecar drains its connections for 5 s when its
// pod ends (terminationDrainDuration). The 10 s also cover an endpoint that goes to other clusters by agents and server.
const SETTLING_MS = 15_000;
// A budget that allows nothing at the moment may do so when a rollout is over.
const LONGEST_HOLD_MS = 600_000;
const MOST_NAMED = 5;
