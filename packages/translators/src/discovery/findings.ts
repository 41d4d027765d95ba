import type { ApprovalState, Report, ResourceRef } from "@isthmus/core";

/** Every code that discovery reports: what it means, and an example of its message. Subjects are the objects that were looked at. */
export const DISCOVERY_FINDINGS = {
  MeshVersionUnknown: {
    meaning: "A control plane whose image has neither tag nor digest: it is not managed.",
    example: "container discovery: image istio/pilot has neither tag nor digest: give it the tag of its version",
  },
  MeshConfigMissing: {
    meaning: "An istiod without its mesh configuration: it is not managed, or as it was last known.",
    example: "ConfigMap istio.istio-system not found in cluster-1: install Istio with its mesh configuration",
  },
  MeshConfigInvalid: {
    meaning: "An istiod whose mesh configuration can't be read: it is not managed, or as it was last known.",
    example: "ConfigMap istio.istio-system, data.mesh: trustDomain: must be a text, is [1,2]",
  },
  TrustDomainInvalid: {
    meaning: "A mesh configuration names no usable trust domain, though the mesh had one, or is to have one.",
    example:
      'ConfigMap istio.istio-system, data.mesh: trustDomain: "*" is not a DNS name such as cluster.local; the last known one, cluster-1.example, stays in use',
  },
  AppMeshArnInvalid: {
    meaning: "An App Mesh whose ARN can't be read: it is not managed.",
    example:
      "status.meshARN: mesh-1 is not arn:PARTITION:SERVICE:REGION:ACCOUNT:RESOURCE: look for what the App Mesh controller says of it",
  },
  AppMeshSeenOnly: {
    meaning: "An App Mesh: it shows up with its workloads and destinations, and nothing is written for it.",
    example: "is discovered as shop-us-east-2-111122223333, and that is all: policies and VirtualMeshes have no effect in AWS App Mesh",
  },
  IngressGatewayUnusable: {
    meaning: "A gateway's Service that other clusters can't reach; it is left out of its mesh.",
    example: "spec.type: ClusterIP can't be reached from other clusters: make it LoadBalancer or NodePort",
  },
  SidecarWithoutMesh: {
    meaning: "Pods with a sidecar in a cluster without a control plane that we know: the workload is in no mesh.",
    example: "pod reviews-v1-5f6b-0 has an Istio sidecar, but no Istio control plane was discovered in cluster-1",
  },
  AnnotatedWithoutMesh: {
    meaning: "A Service that asks to be discovered, in a cluster without a mesh.",
    example: "annotation discovery.mesh.gloo.solo.io/enabled: no mesh was discovered in cluster-1, so it has no effect",
  },
  NameCollision: {
    meaning: "Two objects would be discovered under one name; the younger one is not discovered.",
    example:
      "Service a-b.c in cluster-1 is not discovered: the older Service a.b-c in cluster-1 has the name a-b-c-cluster-1: rename one of them",
  },
} as const satisfies Readonly<Record<string, { readonly meaning: string; readonly example: string }>>;

export type DiscoveryFindingCode = keyof typeof DISCOVERY_FINDINGS;

/** Something to tell about an object that was looked at. */
export function finding(subject: ResourceRef, state: ApprovalState, code: DiscoveryFindingCode, message: string): Report {
  return { subject, state, code, message };
}
