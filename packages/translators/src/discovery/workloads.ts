import { type Controller, isNoneReady, type Mesh, Pod, Workload } from "@isthmus/api";
import { clusterRefOf, discoveredName, type Owner, type Report, type ResourceRef, refOf } from "@isthmus/core";
import { memoizeRow } from "../incremental/memoizeRow.ts";
import { namespaceLocationOf } from "../policy/podIndexes.ts";
import { isControlPlane } from "./controlPlanes.ts";
import { isWaypoint } from "./detectors/ambient.ts";
import { sidecarDetectors } from "./detectors/index.ts";
import type { PodsToCome, SidecarDetector } from "./detectors/sidecar.ts";
import type { DiscoveryResult } from "./discoveryResult.ts";
import { finding } from "./findings.ts";
import { discoveredMetadata } from "./metadata.ts";
import type { StandIn } from "./standIns.ts";
import { withoutZeroValues } from "./zeroValues.ts";

/** All that the translation of one controller may read. */
export interface WorkloadInputs {
  readonly controller: Controller;
  /** The objects that tell of the controller. Default: itself. */
  readonly parents?: readonly ResourceRef[];
  /** Its pods, in key order. */
  readonly pods: readonly Pod[];
  /** What is known of those that it makes next. Asked while none has a sidecar. */
  readonly toCome: () => PodsToCome;
  /** The meshes of its cluster, in key order. */
  readonly meshes: readonly Mesh[];
  /** The mesh under which what is in a mesh is discovered. */
  readonly countsAs: StandIn;
  readonly owner: Owner;
  readonly namespace: string;
}

/** The kind follows the DNS-safe part, so the name can pass 63 characters, as in the published API. */
function workloadName(controller: Controller): string {
  return `${discoveredName(clusterRefOf(controller))}-${controller.kind.toLowerCase()}`;
}

// One for all: nearly every controller has none.
const NONE: readonly never[] = [];

/**
 * Translates one controller into its Workload: one injected pod is enough, and says in which mesh. Without one, as while the only one is evicted,
 * those to come count, whatever runs beside them: a restart is no deletion (docs/decisions/0146, 0154).
 */
export function translateWorkload(inputs: WorkloadInputs): DiscoveryResult<Workload> {
  const { controller, pods, meshes } = inputs;
  // Infrastructure, as istiod is.
  if (isWaypoint(controller.spec?.template?.metadata?.labels)) return { reports: NONE };
  const workloadIn = ({ mesh, detector }: Injection): DiscoveryResult<Workload> => {
    const resource = workloadOf(inputs, { mesh: inputs.countsAs(mesh), isGateway: detector.isGateway?.(controller) });
    return { output: { resource, parents: inputs.parents ?? [refOf(controller)] }, reports: NONE };
  };
  let stray: Report | undefined;
  for (const pod of pods) {
    for (const detector of sidecarDetectors.filter(({ isInjected }) => isInjected(pod))) {
      const mesh = detector.meshOf(pod, meshes);
      if (mesh !== undefined) return workloadIn({ mesh, detector });
      stray ??= strayPod(controller, pod, detector);
    }
  }
  const toCome = stray === undefined ? injectionToCome(inputs) : undefined;
  if (toCome !== undefined) return workloadIn(toCome);
  return { reports: stray === undefined ? NONE : [stray] };
}

/** The mesh of the pods that a controller makes next: of the sidecar that its template has itself, else of the one that is injected. */
function injectionToCome({ controller, meshes, toCome }: WorkloadInputs): Injection | undefined {
  // Its pods bear the label of their revision, and are never injected.
  if (meshes.length === 0 || isControlPlane(controller)) return undefined;
  const { metadata, spec } = controller.spec?.template ?? {};
  const pod: Pod = {
    apiVersion: Pod.apiVersion,
    kind: Pod.kind,
    metadata: { ...metadata, name: controller.metadata.name },
    ...(spec && { spec }),
  };
  for (const detector of sidecarDetectors) {
    const mesh = detector.isInjected(pod) ? detector.meshOf(pod, meshes) : undefined;
    if (mesh !== undefined) return { mesh, detector };
  }
  const pods = toCome();
  for (const detector of sidecarDetectors) {
    const mesh = detector.meshToCome?.(pods, meshes);
    if (mesh !== undefined) return { mesh, detector };
  }
  return undefined;
}

function strayPod(controller: Controller, pod: Pod, { name }: SidecarDetector): Report {
  const { clusterName } = namespaceLocationOf(controller);
  const message = `pod ${pod.metadata.name} has a sidecar of ${name}, but no control plane of ${name} was discovered in ${clusterName}`;
  return finding(refOf(controller), "WARNING", "SidecarWithoutMesh", message);
}

/** The mesh of a controller's pods, and who found it. */
interface Injection {
  readonly mesh: Mesh;
  readonly detector: SidecarDetector;
}

interface WorkloadParts {
  readonly mesh: Mesh;
  readonly isGateway: boolean | undefined;
}

function workloadOf({ controller, owner, namespace }: WorkloadInputs, { mesh, isGateway }: WorkloadParts): Workload {
  const { metadata, spec } = controller.spec?.template ?? {};
  return {
    apiVersion: Workload.apiVersion,
    kind: Workload.kind,
    metadata: discoveredMetadata(workloadName(controller), controller, owner, namespace),
    spec: {
      kubernetes: withoutZeroValues({
        controller: clusterRefOf(controller),
        podLabels: metadata?.labels,
        serviceAccountName: spec?.serviceAccountName,
        hostNetwork: spec?.hostNetwork,
        noneReady: isNoneReady(controller),
        gateway: isGateway,
      }),
      mesh: meshRefOf(mesh),
    },
  };
}

// One for all that is in it.
const meshRefOf = memoizeRow(({ metadata: { name, namespace = "" } }: Mesh) => ({ name, namespace }));
