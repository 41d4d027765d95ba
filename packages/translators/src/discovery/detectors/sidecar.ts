import type { Mesh, Pod } from "@isthmus/api";

/** Knows the sidecars of one kind of mesh. */
export interface SidecarDetector {
  /** The mesh's name, for messages. */
  readonly name: string;
  /** Whether a pod has such a sidecar. */
  isInjected(pod: Pod): boolean;
  /** The mesh of a pod with such a sidecar, among the meshes of its cluster in key order. */
  meshOf(pod: Pod, meshes: readonly Mesh[]): Mesh | undefined;
}
