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
  meshOf: (_pod, meshes) => meshes.find(({ spec }) => spec?.osm !== undefined),
};
