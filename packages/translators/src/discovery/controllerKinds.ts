import { DaemonSet, Deployment, ReplicaSet, StatefulSet } from "@isthmus/api";
import type { OwnerReference, Resource } from "@isthmus/core";
import { isDnsLabel } from "../policy/limits.ts";

/** Controllers that agents watch, and what a Deployment makes its pods by: their API versions by kind, as the published API tells them by their kind, of whatever group. */
export const WATCHED_CONTROLLERS: ReadonlyMap<string, string> = new Map(
  [Deployment, DaemonSet, StatefulSet, ReplicaSet].map(({ kind, apiVersion }) => [kind, apiVersion]),
);

// A node is the controller of its static pods.
const NODE = "Node";
// Kubernetes' Job, and the likes of TaskRun, PipelineRun, PyTorchJob and Workflow.
const ENDING = ["Job", "Run", "Workflow"];

/** Whether pods of a controller of this kind run to their end, and so serve nobody. */
function runsToItsEnd(kind: string): boolean {
  return ENDING.some((end) => kind.endsWith(end));
}

/** Whether a controller of this kind, which agents do not watch, is a workload. What an owner reference names as its kind nobody checks, and a Workload's name ends in it. */
export function isOtherController(kind: string): boolean {
  return !WATCHED_CONTROLLERS.has(kind) && kind !== NODE && !runsToItsEnd(kind) && isDnsLabel(kind.toLowerCase());
}

/** The object that made a pod or a ReplicaSet and keeps it; undefined: nothing does. */
export function managingOwnerOf({ metadata }: Resource): OwnerReference | undefined {
  return metadata.ownerReferences?.find(({ controller }) => controller === true);
}
