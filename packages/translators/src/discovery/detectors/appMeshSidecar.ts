import { type Pod, VIRTUAL_NODE_VARIABLE } from "@isthmus/api";
import type { SidecarDetector } from "./sidecar.ts";

/** Knows the proxy of AWS App Mesh, which says itself what mesh it is in. */
export const appMeshSidecar: SidecarDetector = {
  name: "AWS App Mesh",
  isInjected: (pod) => proxyOf(pod) !== undefined,
  /** By the mesh's name alone, as pods name neither account nor region. */
  meshOf(pod, meshes) {
    const awsName = meshNameOf(pod);
    return awsName === undefined ? undefined : meshes.find(({ spec }) => spec?.awsAppMesh?.awsName === awsName);
  },
  /** Its injector asks for a VirtualNode, which is not known. */
  meshToCome: () => undefined,
};

function proxyOf(pod: Pod) {
  return pod.spec?.containers?.find(({ image = "" }) => image.includes("appmesh") && image.includes("envoy"));
}

function meshNameOf(pod: Pod): string | undefined {
  const node = proxyOf(pod)?.env?.find(({ name }) => name === VIRTUAL_NODE_VARIABLE)?.value ?? "";
  const steps = node.split("/");
  return steps.length === 4 ? steps[1] : undefined;
}
