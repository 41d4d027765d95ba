import { appMeshSidecar } from "./appMeshSidecar.ts";
import type { MeshDetector } from "./controlPlane.ts";
import { istioMesh } from "./istioMesh.ts";
import { istioSidecar } from "./istioSidecar.ts";
import { osmMesh } from "./osmMesh.ts";
import { osmSidecar } from "./osmSidecar.ts";
import type { SidecarDetector } from "./sidecar.ts";

/** The control planes that we know. A Deployment is the control plane of the first that takes it. */
export const meshDetectors: readonly MeshDetector[] = [istioMesh, osmMesh];

/** The sidecars that we know. A pod is in the mesh of the first that finds one. */
export const sidecarDetectors: readonly SidecarDetector[] = [istioSidecar, appMeshSidecar, osmSidecar];
