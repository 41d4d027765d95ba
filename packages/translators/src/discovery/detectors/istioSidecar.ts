import { type Controller, INJECTION_TEMPLATES, type Mesh, type Pod, REVISION_ANNOTATION, SIDECAR_STATUS_ANNOTATION } from "@isthmus/api";
import { DEFAULT_REVISION, revisionToCome } from "./istioInjection.ts";
import { REVISION_LABEL } from "./istioMesh.ts";
import { isProxyContainer, proxyContainer } from "./istioShape.ts";
import type { SidecarDetector } from "./sidecar.ts";

/** Knows Istio's proxy among a pod's containers, from whatever registry. */
export const istioSidecar: SidecarDetector = {
  name: "Istio",
  isInjected: (pod) => proxyContainer(pod) !== undefined,
  /** The control plane that injected the sidecar; the first one when the pod does not say, or says one that we don't know. */
  meshOf(pod, meshes) {
    return meshOfRevision(revisionOf(pod), meshes);
  },
  /** Of a tag that nothing known tells of, also the first one. */
  meshToCome(pods, meshes) {
    const revision = revisionToCome(pods);
    return revision === undefined ? undefined : meshOfRevision(pods.revisionOfTag(revision) ?? revision, meshes);
  },
  isGateway,
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

/**
 * Whether pods run Istio's proxy and nothing else, or ask the injector for a proxy that is a gateway. Not by the label `istio: ingressgateway` or by
 * what a Gateway selects: those may be on any application.
 */
function isGateway({ spec }: Controller): boolean {
  const { metadata, spec: pods } = spec?.template ?? {};
  if ((metadata?.annotations?.[INJECTION_TEMPLATES] ?? "").split(",").some((template) => template.trim() === "gateway")) return true;
  const containers = pods?.containers ?? [];
  // The injector sets the image of a container of this name.
  return containers.length > 0 && containers.every(isProxyContainer);
}
