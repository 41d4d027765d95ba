import type { CatalogueEntries } from "./entry.ts";

/** Certificates and trust. */
export const CERTIFICATES = {
  CRT1002: {
    severity: { rule: "warning" },
    title: "Certificate of an agent ends",
    meaning: "The client certificate of an agent ends within an hour, and was not renewed.",
    consequence:
      "When it has ended, the server refuses the agent: the cluster gets no changes and reports nothing, until it is registered again.",
    remedy: "look at the log of the agent, with meshctl cluster diagnose CLUSTER",
    example:
      "KubernetesCluster gloo-mesh/cluster-1: status.agent.certificateNotAfter: the client certificate of the agent has ended; istiod-istio-system-cluster-1 would get no changes any more",
  },
  CRT1003: {
    severity: { rule: "warning" },
    title: "Certificate authority of a mesh ends",
    meaning: "The certificate authority of a mesh ends within 14 days, or has ended.",
    consequence: "Certificates that istiod issues end with it: then calls in the mesh, and between meshes, fail.",
    remedy: "look at why the agent does not renew it, with meshctl check --only certificates",
    example:
      "IssuedCertificate gloo-mesh/istiod-istio-system-cluster-1 in cluster-1: status.installed.notAfter: the certificate authority of the mesh ends in 7 d, and no newer one is in use",
  },
  CRT1004: {
    severity: { rule: "error", status: "warning" },
    title: "Certificate authority is not issued",
    meaning: "A certificate authority of a mesh is not issued, or not in use yet.",
    consequence: "Until it is, the mesh keeps the trust that it had: calls to and from meshes that have other roots fail.",
    remedy: "correct what the message names",
    example: "IssuedCertificate gloo-mesh/istiod-istio-system-cluster-1 in cluster-1: status.state: is FAILED: the CA refused the request",
  },
  CRT1006: {
    severity: { rule: "error" },
    title: "Meshes do not trust each other",
    meaning: "Meshes of a VirtualMesh do not trust each other's roots: calls between them fail.",
    consequence:
      "A proxy refuses a certificate whose root it does not know, so that calls fail in the handshake, in one direction or in both.",
    remedy: "see with meshctl cert list what the rotation waits for",
    example:
      "VirtualMesh gloo-mesh/all: spec.meshes: proxies of istiod-istio-system-cluster-1 do not trust root bbbbbbbbbbbb of istiod-istio-system-cluster-2, so their calls fail",
  },
  CRT1007: {
    severity: { rule: "warning" },
    title: "Control plane has not read its new authority",
    meaning: "A control plane still uses the certificate authority that it had before.",
    consequence: "Its proxies get certificates of the earlier authority, which other meshes stop to trust.",
    remedy: "restart istiod, or set autoRestartPods in the VirtualMesh",
    example:
      "IssuedCertificate gloo-mesh/istiod-istio-system-cluster-1 in cluster-1: status.isControlPlaneOutdated: the control plane has not read the certificate authority that is installed",
  },
  CRT1008: {
    severity: { rule: "warning" },
    title: "Pods use earlier certificates",
    meaning: "Pods still use certificates of an earlier certificate authority.",
    consequence: "When the earlier root is taken away, their calls fail.",
    remedy: "restart them, or set autoRestartPods in the VirtualMesh",
    example:
      "IssuedCertificate gloo-mesh/istiod-istio-system-cluster-1 in cluster-1: status.podsToRestart: 2 pods use earlier certificates: bookinfo/reviews-1, bookinfo/ratings-1",
  },
  CRT1009: {
    severity: { status: "warning" },
    title: "Key is too small",
    meaning: "A key is too small.",
    consequence: "Keys of this length can be broken, and with them the identity of every workload; some TLS libraries refuse them.",
    remedy: "ask for a key of at least 2048 bits",
    example:
      "VirtualMesh gloo-mesh/all: spec.mtlsConfig.shared.rootCertificateAuthority.generated.rsaKeySizeBytes: 1024 bits are fewer than 2048: set 2048 or more, or remove it to get 4096",
  },
  CRT1010: {
    severity: { status: "error" },
    title: "VirtualMesh without a certificate authority",
    meaning: "A VirtualMesh has no usable certificate authority.",
    consequence: "The meshes get no shared root, so that calls between them cannot be mutual TLS.",
    remedy: "set mtlsConfig.shared.rootCertificateAuthority",
    example:
      "VirtualMesh gloo-mesh/all: spec.mtlsConfig.shared.rootCertificateAuthority: has no source: set generated or secret, or remove rootCertificateAuthority to get a self-signed root",
  },
  CRT1011: {
    severity: { rule: "warning" },
    title: "Certificates of a VirtualMesh end",
    meaning: "A root of a VirtualMesh ends soon, or a certificate below it was not renewed in time.",
    consequence: "Once a root has ended, calls between its meshes fail.",
    remedy: "name a new root in the VirtualMesh: meshes change to it without losing calls",
    example:
      "VirtualMesh gloo-mesh/all: status.conditions: the root in Secret gloo-mesh/root expires at 2026-02-14T00:00:00Z: replace it now: name another Secret in VirtualMesh gloo-mesh/all",
  },
} as const satisfies CatalogueEntries;
