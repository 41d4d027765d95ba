import type { Mesh } from "@isthmus/api";
import type { SidecarDetector } from "./sidecar.ts";

/** Knows the proxy of Open Service Mesh, together with the init container that redirects traffic to it. */
export const osmSidecar: SidecarDetector = {
  name: "Open Service Mesh",
  isInjected(pod) {
    const { containers = [], initContainers = [] } = pod.spec ?? {};
    const isRedirected = initContainers.some(
      ({ name = "", image = "" }) => name.includes("osm-init") && image.includes("openservicemesh/init"),
    );
    // Later versions take another build of Envoy, and mark the pod instead. Source: github.com/openservicemesh/osm, pkg/injector.
    const isMarked = pod.metadata.labels?.["osm-proxy-uuid"] !== undefined;
    const isProxy = ({ name, image = "" }: { readonly name?: string; readonly image?: string }) =>
      image.includes("envoyproxy/envoy-alpine") || (isMarked && name === "envoy");
    return isRedirected && containers.some(isProxy);
  },
  meshOf: (_pod, meshes) => osmAmong(meshes),
  /** Whether injection is on in a namespace of the mesh is in an annotation, which is not known: nearly always it is. */
  meshToCome: ({ namespaceLabels = {} }, meshes) => (namespaceLabels[MONITORED_LABEL] === undefined ? undefined : osmAmong(meshes)),
};

/** On namespaces that a mesh takes in. Source: github.com/openservicemesh/osm, pkg/constants. */
const MONITORED_LABEL = "openservicemesh.io/monitored-by";

function osmAmong(meshes: readonly Mesh[]): Mesh | undefined {
  return meshes.find(({ spec }) => spec?.osm !== undefined);
}
