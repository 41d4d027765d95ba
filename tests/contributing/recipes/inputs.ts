/** A Destination of an Istio mesh, as the beginning of an input of a golden pair. */
export const istioDestination = `apiVersion: discovery.mesh.gloo.solo.io/v1
kind: Mesh
metadata: {name: istiod-a, namespace: gloo-mesh}
spec:
  istio:
    installation: {namespace: istio-system, cluster: a}
---
apiVersion: discovery.mesh.gloo.solo.io/v1
kind: Destination
metadata: {name: cart-shop-a, namespace: gloo-mesh}
spec:
  kubeService:
    ref: {name: cart, namespace: shop, clusterName: a}
    workloadSelectorLabels: {app: cart}
    labels: {app: cart, security: strict}
    ports:
    - {port: 80, name: http, protocol: TCP}
  mesh: {name: istiod-a, namespace: gloo-mesh}
`;
