/** What is reported of gateways where access is closed, of those that any tenant could have made, and of callers that Istio cannot tell apart: a part of the catalogue in `findings.ts`. */
export const GLOBAL_ACCESS_FINDINGS = {
  GatewayClosed: {
    meaning:
      "A VirtualMesh requires AccessPolicies, and a gateway of one of its meshes is not exempted, because it is not in a namespace of infrastructure or is not called from outside.",
    example:
      "spec.globalAccessPolicy: all calls of gateway Destination gloo-mesh/team-gateway-apps-east are denied with 403, also those from outside, because namespace apps is not one of infrastructure: to let callers in, create an AccessPolicy with destinationSelector: [{kubeServiceRefs: {services: [{name: team-gateway, namespace: apps, clusterName: east}]}}], and with sourceSelector: [{}] for those from outside",
  },
  AmbientClosed: {
    meaning:
      "A VirtualMesh requires AccessPolicies, and one of its meshes has namespaces in ambient mode. AccessPolicies are not about pods in ambient mode yet, so all calls of them are denied unless users' own " +
      "AuthorizationPolicies allow them.",
    example:
      "spec.globalAccessPolicy: all calls of pods in ambient mode in east are denied, in namespaces shop, and no AccessPolicy is about these pods yet: create AuthorizationPolicies for what may call them, in these namespaces, or remove spec.globalAccessPolicy",
  },
  GatewayLabelsTaken: {
    meaning:
      "A VirtualMesh requires AccessPolicies, and pods have the labels by which a gateway in the root namespace of their mesh is exempted. They are denied all calls, because they would be exempted with it.",
    example:
      "spec.globalAccessPolicy: all calls of apps/report in east are denied, because the labels istio: ingressgateway of the pods are those by which a gateway in root namespace istio-system is exempted, and Istio would exempt them as well: give them other labels",
  },
  GatewayNotTrusted: {
    meaning:
      "A Service has the labels of a gateway, and is in a namespace that is neither one of infrastructure nor named by the VirtualMesh: any tenant of the cluster could have made it. It is used " +
      "only if it has been in use.",
    example:
      "Destination gloo-mesh/gateway-edge-cluster-1: not trusted: namespace edge: it is not used as east-west gateway; if it is a gateway of the mesh, add edge to namespaces in spec.federation.eastWestIngressGatewaySelectors, or to spec.systemNamespaces of KubernetesCluster cluster-1",
  },
  TrustDomainKept: {
    meaning:
      "The configuration of a mesh has no valid trust domain, another one that nobody has accepted, or cannot be parsed. The last known one is still used, also in AccessPolicies that name its callers.",
    example:
      'ConfigMap istio-system/istio, data.mesh: trustDomain: "*" is not a DNS name such as cluster.local; the last known one, cluster-1.example, is still used',
  },
  MeshHeld: {
    meaning:
      "The control plane of a mesh, or the Cilium of its cluster, is gone. What policies and VirtualMeshes wrote for it stays until it is back, or its removal is confirmed.",
    example:
      "control plane istio-system/istiod of cluster-1 is not found any more, and policies rely on it: what is written for it stays as it is. If it was removed on purpose: meshctl cluster confirm-removed cluster-1 istio-system/istiod",
  },
  TrustDomainUnknown: {
    meaning: "The trust domain of a cluster is unknown, so its identities cannot be named.",
    example:
      "spec.sourceSelector[0].kubeIdentityMatcher.clusters[1]: no Istio mesh with a trust domain is known in cluster cluster-9: check the name, that the cluster is registered, and that its mesh configuration sets a trustDomain",
  },
  TrustDomainShared: {
    meaning:
      "An AccessPolicy names callers of a cluster that Istio cannot tell from those of another one, because the trust domains of their meshes are equal or aliases of each other. They are not allowed, or, with a warning, the others are allowed too.",
    example:
      "spec.sourceSelector[0].kubeIdentityMatcher.clusters[0]: Istio cannot tell callers of cluster east from those of west, as both have trust domain cluster.local, so callers of east are not allowed: name all of these clusters, set a different trustDomain in the mesh configuration of each, or set policies.sharedTrustDomain: WARN in the Settings to allow them all",
  },
  PodsShared: {
    meaning:
      "An AccessPolicy is about a Service whose pods are those of another Service with AccessPolicies of its own. Its rule is limited to the container ports of its Service; where both have the same port, what is allowed on one is allowed on the other.",
    example:
      "Service shop/web-admin has the same pods and ports and other AccessPolicies: Istio cannot distinguish calls to the two, so what is allowed on one is allowed on the other: select pods of their own, or write the same AccessPolicies for both",
  },
  AccessNarrowed: {
    meaning:
      "An AccessPolicy allows calls that an AuthorizationPolicy of a user denies, or leaves to another program: what denies comes before what allows.",
    example:
      "Destination gloo-mesh/reviews-bookinfo-cluster-1: AuthorizationPolicy bookinfo/no-writes in cluster-1 of a user denies the calls that this policy allows, and what denies comes first: remove it, or narrow it",
  },
  AccessWidened: {
    meaning:
      "An AccessPolicy is about pods that others can call, too: an AuthorizationPolicy of a user allows callers, or pods of the Service have no sidecar.",
    example:
      "Destination gloo-mesh/reviews-bookinfo-cluster-1: AuthorizationPolicy bookinfo/probes in cluster-1 of a user lets callers in, too, as rules that allow add up: remove it, or say the same in AccessPolicies alone",
  },
  TrustDomainLocal: {
    meaning:
      "An AccessPolicy names callers of a mesh with trust domain cluster.local, which Istio takes for that of the mesh that enforces the policy.",
    example:
      "spec.sourceSelector[0].kubeIdentityMatcher.clusters[0]: callers of cluster west are not allowed, because its mesh has trust domain cluster.local, which the mesh of the selected destination, with trust domain east.example, takes for its own: set another trustDomain in the mesh configuration of west",
  },
} as const;
