import type { Report, ResourceRef } from "@isthmus/core";
import { GLOBAL_ACCESS_FINDINGS } from "./globalAccessFindings.ts";
import { REACH_FINDINGS } from "./reachFindings.ts";
import { VALUE_FINDINGS } from "./valueFindings.ts";
import { VIRTUAL_DESTINATION_FINDINGS } from "./virtualDestinationFindings.ts";
import { WORKLOAD_FINDINGS } from "./workloadFindings.ts";

/** Something to tell the one who wrote a resource. */
export interface Finding {
  readonly state: "WARNING" | "INVALID";
  readonly code: FindingCode;
  /** Names object, field and remedy. */
  readonly message: string;
}

/** In force, and something to know. */
export function warningFinding(code: FindingCode, message: string): Finding {
  return { state: "WARNING", code, message };
}

/** Not in force. */
export function invalidFinding(code: FindingCode, message: string): Finding {
  return { state: "INVALID", code, message };
}

/** A finding about one resource, perhaps on one of its targets. */
export function reportOf(subject: ResourceRef, finding: Finding, target?: ResourceRef): Report {
  return { subject, ...(target === undefined ? {} : { target }), ...finding };
}

/**
 * Warnings about a part of an object that nobody carries out: what is written because of the rest may be applied, the object as a whole
 * is not.
 */
export const NOT_CARRIED_OUT: ReadonlySet<string> = new Set<FindingCode>([
  "FieldUnknown",
  "FieldUnsupported",
  "CertificatesNotIssued",
  "RootOptionsKept",
  "MeshNotWritten",
  "ClusterObserved",
  "VirtualDestinationNotWritten",
  "FailoverUnavailable",
]);

