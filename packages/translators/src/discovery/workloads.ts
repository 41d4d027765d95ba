import { type Controller, type Mesh, type Pod, Workload } from "@isthmus/api";
import { clusterRefOf, discoveredName, type Owner, type Report, refOf } from "@isthmus/core";
import { memoizeRow } from "../incremental/memoizeRow.ts";
import { namespaceLocationOf } from "../policy/podIndexes.ts";
import { sidecarDetectors } from "./detectors/index.ts";
import type { SidecarDetector } from "./detectors/sidecar.ts";
import type { DiscoveryResult } from "./discoveryResult.ts";
import { finding } from "./findings.ts";
import { discoveredMetadata } from "./metadata.ts";
import { withoutZeroValues } from "./zeroValues.ts";

/** All that the translation of one controller may read. */
export interface WorkloadInputs {
  readonly controller: Controller;
  /** Its pods, in key order. */
  readonly pods: readonly Pod[];
  /** The meshes of its cluster, in key order. */
  readonly meshes: readonly Mesh[];
  readonly owner: Owner;
  readonly namespace: string;
}

/** The kind follows the DNS-safe part, so the name can pass 63 characters, as in the published API. */
function workloadName(controller: Controller): string {
  return `${discoveredName(clusterRefOf(controller))}-${controller.kind.toLowerCase()}`;
}

// One for all: nearly every controller has none.
const NONE: readonly never[] = [];

/** Translates one controller into its Workload: one injected pod is enough. */
export function translateWorkload({ controller, pods, meshes, owner, namespace }: WorkloadInputs): DiscoveryResult<Workload> {
  let stray: Report | undefined;
  for (const pod of pods) {
    for (const detector of sidecarDetectors.filter(({ isInjected }) => isInjected(pod))) {
      const mesh = detector.meshOf(pod, meshes);
      if (mesh !== undefined) {
        return { output: { resource: workloadOf({ controller, mesh, owner, namespace }), parents: [refOf(controller)] }, reports: NONE };
      }
      stray ??= strayPod(controller, pod, detector);
    }
  }
  return { reports: stray === undefined ? NONE : [stray] };
}

function strayPod(controller: Controller, pod: Pod, { name }: SidecarDetector): Report {
  const { clusterName } = namespaceLocationOf(controller);
  const message = `pod ${pod.metadata.name} has a sidecar of ${name}, but no control plane of ${name} was discovered in ${clusterName}`;
  return finding(refOf(controller), "WARNING", "SidecarWithoutMesh", message);
}

interface WorkloadParts {
  readonly controller: Controller;
  readonly mesh: Mesh;
  readonly owner: Owner;
  readonly namespace: string;
}

function workloadOf({ controller, mesh, owner, namespace }: WorkloadParts): Workload {
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
      }),
      mesh: meshRefOf(mesh),
    },
  };
}

// One for all that is in it.
const meshRefOf = memoizeRow(({ metadata: { name, namespace = "" } }: Mesh) => ({ name, namespace }));
