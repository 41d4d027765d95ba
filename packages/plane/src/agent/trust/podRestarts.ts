import { isReplacing } from "../../runtime/controllerKinds.ts";

/** A pod, as far as its restart depends on it. */
export interface RestartablePod {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  /** Whether it is ready, and nobody has deleted it. */
  readonly isReady: boolean;
  readonly isTerminating: boolean;
  /** Its proxy belongs to a control plane that reads another Secret: it is not ours to restart. */
  readonly isOfOther?: true;
  /** Its IP address; undefined before it has one. */
  readonly address?: string;
  /** What makes another one when it is gone, of a Deployment this itself; undefined: nothing does. */
  readonly owner?: { readonly kind: string; readonly name: string };
}

/** A workload in the midst of its restart, and how many pods it had before. */
export interface WorkloadRestart {
  readonly workload: string;
  readonly pods: number;
}

export type RestartStep =
  /** Nothing can be restarted any more. */
  | { readonly type: "none" }
  | { readonly type: "evict"; readonly pod: RestartablePod; readonly restart: WorkloadRestart }
  /** A workload whose pods are not all there and ready: the next one would be too many. */
  | { readonly type: "wait"; readonly workload: string };

/**
 * Which pod is to be evicted next: one pod at a time, one workload after the other, and none as long as the workload that was restarted
 * last, or the one whose turn it is, lacks a pod. `outdated`: the pods that are to go.
 */
export function nextRestart(
  pods: readonly RestartablePod[],
  outdated: readonly RestartablePod[],
  last: WorkloadRestart | undefined,
): RestartStep {
  const due = outdated.filter((pod) => isReplaced(pod) && !pod.isTerminating).sort(byPlace);
  const before = last === undefined ? undefined : podsOf(pods, last.workload);
  if (last !== undefined && before !== undefined && !isWhole(before, last.pods)) return { type: "wait", workload: last.workload };
  // A workload is finished before the next one begins.
  const pod = due.find((one) => workloadOf(one) === last?.workload) ?? due[0];
  if (pod === undefined) return { type: "none" };
  const workload = workloadOf(pod);
  const siblings = podsOf(pods, workload);
  // What is not ready serves nobody: it may go first, and holds its siblings.
  const unready = due.find((one) => workloadOf(one) === workload && !one.isReady);
  if (unready === undefined && !isWhole(siblings, siblings.length)) return { type: "wait", workload };
  return { type: "evict", pod: unready ?? pod, restart: { workload, pods: siblings.length } };
}

/** The pods that nobody replaces, or that must not be disturbed: their users restart them. */
export function unreplacedPods<P extends RestartablePod>(outdated: readonly P[]): readonly P[] {
  return outdated.filter((pod) => !isReplaced(pod));
}

function isReplaced({ owner }: RestartablePod): boolean {
  return owner !== undefined && isReplacing(owner.kind);
}

function podsOf(pods: readonly RestartablePod[], workload: string): readonly RestartablePod[] {
  return pods.filter((pod) => pod.owner !== undefined && workloadOf(pod) === workload);
}

function isWhole(pods: readonly RestartablePod[], count: number): boolean {
  return pods.length >= count && pods.every(({ isReady }) => isReady);
}

/** `namespace/name` of the workload of a pod, as its users know it; a pod without an owner is its own. */
export function workloadOf({ namespace, name, owner }: Pick<RestartablePod, "namespace" | "name" | "owner">): string {
  return `${namespace}/${owner?.name ?? name}`;
}

function byPlace(a: RestartablePod, b: RestartablePod): number {
  const [left, right] = [a, b].map((pod) => `${workloadOf(pod)}/${pod.name}`);
  return (left ?? "") < (right ?? "") ? -1 : 1;
}
