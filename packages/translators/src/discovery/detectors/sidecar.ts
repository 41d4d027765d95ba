import type { Controller, Mesh, Pod } from "@isthmus/api";

/** What decides whether the pods that a controller makes next get a sidecar. What cannot be known is undefined. */
export interface PodsToCome {
  readonly controller: Controller;
  /** Of their namespace; undefined while it is not known. */
  readonly namespaceLabels: Readonly<Record<string, string>> | undefined;
  /** The revision that a tag of Istio stands for; undefined of what is no tag, or of one that nothing known tells of. */
  readonly revisionOfTag: (tag: string) => string | undefined;
}

/** Knows the sidecars of one kind of mesh. */
export interface SidecarDetector {
  /** The mesh's name, for messages. */
  readonly name: string;
  /** Whether a pod has such a sidecar. */
  isInjected(pod: Pod): boolean;
  /** The mesh of a pod with such a sidecar, among the meshes of its cluster in key order. */
  meshOf(pod: Pod, meshes: readonly Mesh[]): Mesh | undefined;
  /**
   * The mesh whose injector will put such a sidecar into pods to come; undefined: none, or none that anything known tells of. Absent: nothing known
   * tells of it, and workloads exist only while they have pods.
   */
  readonly meshToCome?: (pods: PodsToCome, meshes: readonly Mesh[]) => Mesh | undefined;
  /** Whether the pods of a controller are a gateway of the mesh. Absent: its gateways are not known. */
  readonly isGateway?: (controller: Controller) => boolean;
}
