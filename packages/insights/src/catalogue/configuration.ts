import type { CatalogueEntries } from "./entry.ts";

/** Best practice, configuration, health, Open Service Mesh and upgrades. */
export const CONFIGURATION = {
  BP0001: {
    severity: { rule: "warning" },
    title: "VirtualService without exportTo",
    meaning: "A VirtualService without exportTo is in force in every namespace of its cluster.",
    consequence:
      "Callers in every namespace of the cluster get these routes, also callers whose owners know nothing of them: a change for one team changes requests of all.",
    remedy: "set exportTo to the namespaces of the callers, or to . for the namespace of the VirtualService",
    example: "VirtualService bookinfo/reviews in cluster-1: spec.exportTo: is empty: the routing is in force for callers of all namespaces",
  },
  BP0002: {
    severity: { rule: "warning" },
    title: "Gateway host without a namespace",
    meaning: "A host of a Gateway has no namespace: VirtualServices of every namespace may take it.",
    consequence: "Any user who may create VirtualServices in any namespace can take the host, and receive its requests.",
    remedy: "write hosts as NAMESPACE/HOST, or as ./HOST for the namespace of the Gateway",
    example:
      "Gateway bookinfo/shop in cluster-1: spec.servers[0].hosts[0]: shop.example.com may be taken by VirtualServices of every namespace",
  },
  CFG0001: {
    severity: { rule: "error" },
    title: "Subset without a DestinationRule",
    meaning: "A VirtualService names a subset that no DestinationRule of the host has: requests to it fail.",
    consequence: "Envoy has no cluster for the subset, so that each request to it is answered with 503.",
    remedy: "define the subset in a DestinationRule, or correct its name",
    example:
      "VirtualService bookinfo/reviews in cluster-1: spec.http[0].route[0].destination.subset: no DestinationRule for host reviews defines subset v2, only v1, v22",
  },
  CFG1002: {
    severity: { rule: "info" },
    title: "Port name without a protocol",
    meaning: "The name of a port does not say its protocol: Istio guesses it from the first bytes.",
    consequence:
      "What Istio guesses can be wrong: routes, retries and telemetry of HTTP do not apply to a port that is taken for TCP, and protocols in which the server speaks first do not work.",
    remedy: "set appProtocol, or a name such as http-web or tcp-db",
    example: "Service bookinfo/reviews in cluster-1: spec.ports[0].name: 9080-web does not begin with a protocol, so Istio guesses it",
  },
  CFG1003: {
    severity: { rule: "warning" },
    title: "Services disagree on a protocol",
    meaning: "Services of the same pods disagree on the protocol of a port.",
    consequence: "The sidecar has one listener for the port of the pods: which of the protocols it uses is not defined.",
    remedy: "give the port one protocol in both Services",
    example:
      "Service bookinfo/tcp in cluster-1: spec.ports[0]: is TCP, and Service bookinfo/reviews in cluster-1 says HTTP of port 8080 of the same pods",
  },
  CFG1007: {
    severity: { rule: "warning" },
    title: "Deployment outside of the mesh",
    meaning: "A Deployment of a namespace with sidecar injection has no pods with a sidecar.",
    consequence:
      "Its calls are plain text without an identity: services that require mutual TLS refuse them, and no policy applies to calls that it receives.",
    remedy: 'restart the Deployment, so that its pods get sidecars, or label its pods sidecar.istio.io/inject: "false" if they need none',
    example:
      "Deployment bookinfo/legacy in cluster-1: its namespace bookinfo has sidecar injection, and no pod of it has a sidecar: it calls others, and is called, outside of the mesh",
  },
  CFG1009: {
    severity: { rule: "warning" },
    title: "Proxies of another version",
    meaning: "Pods of a workload have a proxy of another version than the control plane of their mesh.",
    consequence:
      "A proxy keeps its version until its pod restarts: an older one lacks features and security fixes, and more than one minor version apart is not supported.",
    remedy: "restart the workload, so that its pods get the proxy of the control plane",
    example:
      "Workload gloo-mesh/reviews-v1-bookinfo-cluster-1-deployment: 2 pods have proxies of Istio 1.22.3, and the control plane is 1.24.2",
  },
  CFG1010: {
    severity: { rule: "error" },
    title: "Sidecars compete",
    meaning: "Two Sidecars of one namespace are for the same workloads: which one is used is not defined.",
    consequence: "Which hosts the proxies know then depends on which Sidecar is used, and can change without a change of either.",
    remedy: "keep one of the Sidecars",
    example:
      "Sidecar bookinfo/b in cluster-1: spec.workloadSelector: Sidecar bookinfo/a in cluster-1 has no selector either: which one is used is not defined",
  },
  CFG1014: {
    severity: { rule: "warning" },
    title: "Generated objects were changed",
    meaning: "Generated objects of a cluster in which not everything may be written differ from what is desired.",
    consequence: "The mesh does what the objects say, and not what the policies behind them say.",
    remedy: "see what differs, and set spec.mode to manage when it may be restored",
    example:
      "KubernetesCluster gloo-mesh/cluster-1: status.comparison.wouldChange: 2 generated objects in cluster-1, whose mode is freeze, differ from what is desired: mode manage would restore them",
  },
  CFG1015: {
    severity: { rule: "warning" },
    title: "Another plane writes in the cluster",
    meaning: "Objects of a cluster are marked as written by another management plane.",
    consequence:
      "Where both planes write for one host, Istio merges both, or uses the older one; where both write one object, each undoes the changes of the other.",
    remedy: "let one plane manage the cluster, and observe it with the other",
    example:
      "KubernetesCluster gloo-mesh/cluster-1: 2 objects are marked as written by another management plane (Gloo Mesh 2, namespace other-plane): DestinationRule bookinfo/reviews, VirtualService bookinfo/reviews",
  },
  CFG1016: {
    severity: { rule: "warning" },
    title: "Policy for a namespace that is not discovered",
    meaning: "A policy names a namespace of a cluster that discovery.selectors of the Settings leave out.",
    consequence: "Services of the namespace are not discovered there, so that the policy is not in force for them.",
    remedy: "give the namespace the labels that discovery.selectors ask for, or widen these",
    example:
      "Namespace payments in cluster-2: metadata.labels: discovery.selectors of the Settings leave the namespace out, so its services are not discovered, and AccessPolicy gloo-mesh/readers, TrafficPolicy gloo-mesh/slow do not apply to them",
  },
  CFG1018: {
    severity: { status: "warning" },
    title: "Sidecars without a control plane",
    meaning: "Pods have a sidecar of a mesh that was not discovered in their cluster.",
    consequence: "Without a Mesh these workloads are in no Destination that policies select, and nothing is written for them.",
    remedy: "install the control plane, or remove the sidecars",
    example:
      "Deployment bookinfo/reviews in cluster-1: pod reviews-5f6b-x has a sidecar of Istio, but no control plane of Istio was discovered in cluster-1",
  },
  CFG1019: {
    severity: { rule: "error" },
    title: "CiliumNetworkPolicy is not valid",
    meaning: "Cilium says that a CiliumNetworkPolicy is not valid: it is not in force.",
    consequence: "Its author relies on a policy that lets through, or keeps out, nothing.",
    remedy: "correct what Cilium names in the status of the policy",
    example:
      "CiliumNetworkPolicy istio-system/lock in cluster-1: status.conditions[0]: Cilium refuses the policy: Policy validation failed: invalid port",
  },
  CFG1020: {
    severity: { status: "warning" },
    title: "Suppression is incomplete",
    meaning: "An entry of insights.suppressions in the Settings suppresses nothing, because it is incomplete.",
    consequence: "Insights that its author does not want to see stay in the lists, and can fail a pipeline.",
    remedy: "complete the entry, or remove it",
    example:
      "Settings gloo-mesh/settings: spec.insights.suppressions[0].reason: must say why these insights are not to be shown; the entry suppresses nothing",
  },
  CFG1021: {
    severity: { rule: "info" },
    title: "Suppression has ended",
    meaning: "An entry of insights.suppressions in the Settings has ended: what it suppressed is shown again.",
    consequence: "The insights that it hid are in the lists again, and count for the exit code of meshctl.",
    remedy: "remove the entry, or extend it",
    example: "Settings gloo-mesh/settings: spec.insights.suppressions[1].until: the suppression of RTE10* has ended on 2026-01-31",
  },
  CFG1022: {
    severity: { status: "info" },
    title: "Service of pods that nothing keeps running",
    meaning: "All pods of a Service that have a sidecar are of Jobs, or were made by no controller.",
    consequence: "The Service has no Destination: no policy and no VirtualMesh takes it.",
    remedy: "have a Deployment or StatefulSet make its pods, where policies are to apply to it",
    example:
      "Service shop/load in cluster-1: spec.selector: selects pods with a sidecar, and none that a Deployment, StatefulSet, DaemonSet or the like keeps running, so no Destination is discovered: load-x7k9q (of Job load)",
  },
  CFG1101: {
    severity: { status: "error" },
    title: "Resource is not in force",
    meaning: "A resource is not in force, for a reason without a code of its own.",
    consequence: "Nothing of what the resource asks for is done, or what was accepted last stays in force; the cause is in its message.",
    remedy: "correct the field",
    example: 'TrafficPolicy bookinfo/slow: spec.policy.requestTimeout: "-1s" must not be negative',
  },
  CFG1103: {
    severity: { status: "warning" },
    title: "Resource is in force with a warning",
    meaning: "A resource is in force with a warning that has no code of its own.",
    consequence: "A part of what the resource asks for is ignored, or does something else than it seems to; the cause is in its message.",
    remedy: "correct the field",
    example: "Settings gloo-mesh/settings: spec.federatoin: unknown field (did you mean federation?); the field is ignored",
  },
  HLT0011: {
    severity: { rule: "warning" },
    title: "Hubble relay is scaled to 0",
    meaning: "Hubble relay is scaled to 0: there is no view of network flows.",
    consequence: "Denied and dropped flows cannot be looked at when something does not work.",
    remedy: "scale it to 1 pod",
    example: "Deployment kube-system/hubble-relay in cluster-1: spec.replicas: is 0: Hubble shows no network flows",
  },
  HLT1001: {
    severity: { rule: "error" },
    title: "Control plane or gateway is scaled to 0",
    meaning: "The control plane or a gateway of a mesh is scaled to 0.",
    consequence: "Without istiod no proxy starts and no change reaches one; without a gateway no call from other clusters arrives.",
    remedy: "scale it to 2 pods or more",
    example: "Deployment istio-system/istiod in cluster-1: spec.replicas: is 0: the mesh has no such control plane",
  },
  HLT1002: {
    severity: { rule: "warning" },
    title: "Pods without a working Cilium endpoint",
    meaning: "Cilium says of pods that their endpoint is not ready, or not valid. Found where discovery.cilium.endpoints is FULL.",
    consequence: "The pods have no network, or one in which changed policies are not in force.",
    remedy: "see in the log of the Cilium agent of their node what it could not set up",
    example:
      "KubernetesCluster gloo-mesh/cluster-1: Cilium has no working network for 2 pods: bookinfo/ratings-1 (invalid), bookinfo/reviews-1 (not-ready)",
  },
  OSM1001: {
    severity: { status: "error" },
    title: "Service with two traffic shifts",
    meaning: "Two policies have traffic shifts for one service of an Open Service Mesh.",
    consequence: "Open Service Mesh takes one TrafficSplit for each service, so the newer policy has no effect.",
    remedy: "merge the policies",
    example:
      "TrafficPolicy bookinfo/canary: spec.policy.trafficShift: Destination gloo-mesh/reviews-bookinfo-cluster-1 already has the traffic shift of TrafficPolicy bookinfo/stable, and Open Service Mesh supports one for each service: remove one of them",
  },
  OSM1002: {
    severity: { status: "error" },
    title: "Feature that the mesh does not have",
    meaning: "A policy asks for something that the mesh of its target cannot do.",
    consequence: "What the policy asks for does not happen on these targets, for example a timeout or a mirror.",
    remedy: "narrow the policy to other meshes",
    example:
      "TrafficPolicy bookinfo/patience: spec.policy.requestTimeout: Open Service Mesh does not support request timeouts: remove it, or narrow the destinationSelector",
  },
  UPG1001: {
    severity: { rule: "warning" },
    title: "Istio is too old",
    meaning: "The version of Istio is older than the oldest supported one.",
    consequence: "What is written for newer versions may be refused or not understood, and Istio itself gets no security fixes.",
    remedy: "upgrade Istio in this cluster",
    example:
      "Mesh gloo-mesh/istiod-istio-system-cluster-1: spec.istio.installation.version: Istio 1.19.3 is older than 1.20, the oldest supported version",
  },
} as const satisfies CatalogueEntries;
