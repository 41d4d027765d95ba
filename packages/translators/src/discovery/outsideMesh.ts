import { type Pod, REVISION_ANNOTATION, SIDECAR_STATUS_ANNOTATION } from "@isthmus/api";
import { sidecarDetectors } from "./detectors/index.ts";

/** Pods of a Service that have no sidecar. */
export interface PodsOutsideMesh {
  /** Their names. */
  readonly names: ReadonlySet<string>;
  /** The names of their controllers, each once, in order: of many, the first. A pod without a controller has its own. */
  readonly controllers: readonly string[];
}

/** Those of the pods of a Service that have no sidecar. */
export function podsWithoutSidecar(pods: readonly Pod[]): PodsOutsideMesh {
  const outside = pods.filter((pod) => !hasSidecar(pod));
  if (outside.length === 0) return nobodyOutside;
  const controllers = [...new Set(outside.map(controllerNameOf))].sort().slice(0, MOST_NAMES);
  return { names: new Set(outside.map(({ metadata }) => metadata.name)), controllers };
}

/** All pods have a sidecar, or none is known. */
export const nobodyOutside: PodsOutsideMesh = { names: new Set(), controllers: [] };

/** Whether two versions of a pod say the same of it. */
export function isSameOutsideMesh(before: Pod, after: Pod): boolean {
  return hasSidecar(before) === hasSidecar(after) && controllerNameOf(before) === controllerNameOf(after);
}

/** By the notes of Istio's injector, by the name that it gives its container, whatever the registry of its image, or by what else detectors know. */
function hasSidecar(pod: Pod): boolean {
  const { annotations } = pod.metadata;
  if (annotations?.[SIDECAR_STATUS_ANNOTATION] !== undefined || annotations?.[REVISION_ANNOTATION] !== undefined) return true;
  const { containers = NONE, initContainers = NONE } = pod.spec ?? {};
  if ([...containers, ...initContainers].some(({ name }) => name === PROXY_CONTAINER)) return true;
  return sidecarDetectors.some(({ isInjected }) => isInjected(pod));
}

const PROXY_CONTAINER = "istio-proxy";

/** The name of a pod's controller; its own without one. ReplicaSets of a Deployment have its name and the hash of its template. */
export function controllerNameOf({ metadata }: Pod): string {
  const { name } = metadata.ownerReferences?.find(({ controller }) => controller === true) ?? metadata;
  const hash = metadata.labels?.[TEMPLATE_HASH];
  return hash !== undefined && name.endsWith(`-${hash}`) ? name.slice(0, -hash.length - 1) : name;
}

// Set by Kubernetes on the pods of each ReplicaSet of a Deployment.
const TEMPLATE_HASH = "pod-template-hash";
// They are for people: with one of them they find the others.
const MOST_NAMES = 10;
const NONE: readonly never[] = [];
