import type { ApprovalState, Report, ResourceRef } from "@isthmus/core";

/** Every code that discovery reports: what it means, and an example of its message. Subjects are the objects that were looked at. */
export const DISCOVERY_FINDINGS = {
  MeshVersionUnknown: {
    meaning: "The image of a control plane has neither a tag nor a digest. The mesh is not managed, or is managed as it was last known.",
    example: "container discovery: image istio/pilot has neither a tag nor a digest: set the tag of its version",
  },
  MeshConfigMissing: {
    meaning: "The mesh configuration of an istiod is missing. The mesh is not managed, or is managed with its last known configuration.",
    example: "ConfigMap istio-system/istio in cluster-1 not found: install Istio with its mesh configuration",
  },
  MeshConfigInvalid: {
    meaning:
      "The mesh configuration of an istiod cannot be parsed. The mesh is not managed, or is managed with its last known configuration.",
    example: "ConfigMap istio-system/istio, data.mesh: trustDomain: must be a string, is [1,2]",
  },
  MeshConfigNotHeeded: {
    meaning:
      "The mesh configuration of an istiod has fields that change what policies and federation come to, and that are not considered.",
    example:
      "ConfigMap istio-system/istio, data.mesh: pathNormalization: what these say is in force in the mesh, and is not considered here: compare docs/reference/mesh-config.md",
  },
  TrustDomainInvalid: {
    meaning: "A mesh configuration has no valid trust domain, although the mesh had or needs one.",
    example:
      'ConfigMap istio-system/istio, data.mesh: trustDomain: "*" is not a DNS name such as cluster.local; the last known one, cluster-1.example, is still used',
  },
  TrustDomainChanged: {
    meaning:
      "A mesh configuration names another trust domain than before, or than the registration of the cluster. The last known one is used until the registration names the new one.",
    example:
      "ConfigMap istio-system/istio, data.mesh: trustDomain: is east.example, and the last known one is cluster-1.example; cluster-1.example is still used until you run: meshctl cluster trust-domain accept cluster-1 east.example",
  },
  ControlPlaneNotTrusted: {
    meaning:
      "A Deployment looks like a control plane, and is in a namespace that neither a webhook of the mesh, nor the registration of the cluster, names as one of infrastructure. It is not used.",
    example:
      "not trusted: namespace team-a: no webhook of a mesh in cluster-1 names it, so this is not used as a control plane; if it is, add team-a to spec.systemNamespaces of KubernetesCluster cluster-1",
  },
  CiliumNotTrusted: {
    meaning: "A DaemonSet looks like Cilium, and is in a namespace that is not one of infrastructure. It is not used.",
    example:
      "not trusted: namespace team-a: this is not used as the Cilium of cluster-1; if it is, add team-a to spec.systemNamespaces of KubernetesCluster cluster-1",
  },
  ControlPlaneGone: {
    meaning:
      "The Deployment of a control plane is gone while policies rely on its mesh. The mesh, and what is written for it, stay until it is back, or the registration of the cluster confirms that it was removed.",
    example:
      "control plane istio-system/istiod of cluster-1 is not found any more, and policies rely on it: what is written for it stays as it is. If it was removed on purpose: meshctl cluster confirm-removed cluster-1 istio-system/istiod",
  },
  CiliumGone: {
    meaning:
      "The DaemonSet of Cilium is gone while policies rely on it. Network policies stay until it is back, or the registration of the cluster confirms that it was removed.",
    example:
      "Cilium kube-system/cilium of cluster-1 is not found any more, and policies rely on it: what is written for it stays as it is. If it was removed on purpose: meshctl cluster confirm-removed cluster-1 kube-system/cilium",
  },
  AppMeshArnInvalid: {
    meaning: "The ARN of an App Mesh is not valid. The mesh is not managed.",
    example:
      "status.meshARN: mesh-1 is not an ARN (arn:PARTITION:SERVICE:REGION:ACCOUNT:RESOURCE): check the logs of the App Mesh controller",
  },
  AppMeshSeenOnly: {
    meaning: "An App Mesh is discovered with its workloads and destinations, but nothing is written for it.",
    example: "is discovered as shop-us-east-2-111122223333; policies and VirtualMeshes have no effect in AWS App Mesh",
  },
  IngressGatewayUnusable: {
    meaning: "The Service of a gateway is not reachable from other clusters. The gateway is ignored.",
    example: "spec.type: ClusterIP is not reachable from other clusters: use LoadBalancer or NodePort",
  },
  SidecarWithoutMesh: {
    meaning: "Pods have a sidecar, but no control plane was discovered in their cluster. The workload belongs to no mesh.",
    example: "pod reviews-v1-5f6b-0 has a sidecar of Istio, but no control plane of Istio was discovered in cluster-1",
  },
  PodsOfNoWorkload: {
    meaning:
      "Pods of a Service have a sidecar, and none of them is made by what keeps pods running, such as a Deployment: they are of Jobs, or of nothing. There is no Workload, and no Destination.",
    example:
      "spec.selector: selects pods with a sidecar, and none that a Deployment, StatefulSet, DaemonSet or the like keeps running, so no Destination is discovered: load-x7k9q (of Job load), probe (of no controller)",
  },
  AnnotatedWithoutMesh: {
    meaning: "A Service has the discovery annotation, but its cluster has no mesh.",
    example: "annotation discovery.mesh.gloo.solo.io/enabled: has no effect, because no mesh was discovered in cluster-1",
  },
  NameCollision: {
    meaning: "Two objects would be discovered under the same name. The younger one is not discovered.",
    example: "is not discovered: the older Service b-c/a in cluster-1 already has the name a-b-c-cluster-1: rename one of them",
  },
} as const satisfies Readonly<Record<string, { readonly meaning: string; readonly example: string }>>;

export type DiscoveryFindingCode = keyof typeof DISCOVERY_FINDINGS;

/** Something to tell about an object that was looked at. */
export function finding(subject: ResourceRef, state: ApprovalState, code: DiscoveryFindingCode, message: string): Report {
  return { subject, state, code, message };
}
