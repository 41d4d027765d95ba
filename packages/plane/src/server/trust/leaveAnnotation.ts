import type { VirtualMesh } from "@isthmus/api";

/** Which workloads of a mesh are left out of which change of root. */
export interface LeftWorkloads {
  /** As `namespace/name`. */
  readonly workloads: readonly string[];
  /** SHA-256 of the root that the change leads to, hex: of the next one nothing is said. */
  readonly root: string;
}

/** On a VirtualMesh, for one of its meshes: `NAMESPACE/WORKLOAD, … to ROOT`. */
export function leaveAnnotation(meshName: string): string {
  return `leave.isthmus.mesh/${meshName}`;
}

/** The text of such an annotation. */
export function leaveText({ workloads, root }: LeftWorkloads): string {
  return `${workloads.join(", ")} to ${root}`;
}

/**
 * What the annotation for a mesh says; undefined where it says nothing that is understood, or more than `MOST_LEFT` workloads: then nothing is
 * left out. Of a VirtualMesh in a workload cluster it would be the word of its agent.
 */
export function leftWorkloads({ metadata }: VirtualMesh, meshName: string): LeftWorkloads | undefined {
  const text = (metadata.clusterName ?? "") === "" ? metadata.annotations?.[leaveAnnotation(meshName)] : undefined;
  if (text === undefined || text.length > LONGEST_TEXT) return undefined;
  const [, list = "", root = ""] = /^(.+) to ([0-9a-f]{64})$/.exec(text.trim()) ?? [];
  const workloads = list.split(",").map((one) => one.trim());
  if (workloads.length > MOST_LEFT || !workloads.every(isWorkloadName)) return undefined;
  return { workloads: [...new Set(workloads)].sort(), root };
}

/** Whether a text is `namespace/name`, both as Kubernetes has names. */
export function isWorkloadName(text: string): boolean {
  return text.length <= LONGEST_NAME && WORKLOAD.test(text);
}

/** More than a few are no exception any more. */
export const MOST_LEFT = 20;
const LONGEST_NAME = 63 + 1 + 253;
const LONGEST_TEXT = MOST_LEFT * (LONGEST_NAME + 2) + 70;
const WORKLOAD = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?\/[a-z0-9]([-.a-z0-9]*[a-z0-9])?$/;
