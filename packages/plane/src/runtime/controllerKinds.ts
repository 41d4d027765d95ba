/** Whether what is of this kind makes another pod for each that goes. The pods of a Job would begin their work again. */
export function isReplacing(kind: string): boolean {
  return REPLACING.has(kind);
}

const REPLACING: ReadonlySet<string> = new Set(["Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "ReplicationController"]);

/** The kinds whose objects can be rolled out, each with its plural. */
export const ROLLED_OUT: ReadonlyMap<string, string> = new Map([
  ["Deployment", "deployments"],
  ["StatefulSet", "statefulsets"],
  ["DaemonSet", "daemonsets"],
]);
