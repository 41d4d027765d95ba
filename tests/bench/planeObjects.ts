import type { AnyResource } from "@isthmus/core";

/** Namespace of the management plane. */
export const PLANE = "gloo-mesh";

/** The name that discovery gives to the mesh of a cluster whose control plane is `istiod` in `istio-system`. */
export function meshRef(clusterName: string) {
  return { name: `istiod-istio-system-${clusterName}`, namespace: PLANE };
}

export function discovered(kind: string, name: string, spec: object): AnyResource {
  return planeObject("discovery.mesh.gloo.solo.io/v1", kind, name, spec);
}

export function networking(kind: string, name: string, spec: object): AnyResource {
  return planeObject("networking.mesh.gloo.solo.io/v1", kind, name, spec);
}

export function planeObject(apiVersion: string, kind: string, name: string, spec: object): AnyResource {
  return { apiVersion, kind, metadata: { name, namespace: PLANE, generation: 1 }, spec };
}
