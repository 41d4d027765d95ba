import type { CatalogueEntries } from "./entry.ts";

/** Access and encryption. */
export const SECURITY = {
  SEC1001: {
    severity: { rule: "error", status: "error" },
    title: "All callers are denied",
    meaning: "Calls need an AccessPolicy and none allows any: all calls are denied.",
    consequence: "Every request between services is answered with 403.",
    remedy: "add an AccessPolicy",
    example: "VirtualMesh gloo-mesh/all: spec.globalAccessPolicy: is ENABLED and there is no AccessPolicy: all calls are denied",
  },
  SEC1002: {
    severity: { status: "warning" },
    title: "Mesh is permissive",
    meaning: "A mesh allows all calls, whatever AccessPolicies say.",
    consequence: "Services that seem to be protected can be called by every pod.",
    remedy: "turn the permissive mode of the mesh off",
    example:
      "AccessPolicy bookinfo/readers: Mesh gloo-mesh/osm-cluster-1 allows all calls regardless of AccessPolicies: set spec.traffic.enablePermissiveTrafficPolicyMode of MeshConfig osm-system/osm-mesh-config in cluster-1 to false",
  },
  SEC1003: {
    severity: { rule: "warning" },
    title: "Services without an AccessPolicy",
    meaning: "Services have no AccessPolicy while others in their mesh do, so all callers may call them.",
    consequence: "Without a policy every caller is allowed: what is protected beside it may be reached through these services.",
    remedy: "create AccessPolicies for them, or set spec.globalAccessPolicy of the VirtualMesh to ENABLED",
    example:
      "Mesh gloo-mesh/istiod-istio-system-cluster-1: 1 of 2 services have no AccessPolicy, so all callers may call them: bookinfo/ratings",
  },
  SEC1004: {
    severity: { rule: "warning", status: "warning" },
    title: "Rule applies to nothing",
    meaning: "An access rule selects no workload.",
    consequence: "What it should protect is open, or what it should open is closed.",
    remedy: "correct the selector",
    example:
      "AuthorizationPolicy bookinfo/readers in cluster-1: spec.selector.matchLabels: no workload of namespace bookinfo has pods with app: reviewz, so the policy applies to nothing",
  },
  SEC1005: {
    severity: { rule: "error", status: "error" },
    title: "Service account is unknown",
    meaning:
      "An AuthorizationPolicy names a service account that no workload runs as, and that looks like a misspelt one; or an AccessPolicy names one that is not known where its mesh needs it.",
    consequence: "The caller that was meant is not allowed, or not denied.",
    remedy: "correct the service account",
    example:
      "AuthorizationPolicy bookinfo/readers in cluster-1: spec.rules[0].from[0].source.principals[0]: no workload runs as service account bookinfo/revews",
  },
  SEC1006: {
    severity: { status: "error" },
    title: "TLS mode that gateways do not forward",
    meaning: "Calls to a federated service use a TLS mode that east-west gateways do not forward.",
    consequence: "Gateways choose the service by the server name of mutual TLS: without it, calls from other clusters fail.",
    remedy: "set the TLS mode ISTIO_MUTUAL in the Settings, or in a TrafficPolicy for the service",
    example:
      "VirtualMesh gloo-mesh/all: Destination gloo-mesh/reviews-bookinfo-cluster-1: calls from cluster-2 fail, because their TLS mode is DISABLE and east-west gateways only forward ISTIO_MUTUAL: set mtls.istio.tlsMode: ISTIO_MUTUAL in the Settings, or in a TrafficPolicy for it",
  },
  SEC1007: {
    severity: { rule: "warning" },
    title: "Namespace of callers is empty",
    meaning: "An AuthorizationPolicy names a namespace that has no workload in a mesh.",
    consequence: "No caller can match, so that the rule allows, or denies, nothing.",
    remedy: "correct the namespace",
    example:
      "AuthorizationPolicy bookinfo/readers in cluster-1: spec.rules[0].from[0].source.namespaces[0]: no workload in a mesh is in namespace bookinf",
  },
  SEC1008: {
    severity: { rule: "error" },
    title: "Mutual TLS is switched off",
    meaning:
      "A DestinationRule switches mutual TLS off for a service that AccessPolicies let callers into, or in a namespace whose PeerAuthentication is STRICT.",
    consequence:
      "Requests leave the caller as plain text, without its identity: rules that name callers let none of them in, and pods with STRICT refuse them.",
    remedy: "set ISTIO_MUTUAL, or remove tls",
    example:
      "DestinationRule bookinfo/reviews in cluster-1: spec.trafficPolicy.tls.mode: DISABLE sends plain text to reviews, so callers have no identity, and AccessPolicy bookinfo/reviewers lets none of them in by name",
  },
  SEC1009: {
    severity: { rule: "warning" },
    title: "Server is not verified",
    meaning: "A DestinationRule has proxies begin TLS with a server whose certificate they do not verify.",
    consequence: "The connection is encrypted, and anybody who takes the address of the server can read and change it.",
    remedy: "set caCertificates to the authorities that sign its certificate",
    example:
      "DestinationRule bookinfo/db in cluster-1: spec.trafficPolicy.tls.insecureSkipVerify: is true: anybody who answers for db.example.com is taken for it, with any certificate",
  },
  SEC1012: {
    severity: { rule: "error", status: "warning" },
    title: "Network layer and mesh disagree",
    meaning: "The network layer lets through, or shuts, something else than the rules of the mesh.",
    consequence: "A shut gateway drops all calls from other clusters; a network layer that is open leaves the mesh as the only protection.",
    remedy: "correct the policy of the network layer",
    example:
      "CiliumNetworkPolicy istio-system/lock in cluster-1: spec.ingress: denies all callers on port 15443 of gateway istio-system/istio-ingressgateway: calls from other clusters are dropped",
  },
  SEC1013: {
    severity: { status: "warning" },
    title: "Rule lets every caller in",
    meaning: "A rule lets every caller in.",
    consequence: "An AccessPolicy is usually written to keep callers out: one without callers protects nothing.",
    remedy: "name the callers",
    example:
      "AccessPolicy bookinfo/readers: spec.sourceSelector: is missing, so every caller may call the selected destinations: name the callers, or write sourceSelector: [{}] if all are meant",
  },
  SEC1015: {
    severity: { rule: "warning" },
    title: "Setting of Cilium bypasses the mesh",
    meaning: "A setting of Cilium keeps policies, or the sidecars of the mesh, from being in force.",
    consequence: "Traffic can pass beside the sidecar, or past the policies: what they allow or deny is not what happens.",
    remedy: "change the setting in cilium-config, and restart Cilium",
    example:
      "Mesh gloo-mesh/istiod-istio-system-cluster-1: spec.cilium.warnings[0]: socketLB is on for pods: set socketLB.hostNamespaceOnly",
  },
  SEC1016: {
    severity: { rule: "warning" },
    title: "Service account looks misspelt",
    meaning: "An AccessPolicy names a service account that no workload runs as, and that looks like a misspelt one.",
    consequence: "Nobody is allowed by that name: calls of the workload that was meant are denied.",
    remedy: "correct the name of the service account",
    example:
      "AccessPolicy bookinfo/readers: spec.sourceSelector[0].kubeServiceAccountRefs.serviceAccounts[0].name: no workload runs as service account bookinfo/productpag in cluster-1",
  },
  SEC1017: {
    severity: { status: "warning" },
    title: "Callers of clusters cannot be distinguished",
    meaning: "An AccessPolicy names callers of a cluster whose trust domain Istio takes for that of another mesh.",
    consequence: "They are not allowed, because the callers of the other mesh would be; or, where the Settings say so, both are.",
    remedy: "set a different trustDomain in the mesh configuration of each cluster",
    example:
      "AccessPolicy bookinfo/readers: spec.sourceSelector[0].kubeIdentityMatcher.clusters[0]: Istio cannot tell callers of cluster cluster-1 from those of cluster-2, as both have trust domain cluster.local, so callers of cluster-1 are not allowed: name all of these clusters, set a different trustDomain in the mesh configuration of each, or set policies.sharedTrustDomain: WARN in the Settings to allow them all",
  },
  SEC1018: {
    severity: { status: "warning" },
    title: "Infrastructure in a namespace that nothing vouches for",
    meaning:
      "An object looks like a control plane, Cilium or a gateway, and is in a namespace in which any user of the cluster may have created it.",
    consequence:
      "It is not used, as a user who can write to one namespace could otherwise decide about the access and the traffic of others; a gateway that has been in use stays.",
    remedy: "if it is infrastructure, add its namespace to spec.systemNamespaces of the KubernetesCluster; else ask who created it",
    example:
      "Deployment team-a/istiod-x in cluster-1: not trusted: namespace team-a: no webhook of a mesh in cluster-1 names it, so this is not used as a control plane; if it is, add team-a to spec.systemNamespaces of KubernetesCluster cluster-1",
  },
  SEC1019: {
    severity: { status: "warning" },
    title: "AccessPolicy comes to something else than it says",
    meaning:
      "AuthorizationPolicies or PeerAuthentications of users are about the pods of an AccessPolicy, their TLS mode leaves callers without an identity, or pods have no sidecar.",
    consequence: "Callers that the policy allows are denied, or others are allowed.",
    remedy: "say in AccessPolicies alone who may call, or narrow the other object; have sidecars injected into all pods of the Service",
    example:
      "AccessPolicy bookinfo/readers: Destination gloo-mesh/reviews-bookinfo-cluster-1: AuthorizationPolicy bookinfo/admin in cluster-1 of a user denies the calls that this policy allows, and what denies comes first: remove it, or narrow it",
  },
  SEC1020: {
    severity: { status: "warning" },
    title: "Control plane or Cilium is gone",
    meaning: "The Deployment of a control plane, or the DaemonSet of Cilium, was deleted while policies rely on it.",
    consequence:
      "Access rules, network policies and federated services stay as they are, also those that would change: nobody removes them by deleting a Deployment.",
    remedy: "install it again; or, if it was removed on purpose, meshctl cluster confirm-removed CLUSTER NAMESPACE/NAME",
    example:
      "VirtualMesh gloo-mesh/shop: control plane istio-system/istiod of cluster-1 is not found any more, and policies rely on it: what is written for it stays as it is. If it was removed on purpose: meshctl cluster confirm-removed cluster-1 istio-system/istiod",
  },
} as const satisfies CatalogueEntries;