/** Every code that translation reports: what it means, and an example of its message. The reference page is made of it. */
export const FINDINGS = {
  // References and selectors
  DestinationRefIncomplete: {
    meaning: "A reference to a service has no name, namespace or cluster.",
    example:
      "spec.destinationSelector[0].kubeServiceRefs.services[0]: namespace and clusterName are missing: name, namespace and clusterName are required",
  },
  DestinationUnknown: {
    meaning: "A selector names a service that was not discovered.",
    example:
      "spec.destinationSelector[0].kubeServiceRefs.services[0]: Destination for service bookinfo/reviews in cluster-3 not found: check the name, that its cluster is registered, and that its pods have sidecars of a mesh, as pods in ambient mode have no Destination yet",
  },
  SelectsNothing: {
    meaning: "An entry of a selector cannot select anything.",
    example: "spec.destinationSelector[1]: an empty entry selects nothing: name services, or remove the whole list to select all",
  },
  FieldUnknown: {
    meaning: "A field is unknown. It is ignored.",
    example: "spec.policy.requestTimout: unknown field (did you mean requestTimeout?); the field is ignored",
  },
  FieldUnsupported: {
    meaning: "A field is accepted but not supported yet. It is ignored.",
    example: "spec.policy.rateLimit: not supported yet, requests are not limited; the field is ignored",
  },
  SelectorNotUnderstood: {
    meaning:
      "An AccessPolicy uses an unknown or unsupported selector, or a TrafficPolicy, ServiceDependency, AccessLogRecord or WasmDeployment has an unknown field beside its selectors, or a VirtualMesh beside its federation selectors. Ignoring the field could allow, federate or apply to too much. The object is in force as it was last accepted. If it never was, an AccessPolicy allows no callers, of a VirtualMesh nothing is federated, and of the others nothing is in force.",
    example:
      "spec.sourceSelector[0].requestIdentityMatcher: not supported, callers are identified by workload identity, not by a token of the request; the policy is rejected, because ignoring the field could allow too much",
  },
  // VirtualMesh membership
  MeshRefIncomplete: {
    meaning: "A reference to a mesh has no name or namespace.",
    example: "spec.meshes[0]: namespace is missing: name and namespace are required",
  },
  MeshUnknown: {
    meaning: "A VirtualMesh names a mesh that was not discovered.",
    example:
      "spec.meshes[1]: Mesh gloo-mesh/istiod-istio-system-cluster-3 not found, so it is not in this VirtualMesh: check the name, and that its cluster is registered",
  },
  RevisionNotJoined: {
    meaning:
      "Another revision of a control plane of a VirtualMesh is in no VirtualMesh. Its workloads count as in the revision that is, as during a canary upgrade, and leave the VirtualMesh when that one is removed.",
    example:
      "spec.meshes[0]: Mesh gloo-mesh/istiod-1-26-istio-system-east is another revision of istiod-1-25-istio-system-east and in no VirtualMesh: its workloads stay federated as long as both are there; add it before istiod-1-25-istio-system-east is removed",
  },
  MeshTaken: {
    meaning: "A mesh already belongs to an older VirtualMesh.",
    example:
      "spec.meshes[0]: Mesh gloo-mesh/istiod-istio-system-cluster-1 already belongs to VirtualMesh gloo-mesh/old: remove it from one of the two",
  },
  FederatedMeshUnknown: {
    meaning: "A federation selector names a mesh that is not in the VirtualMesh. Nothing is federated to it.",
    example:
      "spec.federation.selectors[0].meshes[0]: Mesh gloo-mesh/m is not in spec.meshes of this VirtualMesh, so it does not share its trust: add it there, or remove it here",
  },
  OutOfReach: {
    meaning: "A resource targets more than the Settings allow: objects outside its own cluster or namespace.",
    example:
      "spec.destinationSelector[0].kubeServiceMatcher.clusters: selects Destinations of other clusters, but the Settings limit resources of cluster-1 to that cluster (workloadClusterResources); outside of that the policy is not in force: narrow the destinationSelector to clusters: [cluster-1], or create it in the management cluster",
  },
  VirtualMeshRefused: {
    meaning: "A VirtualMesh is in a workload cluster, which the Settings do not allow.",
    example:
      "a VirtualMesh in a workload cluster, here cluster-1, is not allowed: create it in the management cluster, or set workloadClusterResources.virtualMeshes: ALLOWED in the Settings",
  },
  HeaderOperator: {
    meaning: "The value of an added header contains an Envoy command operator, which the Settings do not allow. The header is not added.",
    example:
      'spec.policy.headerManipulation.appendRequestHeaders.x-start: "%START_TIME%" contains an Envoy command operator, so this header is not added: write %% for %, or set policies.headerOperators: ALLOWED in the Settings',
  },
  // Gateways
  GatewayUnusable: {
    meaning: "A selected gateway cannot receive traffic from other clusters. The next one is tried.",
    example:
      "Destination gloo-mesh/istio-ingressgateway-istio-system-cluster-1 cannot be the east-west gateway: it needs a port named tls that is reachable from other clusters, but its Service is only reachable inside its cluster: use a Service of type LoadBalancer or NodePort with that port, or …",
  },
  GatewayMissing: {
    meaning: "A mesh has no usable gateway. Its services cannot be called from other clusters.",
    example:
      "Mesh gloo-mesh/istiod-istio-system-cluster-1 has no usable east-west gateway, so its services cannot be called from other clusters: …",
  },
  GatewayUnreachable: {
    meaning: "A gateway has no external address yet.",
    example: "Destination gloo-mesh/istio-ingressgateway-istio-system-cluster-1 is the east-west gateway but has no external address: …",
  },
  // Federation
  DnsProxyingMissing: {
    meaning: "A custom host name suffix requires DNS proxying in the calling mesh.",
    example:
      "Destination gloo-mesh/reviews-bookinfo-cluster-1 cannot be federated as reviews.bookinfo.svc.cluster-1.corp: Mesh gloo-mesh/m does not proxy DNS, …",
  },
  AddressesMixed: {
    meaning: "The endpoints of a service, or its gateways, have both host names and IPv6 addresses.",
    example:
      "Destination gloo-mesh/reviews-bookinfo-cluster-1 cannot be federated: its endpoints have both host names and IPv6 addresses, which Envoy does not support in one cluster: use one or the other",
  },
  FederationLarge: {
    meaning: "A federation writes more than 2,000 objects into one cluster.",
    example:
      "spec.federation: federation writes 4200 objects into cluster-1; more than 2000 into one cluster can be slow: federate fewer services or meshes with spec.federation.selectors, or set spec.federation.maxObjectsPerCluster in the Settings",
  },
  FederationTooLarge: {
    meaning: "A federation would write more objects into one cluster than the Settings allow. Nothing is federated.",
    example:
      "spec.federation: nothing is federated, because federation would write 4200 objects into cluster-1, more than 3000, the limit spec.federation.maxObjectsPerCluster in the Settings: federate fewer services or meshes with spec.federation.selectors, or raise the limit in the Settings",
  },
  PortNotFederated: {
    meaning: "A port cannot be called from other clusters.",
    example: "Destination gloo-mesh/dns-kube-system-cluster-1: port dns (53) is not federated: gateways between meshes do not pass on UDP",
  },
  MutualTlsNeeded: {
    meaning: "Connections to a federated service use a TLS mode that the east-west gateways do not forward.",
    example:
      "Destination gloo-mesh/reviews-bookinfo-cluster-1: calls from cluster-2 fail, because their TLS mode is DISABLE and east-west gateways only forward ISTIO_MUTUAL: set mtls.istio.tlsMode: ISTIO_MUTUAL in the Settings, or in a TrafficPolicy for it",
  },
  CallersWithoutIdentity: {
    meaning: "An AccessPolicy names callers, and their TLS mode leaves them without an identity, so it lets none of them in.",
    example:
      "Destination gloo-mesh/reviews-bookinfo-cluster-1: callers in its cluster have no identity, because their TLS mode is DISABLE, so this policy lets none of them in: set mtls.istio.tlsMode: ISTIO_MUTUAL, or remove it, in the Settings or the TrafficPolicy that sets it",
  },
  PodsOutsideMesh: {
    meaning: "Mutual TLS is asked for by name, and the Service selects pods that have no sidecar, so calls to these fail.",
    example:
      "Destination gloo-mesh/reviews-bookinfo-cluster-1: its Service selects pods without a sidecar, of reviews-old, so calls to these fail, as their TLS mode is ISTIO_MUTUAL: have sidecars injected there, or remove mtls.istio.tlsMode, so that Istio tells them apart",
  },
  ...REACH_FINDINGS,
  // Trust
  TrustModelMissing: {
    meaning: "The mTLS configuration has no trust model.",
    example: "spec.mtlsConfig: has no trust model: set shared, or remove mtlsConfig",
  },
  LimitedTrustUnsupported: {
    meaning: "Limited trust is not supported.",
    example: "spec.mtlsConfig.limited: is not supported: use shared",
  },
  CertificateAuthorityMissing: {
    meaning: "A certificate authority has no source.",
    example:
      "spec.mtlsConfig.shared.rootCertificateAuthority: has no source: set generated or secret, or remove rootCertificateAuthority to get a self-signed root",
  },
  RootSecretIncomplete: {
    meaning: "A reference to the Secret of a root certificate has no name or namespace.",
    example: "spec.mtlsConfig.shared.rootCertificateAuthority.secret: name and namespace are required: …",
  },
  RootGenerationInvalid: {
    meaning: "The number of a VirtualMesh's generated root is no number. Its meshes keep the trust that they have.",
    example:
      'metadata.annotations[isthmus.mesh/root-generation]: is not a number from 1: set the number of the root, or run "meshctl cert rotate"',
  },
  RootOptionsKept: {
    meaning:
      "Options of a VirtualMesh's generated root were changed after it was made. The root stays, and the next one is made with them.",
    example:
      'spec.mtlsConfig.shared.rootCertificateAuthority.generated: ttlDays 30 is not in force: the root in Secret gloo-mesh/shop.gloo-mesh was made with ttlDays 365 and stays as it is: run "meshctl cert rotate meshRoot/shop.gloo-mesh" to replace it, or set the former values',
  },
  KeyTooSmall: {
    meaning: "An RSA key is too short to be secure.",
    example: "spec.mtlsConfig.shared.rootCertificateAuthority.generated.rsaKeySizeBytes: 1024 bits are fewer than 2048: …",
  },
  RenewalRatioTooLarge: {
    meaning: "Certificates would be renewed as soon as they are issued.",
    example:
      "spec.mtlsConfig.shared.intermediateCertOptions.secretRotationGracePeriodRatio: is not less than 1, …: set a fraction such as 0.1, …",
  },
  CertificatesNotIssued: {
    meaning:
      "A VirtualMesh manages the trust of its meshes, and the proxies of a mesh do not all use certificates of its root yet. The rest of it is in force.",
    example:
      "spec.mtlsConfig.shared: Mesh gloo-mesh/istiod-istio-system-cluster-1 is at step TRUST_BOTH, …: restart istiod in namespace istio-system of cluster cluster-1, …",
  },
  // Access policies
  ...GLOBAL_ACCESS_FINDINGS,
  Malformed: {
    meaning:
      "An object does not match the schema of its kind. It is not in force; an AccessPolicy keeps restricting access, because ignoring it would open what it protects.",
    example: 'spec.allowedPorts[0]: "http" is not a port number',
  },
  InternalError: {
    meaning:
      "Translation of an object fails because of a bug of the management plane. What was translated of it before stays in force; an AccessPolicy never opens what it is about. Other objects are translated.",
    example:
      "internal error (TypeError: Cannot read properties of undefined (reading 'hosts')): this object is in force as it last was; this is a bug of the management plane: report it with the log of the server",
  },
  PartlyInForce: {
    meaning:
      "A part of a policy is in force: of an AccessPolicy the callers that are found; of a TrafficPolicy that was accepted before the destinations that are found, or what it says of anything but connections beside a user's own DestinationRule for some callers.",
    example: "the valid part of this policy is in force here; callers that are not found are not allowed",
  },
  LastAcceptedInForce: {
    meaning:
      "A TrafficPolicy, AccessPolicy, VirtualMesh, VirtualDestination, ServiceDependency, AccessLogRecord or WasmDeployment has errors. Its last accepted spec stays in force, in `status.lastAccepted`.",
    example:
      "this policy cannot be translated, so its last accepted spec (generation 3), status.lastAccepted, stays in force here: correct or delete it",
  },
  NobodyLetIn: {
    meaning: "An AccessPolicy cannot be translated and was never in force on the destination. It allows no callers.",
    example: "this policy allows no callers here, because it cannot be translated and was never in force here: correct or delete it",
  },
  AllCallersAllowed: {
    meaning: "An AccessPolicy says neither whom it allows, nor what. It allows every caller.",
    example:
      "spec.sourceSelector: is missing, so every caller may call the selected destinations: name the callers, or write sourceSelector: [{}] if all are meant",
  },
  // Traffic policies
  FieldConflict: {
    meaning: "An older policy sets the same field for the same requests to another value.",
    example:
      "spec.policy.requestTimeout: TrafficPolicy bookinfo/slow has precedence and sets timeout for the same traffic to Destination gloo-mesh/reviews-bookinfo-cluster-1: use the same value in both, narrow one of the policies, or remove this field",
  },
  RouteShadowed: {
    meaning: "A policy with precedence sets the same field for the same requests, with different source selectors.",
    example:
      "spec.policy.requestTimeout: TrafficPolicy bookinfo/everywhere has precedence and sets the same for requests from cluster-2 to Destination gloo-mesh/reviews-bookinfo-cluster-1, so this policy has no effect there: narrow one of the policies",
  },
  PolicyUnsupported: {
    meaning: "The mesh of the destination does not support a feature that the policy uses.",
    example: "spec.policy.mirror: Open Service Mesh does not support mirroring: remove it, or narrow the destinationSelector",
  },
  MeshNotWritten: {
    meaning: "A mesh, or the mesh of a destination, is of a type that is not configured in this way. The object has no effect there.",
    example:
      "Destination gloo-mesh/reviews-bookinfo-cluster-1 is in Mesh gloo-mesh/bookinfo-us-east-1-1234, an AWS App Mesh, which is not configured, so this policy has no effect there: narrow the destinationSelector",
  },
  DurationOutOfRange: {
    meaning: "A duration is negative.",
    example: 'spec.policy.requestTimeout: "-1s" must not be negative',
  },
  DurationRounded: {
    meaning: "A duration has a finer resolution than Istio supports.",
    example: 'spec.policy.requestTimeout: "0.5ms" is rounded to 0.001s: Istio supports whole milliseconds',
  },
  ValueInvalid: {
    meaning: "A value is rejected by Istio: an invalid header name, regular expression, label, …",
    example: 'spec.httpRequestMatchers[0].headers[0].value: "(" is not a valid RE2 regular expression: syntax error',
  },
  NoEffect: {
    meaning: "A value has no effect.",
    example: 'spec.policy.requestTimeout: "0s" is ignored (same as not set)',
  },
  TrafficShiftTargetMissing: {
    meaning: "An entry of a traffic shift has no destination.",
    example: "spec.policy.trafficShift.destinations[0]: has no destination: set kubeService or virtualDestination",
  },
  TrafficShiftTargetUnsupported: {
    meaning:
      "An entry of a traffic shift has a type that is not supported, or a subset of a VirtualDestination that a policy of a workload cluster cannot ask for.",
    example: "spec.policy.trafficShift.destinations[0].clusterHeader: is not supported: use kubeService or virtualDestination",
  },
  TrafficShiftTargetUnknown: {
    meaning: "A traffic shift names a service or VirtualDestination that is not found.",
    example:
      "spec.policy.trafficShift.destinations[0].kubeService: Destination for service bookinfo/reviews in cluster-3 not found: check name, namespace and clusterName",
  },
  ...VALUE_FINDINGS,
  SubsetUnknown: {
    meaning:
      "A traffic shift names pods of a service, or behind a VirtualDestination, by a label that none of them has. Requests to them fail.",
    example:
      "spec.policy.trafficShift.destinations[0].kubeService.subset: no pod of service bookinfo/reviews in cluster-1 has version: v9, only v1, v2, v3: requests to this subset fail",
  },
  MethodUnknown: {
    meaning: "A method is not a registered HTTP method. No request matches it.",
    example: 'spec.httpRequestMatchers[0].method: "FETCH" is not an HTTP method, so no request matches it: write one such as GET or POST',
  },
  PathNeverMatches: {
    meaning: "A path or a prefix of paths does not begin with a slash. No request matches it.",
    example: 'spec.httpRequestMatchers[0].uri.prefix: no request matches "info", because paths begin with a slash: write "/info"',
  },
  RetriesCutShort: {
    meaning: "The attempts of a policy take longer than its request timeout, which ends the last of them.",
    example:
      "spec.policy.retries: 5 attempts of 1s do not fit into the requestTimeout of 2s, which ends the last of them: raise requestTimeout, or lower attempts or perTryTimeout",
  },
  PortMissing: {
    meaning: "A reference to a service with several ports has no port.",
    example:
      "spec.policy.trafficShift.destinations[0].kubeService.port: is required, because service bookinfo/reviews in cluster-1 has 2 ports: 9080, 9090",
  },
  PortUnknown: {
    meaning: "A service does not have the port.",
    example: "spec.policy.mirror.port: service bookinfo/reviews in cluster-1 has no port 1234, only 9080",
  },
  ...VIRTUAL_DESTINATION_FINDINGS,
  SettingsNotUsed: {
    meaning: "A Settings object is not the one that the management plane uses.",
    example:
      "is not used: the Settings of this management plane are Settings gloo-mesh/settings in the management cluster: write them there",
  },
  SuppressionIgnored: {
    meaning: "An entry of insights.suppressions in the Settings is incomplete. It suppresses nothing.",
    example: "spec.insights.suppressions[0].reason: must say why these insights are not to be shown; the entry suppresses nothing",
  },
  ModeUnknown: {
    meaning: "A KubernetesCluster has a mode that is not known. Nothing is written to its cluster.",
    example: "spec.mode: obsrve is not a mode, so the cluster is frozen and nothing is written to it: set manage, observe or freeze",
  },
  ManagedObjectsIgnored: {
    meaning: "An entry of managedObjects of a KubernetesCluster names no object, or the mode of the cluster is not observe.",
    example: "spec.managedObjects[0]: has no name, so it names no object: set kind, namespace and name, or * for any",
  },
  ClusterObserved: {
    meaning: "A mesh of a VirtualMesh with federation is in a cluster that is observed. Its services are not federated to other clusters.",
    example:
      "spec.meshes[1]: Mesh gloo-mesh/istiod-istio-system-east is in cluster east, which is observed, so its services are not federated to other clusters: set spec.mode of its KubernetesCluster to manage",
  },
  SecretNameIgnored: {
    meaning: "A KubernetesCluster names a kubeconfig Secret that does not have the cluster's name. It is not read.",
    example:
      "spec.secretName: kubeconfig-east is not read, because the Secret with the kubeconfig of a cluster has the name of the cluster: rename the Secret to east, or remove the field if an agent runs in the cluster",
  },
  GatewayNotSelected: {
    meaning: "The gateway selectors of a VirtualMesh select no Service in one of its meshes. The default gateway of that mesh is used.",
    example:
      "spec.federation.eastWestIngressGatewaySelectors: selects no Service in Mesh gloo-mesh/istiod-istio-system-east, so its default gateway is used: check the names and labels, or select a Service of that mesh as well, such as its default gateway",
  },
  NothingFederated: {
    meaning: "A federation selector of a VirtualMesh selects no Service in its meshes.",
    example:
      "spec.federation.selectors[1].destinationSelectors: selects no Service in a mesh of this VirtualMesh, so it federates nothing: no Service is in namespace bokinfo (did you mean bookinfo?)",
  },
  NothingSelected: {
    meaning:
      "A policy, ServiceDependency, AccessLogRecord or WasmDeployment, or an entry of its destinationSelector, selects no Service in a mesh, or it selects no workload.",
    example:
      "spec.destinationSelector: selects no Service in a mesh, so this policy has no effect: no Service is in namespace bokinfo (did you mean bookinfo?)",
  },
  ...WORKLOAD_FINDINGS,
  NotFederated: {
    meaning: "Traffic is sent to a service of another cluster that is not federated to every cluster that calls it.",
    example:
      "spec.policy.trafficShift.destinations[0].kubeService: service bookinfo/reviews in cluster-2 is not federated to cluster-1, so this traffic will fail: select it in the federation of a VirtualMesh, and check the status of that VirtualMesh",
  },
  FaultTypeMissing: {
    meaning: "A fault injection has no fault.",
    example: "spec.policy.faultInjection: has no fault: set fixedDelay or abort",
  },
  HttpStatusOutOfRange: {
    meaning: "An HTTP status is out of range.",
    example: "spec.policy.faultInjection.abort.httpStatus: 0 is not an HTTP status between 200 and 599",
  },
  MirrorTargetMissing: {
    meaning: "A mirror has no service.",
    example: "spec.policy.mirror.kubeService: is required: set the service that receives the mirrored requests",
  },
  MirrorTargetUnknown: {
    meaning: "A mirror names a service that is not found.",
    example:
      "spec.policy.mirror.kubeService: Destination for service bookinfo/reviews in cluster-3 not found: check name, namespace and clusterName",
  },
  CorsOriginInvalid: {
    meaning: "An allowed origin is empty.",
    example: "spec.policy.corsPolicy.allowOrigins[0]: is empty: set exact, prefix, suffix or regex",
  },
  CsrfOriginInvalid: {
    meaning: "An additional origin is empty, or contains more than host and port, which is all that is compared.",
    example:
      'spec.policy.csrf.additionalOrigins[0].exact: "https://shop.example.com" has a scheme or a path, but only host and port are compared: write only host and port, such as shop.example.com or shop.example.com:8443',
  },
  RetriesInvalid: {
    meaning: "A number of retries is not valid.",
    example: "spec.policy.retries.attempts: -1 must not be negative",
  },
  UserConfigConflict: {
    meaning: "A user-created object of Istio, or a route of the Gateway API, configures the same host.",
    example:
      "host reviews.bookinfo.svc.cluster.local is also configured by VirtualService bookinfo/mine in cluster-1; Istio uses only one of the two: remove that object, or this policy",
  },
  ServiceAccountNamespaceMissing: {
    meaning: "An AccessPolicy names a service account of one cluster without its namespace.",
    example: "spec.sourceSelector[0].kubeServiceAccountRefs.serviceAccounts[0].namespace: is required with name and clusterName: …",
  },
  OperationInvalid: {
    meaning: "An allowed path, method or port is not valid in Istio.",
    example: "spec.allowedPorts[0]: 70000 is not a port number from 1 to 65535",
  },
  ServiceWithoutSelector: {
    meaning: "A policy applies to the workloads of a Service without a selector, whose pods are unknown.",
    example:
      "Destination gloo-mesh/ext-default-cluster-1 is a Service without a selector, so its pods are unknown and access to them cannot be restricted: …",
  },
  // Cilium
  NetworkLayerOpen: {
    meaning: "In a cluster with Cilium, an AccessPolicy is enforced by the mesh only.",
    example:
      "Destination gloo-mesh/istio-ingressgateway-istio-system-cluster-1 gets no CiliumNetworkPolicy, because it is a gateway, whose callers come from outside of the cluster; only the mesh enforces this policy: narrow the destinationSelector, or rely on the mesh",
  },
  NetworkLayerAudit: {
    meaning: "cilium.accessPolicies of the Settings is AUDIT: what ENABLED would write for a Destination.",
    example:
      "with cilium.accessPolicies: ENABLED in the Settings, Destination gloo-mesh/reviews-bookinfo-cluster-1 would get CiliumNetworkPolicy bookinfo/accesspolicy-reviews, which selects 2 known pods (reviews-v1-0, reviews-v2-0) of 2 workloads in the mesh, and refuses all callers that neither an AccessPolicy nor allowFrom lets in, but for processes of the same node",
  },
  NetworkLayerCuts: {
    meaning: "cilium.accessPolicies of the Settings is AUDIT: callers that ENABLED would refuse although the mesh may not.",
    example:
      "Destination gloo-mesh/reviews-bookinfo-cluster-1: it would refuse, unless an AccessPolicy lets them in: scrapers of 2 pods (reviews-v1-0 and 1 more) with prometheus.io/scrape on port 15020: name them in one, or in cilium.allowFrom of the Settings",
  },
  ClusterMeshAmbiguous: {
    meaning: "Two clusters that take part in a Cluster Mesh of Cilium have the same name or ID in it, so that it does not join them.",
    example:
      "a CiliumNetworkPolicy for Destination gloo-mesh/reviews-bookinfo-cluster-1 does not let callers of cluster-2 in directly, because a Cluster Mesh of Cilium does not join clusters of the same name or ID, and cluster-2 and cluster-1 have one: give each a cluster-name and a cluster-id of its own in ConfigMap cilium-config",
  },
  RefusedByCilium: {
    meaning: "Cilium refuses a generated CiliumNetworkPolicy, so that an AccessPolicy is enforced by the mesh only.",
    example:
      "CiliumNetworkPolicy bookinfo/accesspolicy-reviews in cluster-1 is refused by Cilium (Invalid CiliumNetworkPolicy spec: port 99999 out of range), so that only the mesh enforces this policy: compare spec.allowedPorts, and spec.cilium.allowFrom of the Settings, with the reason and with the version of Cilium",
  },
  // Open Service Mesh
  PermissiveMesh: {
    meaning: "The mesh does not enforce access policies.",
    example:
      "Mesh gloo-mesh/osm-controller-osm-system-cluster-1 allows all calls regardless of AccessPolicies: set spec.traffic.enablePermissiveTrafficPolicyMode of MeshConfig osm-system/osm-mesh-config in cluster-1 to false",
  },
  ServiceAccountUnknown: {
    meaning: "The workloads of a destination have no common service account, which access control in Open Service Mesh requires.",
    example:
      "Open Service Mesh allows calls by service account, but the workloads behind Destination gloo-mesh/bookstore-bookstore-cluster-1 have 2 service accounts (a, b): use one for all of them",
  },
  TrafficSplitTaken: {
    meaning: "Two policies have traffic shifts for the same service of an Open Service Mesh.",
    example:
      "spec.policy.trafficShift: Destination gloo-mesh/bookstore-bookstore-cluster-1 already has the traffic shift of TrafficPolicy gloo-mesh/old, and Open Service Mesh supports one for each service: remove one of them",
  },
  // Outputs
  OutputCollision: {
    meaning: "Two targets would write the same object. At most the one that had the name first does.",
    example:
      "VirtualService bookinfo/reviews in cluster-1 is not written, because an object for Destination gloo-mesh/b would have the same name: rename one of the services",
  },
  NameCollision: {
    meaning: "Two discovered objects would have the same name.",
    example: "Service c/a-b in cluster-1 and Service b-c/a in cluster-1 would both be discovered as a-b-c-cluster-1: rename one of them",
  },
  VirtualIpCollision: {
    meaning: "Two federated services would have the same virtual IP. The younger one gets another.",
    example:
      "Destination gloo-mesh/b: its default virtual IP 244.1.2.3 is used by the older service bookinfo/a in cluster-1; it has 244.1.2.4 instead",
  },
  WriteFailed: {
    meaning: "An object could not be written to its cluster.",
    example: "VirtualService bookinfo/reviews in cluster-1 cannot be written (Conflict): field .spec.hosts is owned by kubectl",
  },
} as const satisfies Readonly<Record<string, { readonly meaning: string; readonly example: string }>>;

export type FindingCode = keyof typeof FINDINGS;
