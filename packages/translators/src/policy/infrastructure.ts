/**
 * Namespaces in which no tenant runs pods: that of the control plane and of Cilium by default, that of the management plane, and those where the guides of Istio and Gloo Mesh install
 * gateways. Labels and names of objects say nothing here: a tenant writes them as well.
 */
export const INFRASTRUCTURE_NAMESPACES: ReadonlySet<string> = new Set([
  "gloo-mesh",
  "gloo-mesh-gateways",
  "istio-egress",
  "istio-gateway",
  "istio-gateways",
  "istio-ingress",
  "istio-system",
  "kube-system",
]);
