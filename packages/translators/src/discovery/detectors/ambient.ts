import type { Pod } from "@isthmus/api";
import { isNodeProxyImage } from "./istioShape.ts";

// Istio's ambient mode, in which a proxy of the node, ztunnel, stands before pods without a sidecar, and waypoints before Services.
// Source: istio.io/docs/ambient; spec platform-v2.md, section 8.

/** On a namespace or a pod: in which way it is in the mesh. */
export const DATAPLANE_MODE_LABEL = "istio.io/dataplane-mode";
export const AMBIENT = "ambient";

// What istiod writes on all that it makes of a Gateway. Source: istio.io, Gateway API, managed Gateways.
const MANAGED_BY = "gateway.istio.io/managed";
const WAYPOINT_CONTROLLER = "istio.io-mesh-controller";
const GATEWAY_CLASS = "gateway.networking.k8s.io/gateway-class-name";
const WAYPOINT_CLASS = "istio-waypoint";

/** Whether pods are those of a waypoint, by their labels: it stands before Services of the mesh, and is neither one of them nor at the edge of the mesh. */
export function isWaypoint(labels: Readonly<Record<string, string>> | undefined): boolean {
  return labels?.[MANAGED_BY] === WAYPOINT_CONTROLLER || labels?.[GATEWAY_CLASS] === WAYPOINT_CLASS;
}

const NODE_PROXY_LABELS = ["app", "app.kubernetes.io/name"] as const;
const NODE_PROXY = "ztunnel";

/** Whether a pod is a ztunnel, by its label or its image. */
export function isNodeProxy({ metadata: { labels }, spec }: Pod): boolean {
  return (
    NODE_PROXY_LABELS.some((key) => labels?.[key] === NODE_PROXY) ||
    (spec?.containers ?? []).some(({ image = "" }) => isNodeProxyImage(image))
  );
}
