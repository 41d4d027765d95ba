import type { Report, ResourceRef } from "@isthmus/core";

/** Something to tell whoever wrote a resource. */
export interface Finding {
  readonly state: "WARNING" | "INVALID";
  readonly code: FindingCode;
  /** Names object, field and remedy. */
  readonly message: string;
}

/** In force, and something to know. */
export function warning(code: FindingCode, message: string): Finding {
  return { state: "WARNING", code, message };
}

/** Not in force. */
export function invalid(code: FindingCode, message: string): Finding {
  return { state: "INVALID", code, message };
}

/** A finding about one resource, perhaps on one of its targets. */
export function reported(subject: ResourceRef, finding: Finding, target?: ResourceRef): Report {
  return { subject, ...(target === undefined ? {} : { target }), ...finding };
}

/** Every code that translation reports: what it means, and an example of its message. The reference page is made of it. */
export const FINDINGS = {
  // References and selectors
  DestinationRefIncomplete: {
    meaning: "A reference to a service lacks its name, namespace or cluster.",
    example:
      "spec.destinationSelector[0].kubeServiceRefs.services[0]: namespace and clusterName are missing: name, namespace and clusterName are needed",
  },
  DestinationUnknown: {
    meaning: "A selector names a service that was not discovered.",
    example:
      "spec.destinationSelector[0].kubeServiceRefs.services[0]: Destination reviews.bookinfo.cluster-3 not found: check the name, or whether its cluster is registered and its pods are in a mesh",
  },
  SelectsNothing: {
    meaning: "An entry of a selector can't select anything.",
    example: "spec.destinationSelector[1]: is empty and selects nothing: name services, or leave out destinationSelector to select all",
  },
  FieldUnknown: {
    meaning: "A field that does not exist; it has no effect.",
    example: "spec.policy.requestTimout: no such field (did you mean requestTimeout?); it has no effect",
  },
  FieldUnsupported: {
    meaning: "A field that is accepted and has no effect yet.",
    example: "spec.policy.rateLimit: not supported yet, requests are not limited; it has no effect",
  },
  SelectorNotUnderstood: {
    meaning: "An AccessPolicy selects by something that is unknown or unsupported; it is refused, as anything else might allow too much.",
    example:
      "spec.sourceSelector[0].requestIdentityMatcher: not supported, callers are known by their workload identity; the policy is refused, as it could allow too much without it",
  },
  // VirtualMesh membership
  MeshRefIncomplete: {
    meaning: "A reference to a mesh lacks its name or namespace.",
    example: "spec.meshes[0]: namespace is missing: name and namespace are needed",
  },
  MeshUnknown: {
    meaning: "A VirtualMesh names a mesh that was not discovered.",
    example:
      "spec.meshes[1]: Mesh istiod-istio-system-cluster-3.gloo-mesh not found, so it is not among them: check the name, or whether its cluster is registered",
  },
  MeshTaken: {
    meaning: "A mesh belongs to an older VirtualMesh already.",
    example:
      "spec.meshes[0]: Mesh istiod-istio-system-cluster-1.gloo-mesh belongs to VirtualMesh old.gloo-mesh already: remove it from one of the two",
  },
  FederatedMeshUnknown: {
    meaning: "A federation selector names a mesh that is not of the VirtualMesh; nothing is federated there.",
    example:
      "spec.federation.selectors[0].meshes[0]: Mesh m.gloo-mesh is not a mesh of this VirtualMesh: add it to spec.meshes or remove it here",
  },
  OutOfReach: {
    meaning: "A resource asks for more than the Settings let it target: something beyond its own cluster, or its own namespace.",
    example:
      "spec.destinationSelector[0].kubeServiceMatcher.clusters: selects other clusters' Destinations too, and the Settings limit what lives in cluster-1 to that cluster (workloadClusterResources): beyond that it is not in force; narrow the destinationSelector to clusters: [cluster-1], or write it in the management cluster",
  },
  VirtualMeshRefused: {
    meaning: "A VirtualMesh lives in a workload cluster, and the Settings do not allow that.",
    example:
      "VirtualMeshes of workload clusters have no effect, and this one lives in cluster-1: write it in the management cluster, or set workloadClusterResources.virtualMeshes: ALLOWED in the Settings there",
  },
  HeaderOperator: {
    meaning:
      "The value of a header that a policy adds holds a command operator of Envoy, and the Settings do not allow that: the header is left out.",
    example:
      'spec.policy.headerManipulation.appendRequestHeaders.x-start: "%START_TIME%" holds a command operator of Envoy, so this header is left out: write %% for %, or set policies.headerOperators: ALLOWED in the Settings',
  },
  // Gateways
  GatewayUnusable: {
    meaning: "A gateway was selected that cannot take traffic of other clusters; the next one is tried.",
    example:
      "Destination istio-ingressgateway-istio-system-cluster-1.gloo-mesh can't be a gateway: it has no port named tls that is reachable from outside: make it a LoadBalancer or NodePort service with such a port",
  },
  GatewayMissing: {
    meaning: "No usable gateway: services of the mesh can't be called from other clusters.",
    example: "Mesh istiod-istio-system-cluster-1.gloo-mesh has no usable east-west gateway: …",
  },
  GatewayUnreachable: {
    meaning: "A gateway without an external address yet.",
    example: "Destination istio-ingressgateway-istio-system-cluster-1.gloo-mesh is the east-west gateway and has no external address: …",
  },
  // Federation
  DnsProxyingMissing: {
    meaning: "A host name suffix of one's own needs DNS proxying in the calling mesh.",
    example:
      "Destination reviews-bookinfo-cluster-1.gloo-mesh can't be federated as reviews.bookinfo.svc.cluster-1.corp: Mesh m.gloo-mesh does not proxy DNS: …",
  },
  AddressesMixed: {
    meaning: "Endpoints have host names as well as IPv6 addresses.",
    example:
      "Destination reviews-bookinfo-cluster-1.gloo-mesh can't be federated: its endpoints have host names as well as IPv6 addresses: use one or the other",
  },
  FederationLarge: {
    meaning: "A federation that writes more than 2,000 objects into one cluster.",
    example:
      "spec.federation: writes 4200 objects into cluster-1, more than 2000 into one cluster: federate fewer services or meshes with spec.federation.selectors, or set spec.federation.maxObjectsPerCluster in the Settings",
  },
  FederationTooLarge: {
    meaning: "A federation that would write more objects into one cluster than the Settings allow; nothing is federated.",
    example:
      "spec.federation: nothing is federated, as that would write 4200 objects into cluster-1, more than 3000, the limit of the Settings (spec.federation.maxObjectsPerCluster): federate fewer services or meshes with spec.federation.selectors, or raise the limit in the Settings",
  },
  PortNotFederated: {
    meaning: "A port that can't be called from other clusters.",
    example: "Destination dns-kube-system-cluster-1.gloo-mesh: port dns (53) is not federated: Istio can't carry SCTP",
  },
  MutualTlsNeeded: {
    meaning: "Connections to a federated service have a TLS mode that the gateways between meshes don't pass on.",
    example:
      "Destination reviews-bookinfo-cluster-1.gloo-mesh: calls from cluster-2 fail, as their TLS mode is DISABLE and gateways pass on ISTIO_MUTUAL only: set mtls.istio.tlsMode: ISTIO_MUTUAL in the Settings",
  },
  // Trust
  TrustModelMissing: {
    meaning: "Trust settings that name no way to trust.",
    example: "spec.mtlsConfig: names no trust model: set shared, or leave mtlsConfig out",
  },
  LimitedTrustUnsupported: {
    meaning: "Limited trust is not supported.",
    example: "spec.mtlsConfig.limited: is not supported: use shared",
  },
  CertificateAuthorityMissing: {
    meaning: "A certificate authority without its source.",
    example:
      "spec.mtlsConfig.shared.rootCertificateAuthority: names no authority: set generated or secret, or leave it out for a self-signed root",
  },
  RootSecretIncomplete: {
    meaning: "A reference to a root's Secret lacks its name or namespace.",
    example: "spec.mtlsConfig.shared.rootCertificateAuthority.secret: name and namespace are both needed: …",
  },
  KeyTooSmall: {
    meaning: "A key that is too short to be safe.",
    example: "spec.mtlsConfig.shared.rootCertificateAuthority.generated.rsaKeySizeBytes: 1024 bits are fewer than 2048: …",
  },
  TrustDomainKept: {
    meaning: "The configuration of a mesh names no usable trust domain, or can't be read: what was last known of it stays in use.",
    example:
      'ConfigMap istio.istio-system, data.mesh: trustDomain: "*" is not a DNS name such as cluster.local; the last known one, cluster-1.example, stays in use',
  },
  // Access policies
  TrustDomainUnknown: {
    meaning: "A cluster whose trust domain is not known, so that its identities have no names.",
    example: "spec.sourceSelector[0].kubeIdentityMatcher.clusters[1]: no mesh with a trust domain is known in cluster-9: check the name",
  },
  Malformed: {
    meaning: "An AccessPolicy that cannot be read; it does not vanish, as that would open what it guards.",
    example: "AccessPolicy readers.bookinfo: spec.allowedPorts[0]: must be a port number, is http",
  },
  PartlyInForce: {
    meaning: "An AccessPolicy names callers that are not found; the others are let in.",
    example: "what of this policy is right is in force here; the callers that are not found are not let in",
  },
  LastAcceptedInForce: {
    meaning: "An AccessPolicy cannot be translated, and stays in force as it was last accepted.",
    example:
      "this policy can't be translated, and stays in force here as it was last accepted (generation 3), status.lastAccepted: correct it, or delete it",
  },
  NobodyLetIn: {
    meaning: "An AccessPolicy cannot be translated and was never in force on the destination: it lets nobody in.",
    example: "nobody is let in here by this policy, as it can't be translated and was never in force here before: correct it, or delete it",
  },
  // Traffic policies
  FieldConflict: {
    meaning: "An older policy sets the same field for the same requests to another value.",
    example:
      "spec.policy.requestTimeout: TrafficPolicy slow.bookinfo has precedence and sets timeout for the same traffic to Destination reviews-bookinfo-cluster-1.gloo-mesh: make both equal, narrow one of them, or remove this one",
  },
  RouteShadowed: {
    meaning: "A policy with precedence routes the same requests, with other source selectors.",
    example:
      "TrafficPolicy everywhere.bookinfo has precedence and routes the same requests from cluster-2 to Destination reviews-bookinfo-cluster-1.gloo-mesh, so this policy's routes have no effect on them: narrow one of them",
  },
  PolicyUnsupported: {
    meaning: "The mesh of the destination can't do what the policy asks for.",
    example: "spec.policy.mirror: Open Service Mesh can't mirror requests: remove it, or narrow the destinationSelector",
  },
  MeshNotWritten: {
    meaning: "A destination of a mesh that is discovered and not configured: no policy has an effect there.",
    example:
      "Destination reviews-bookinfo-cluster-1.gloo-mesh is in Mesh bookinfo-us-east-1-1234.gloo-mesh, an AWS App Mesh, which is not configured: this policy has no effect there: narrow the destinationSelector",
  },
  DurationOutOfRange: {
    meaning: "A duration below zero.",
    example: 'spec.policy.requestTimeout: "-1s" is less than no time: write a positive duration',
  },
  DurationRounded: {
    meaning: "A duration finer than Istio takes it.",
    example: 'spec.policy.requestTimeout: "0.5ms" is taken as 0.001s: Istio takes whole milliseconds',
  },
  ValueInvalid: {
    meaning: "A value that Istio refuses: no header name, no regular expression, no label, …",
    example: 'spec.httpRequestMatchers[0].headers[0].value: "(" is not a regular expression of RE2: it cannot be read',
  },
  NoEffect: {
    meaning: "A value without effect.",
    example: 'spec.policy.requestTimeout: "0s" is taken as if it were left out',
  },
  TrafficShiftTargetMissing: {
    meaning: "An entry of a traffic shift names no destination.",
    example: "spec.policy.trafficShift.destinations[0]: names no destination: set kubeService or virtualDestination",
  },
  TrafficShiftTargetUnsupported: {
    meaning: "An entry of a traffic shift is of a type that is not supported.",
    example: "spec.policy.trafficShift.destinations[0].clusterHeader: is not supported: use kubeService or virtualDestination",
  },
  TrafficShiftTargetUnknown: {
    meaning: "A traffic shift goes to a service or VirtualDestination that is not known.",
    example: "spec.policy.trafficShift.destinations[0].kubeService: Destination for service reviews.bookinfo.cluster-3 not found",
  },
  WeightsMissing: {
    meaning: "All weights of a traffic shift are 0, or one is above 100 where Istio wants shares.",
    example: "spec.policy.trafficShift.destinations: no entry has a weight: give each a share of 100",
  },
  PortMissing: {
    meaning: "A service with several ports is named without saying which.",
    example:
      "spec.policy.trafficShift.destinations[0].kubeService.port: is needed, as service reviews.bookinfo.cluster-1 has 2 ports: 9080, 9090",
  },
  PortUnknown: {
    meaning: "A port that the service does not have.",
    example: "spec.policy.mirror.port: service reviews.bookinfo.cluster-1 has no port 1234, only 9080",
  },
  NotFederated: {
    meaning: "Traffic is sent to a service of another cluster that cannot be reached from everywhere it is called from.",
    example:
      "spec.policy.trafficShift.destinations[0].kubeService: service reviews.bookinfo.cluster-2 is not federated to cluster-1, so this traffic will fail: select it in the federation of a VirtualMesh, and see in its status whether anything is in the way",
  },
  FaultTypeMissing: {
    meaning: "A fault injection without a fault.",
    example: "spec.policy.faultInjection: names no fault: set fixedDelay or abort",
  },
  HttpStatusOutOfRange: {
    meaning: "An HTTP status that does not exist.",
    example: "spec.policy.faultInjection.abort.httpStatus: 0 is not a status between 200 and 599",
  },
  MirrorTargetMissing: {
    meaning: "A mirror without a service.",
    example: "spec.policy.mirror.kubeService: is missing: name the service that gets the copies",
  },
  MirrorTargetUnknown: {
    meaning: "A mirror to a service that is not known.",
    example: "spec.policy.mirror.kubeService: Destination for service reviews.bookinfo.cluster-3 not found",
  },
  CorsOriginInvalid: {
    meaning: "An allowed origin that says nothing.",
    example: "spec.policy.corsPolicy.allowOrigins[0]: is empty: set exact, prefix, suffix or regex",
  },
  CsrfOriginInvalid: {
    meaning: "An additional origin that says nothing, or has more than host and port, which are all that is compared.",
    example:
      'spec.policy.csrf.additionalOrigins[0].exact: "https://shop.example.com" has a scheme or a path, and only host and port are compared: write host and port alone, such as shop.example.com or shop.example.com:8443',
  },
  RetriesInvalid: {
    meaning: "Retries that Istio does not accept.",
    example: "spec.policy.retries.attempts: -1 is below 0",
  },
  UserConfigConflict: {
    meaning: "A user's own Istio object is about the same host.",
    example:
      "hosts reviews.bookinfo.svc.cluster.local are also configured by VirtualService mine.bookinfo in cluster-1: remove it, or the policies",
  },
  ServiceAccountNamespaceMissing: {
    meaning: "An AccessPolicy names a service account of one cluster without its namespace.",
    example: "spec.sourceSelector[0].kubeServiceAccountRefs.serviceAccounts[0].namespace: is needed beside name and clusterName: …",
  },
  OperationInvalid: {
    meaning: "An allowed path, method or port that Istio does not accept.",
    example: "spec.allowedPorts[0]: 70000 is not a port: name one from 1 to 65535",
  },
  ServiceWithoutSelector: {
    meaning: "A policy is about the workloads of a Service without selector, whose pods are unknown.",
    example:
      "Destination ext-default-cluster-1.gloo-mesh is a Service without selector, so its pods are unknown and access to them can't be limited: …",
  },
  // Open Service Mesh
  PermissiveMesh: {
    meaning: "The mesh does not enforce access policies.",
    example:
      "Mesh osm-controller-osm-system-cluster-1.gloo-mesh allows every call, whatever AccessPolicies say: set spec.traffic.enablePermissiveTrafficPolicyMode of MeshConfig osm-mesh-config.osm-system in cluster-1 to false",
  },
  ServiceAccountUnknown: {
    meaning: "Open Service Mesh allows calls by service account, and the destination has none or several.",
    example:
      "Open Service Mesh allows calls by service account, and the workloads behind Destination bookstore-bookstore-cluster-1.gloo-mesh have 2 service accounts (a, b): give them one",
  },
  TrafficSplitTaken: {
    meaning: "Two traffic shifts for one service of an Open Service Mesh.",
    example:
      "spec.policy.trafficShift: Destination bookstore-bookstore-cluster-1.gloo-mesh has the traffic shift of TrafficPolicy old.gloo-mesh already, and Open Service Mesh takes one for each service: remove one of them",
  },
  // Outputs
  OutputCollision: {
    meaning: "Two targets would write one object; none of them does.",
    example: "VirtualService reviews.bookinfo in cluster-1 would also be written for Destination b.gloo-mesh: rename one of the services",
  },
  NameCollision: {
    meaning: "Two discovered things would have one name.",
    example: "Service a-b.c in cluster-1 and Service a.b-c in cluster-1 are both named a-b-c-cluster-1: rename one of them",
  },
  VirtualIpCollision: {
    meaning: "Two federated services would have one virtual address; the younger one has another.",
    example: "Destination b.gloo-mesh has the address 244.1.2.4, as 244.1.2.3 belongs to Destination a.gloo-mesh",
  },
  WriteFailed: {
    meaning: "An object could not be written in its cluster.",
    example: "VirtualService reviews.bookinfo in cluster-1 can't be written: Conflict: field .spec.hosts is owned by kubectl",
  },
} as const satisfies Readonly<Record<string, { readonly meaning: string; readonly example: string }>>;

export type FindingCode = keyof typeof FINDINGS;
