import { type Mesh, type Pod, REVISION_ANNOTATION, SIDECAR_STATUS_ANNOTATION } from "@isthmus/api";
import { DEFAULT_REVISION, revisionToCome } from "./istioInjection.ts";
import { REVISION_LABEL } from "./istioMesh.ts";
import type { SidecarDetector } from "./sidecar.ts";

/** Knows Istio's proxy among a pod's containers; since Kubernetes has sidecars of its own, it may be an init container that stays. */
export const istioSidecar: SidecarDetector = {
  name: "Istio",
  isInjected(pod) {
    const { containers = [], initContainers = [] } = pod.spec ?? {};
    // Istio's one-time init container runs the same image and is no sidecar.
    const staying = initContainers.filter(({ restartPolicy }) => restartPolicy === "Always");
    return [...containers, ...staying].some(({ image = "" }) => image.includes("istio") && image.includes("proxy"));
  },
  /** The control plane that injected the sidecar; the first one when the pod does not say, or says one that we don't know. */
  meshOf(pod, meshes) {
    return meshOfRevision(revisionOf(pod), meshes);
  },
  /** Of a tag that nothing known tells of, also the first one. */
  meshToCome(pods, meshes) {
    const revision = revisionToCome(pods);
    return revision === undefined ? undefined : meshOfRevision(pods.revisionOfTag(revision) ?? revision, meshes);
  },
};

function meshOfRevision(revision: string | undefined, meshes: readonly Mesh[]): Mesh | undefined {
  const candidates = meshes.filter(({ spec }) => spec?.istio !== undefined);
  return candidates.find((mesh) => revisionOfMesh(mesh) === revision) ?? candidates[0];
}

function revisionOfMesh(mesh: Mesh): string {
  return mesh.spec?.istio?.installation?.podLabels?.[REVISION_LABEL] ?? DEFAULT_REVISION;
}

/** The revision that the injector noted on a pod; undefined when it noted none. */
function revisionOf(pod: Pod): string | undefined {
  const annotations = pod.metadata.annotations ?? {};
  return annotations[REVISION_ANNOTATION] ?? /"revision":"([^"]*)"/.exec(annotations[SIDECAR_STATUS_ANNOTATION] ?? "")?.[1];
}
