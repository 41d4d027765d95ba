import type { CatalogueEntries } from "./entry.ts";

/** Federation, and the clusters that take part in it. */
export const FEDERATION = {
  FED1001: {
    severity: { status: "error" },
    title: "Mesh is not found",
    meaning: "A VirtualMesh names a Mesh that was not discovered.",
    consequence: "The mesh has no part in the trust, federation and access policies of the VirtualMesh.",
    remedy: "correct the name, or register its cluster",
    example:
      "VirtualMesh gloo-mesh/vm: spec.meshes[0]: Mesh gloo-mesh/istiod-istio-system-cluster-2 not found, so it is not in this VirtualMesh: check the name, and that its cluster is registered",
  },
  FED1002: {
    severity: { status: "error" },
    title: "Mesh in two VirtualMeshes",
    meaning: "A Mesh is in two VirtualMeshes.",
    consequence: "Only the older VirtualMesh is in force for it: trust and federation of the other one leave it out.",
    remedy: "remove it from one of them",
    example:
      "VirtualMesh gloo-mesh/wm: spec.meshes[0]: Mesh gloo-mesh/istiod-istio-system-cluster-1 already belongs to VirtualMesh gloo-mesh/vm: remove it from one of the two",
  },
  FED1003: {
    severity: { status: "error" },
    title: "No gateway for other clusters",
    meaning: "A mesh has no gateway that can take traffic from other clusters.",
    consequence: "Its services cannot be called from other clusters, and nothing can fail over to it.",
    remedy: "label or select a gateway with a port for TLS",
    example:
      "VirtualMesh gloo-mesh/all: Mesh gloo-mesh/istiod-istio-system-cluster-1 has no usable east-west gateway, so its services cannot be called from other clusters: add a Service of type LoadBalancer or NodePort with a port named tls, whose pods have the label istio: ingressgateway, or select one in spec.federation.eastWestIngressGatewaySelectors",
  },
  FED1004: {
    severity: { status: "error" },
    title: "Gateway without an external address",
    meaning: "A gateway for traffic from other clusters has no external address.",
    consequence: "Other clusters have no address to connect to, so that each call to the services of this mesh fails.",
    remedy: "look at the load balancer of its Service",
    example:
      "VirtualMesh gloo-mesh/all: Destination gloo-mesh/istio-ingressgateway-istio-system-cluster-1 is the east-west gateway but has no external address: other clusters cannot reach the mesh until its load balancer has one",
  },
  FED1006: {
    severity: { status: "error" },
    title: "Trust domain is unknown",
    meaning: "The trust domain of a mesh is unknown.",
    consequence: "The identities of its workloads cannot be named, so that rules which allow them cannot be written.",
    remedy: "set trustDomain in the mesh configuration of istiod",
    example:
      "AccessPolicy bookinfo/readers: spec.sourceSelector[0].kubeIdentityMatcher.clusters[0]: no Istio mesh with a trust domain is known in cluster cluster-2: check the name, that the cluster is registered, and that its mesh configuration sets a trustDomain",
  },
  FED1007: {
    severity: { rule: "warning" },
    title: "Ports differ between clusters",
    meaning: "Services of the same name have different ports in different clusters.",
    consequence: "Requests that fail over to the other cluster, or are shifted there, arrive at a port that nothing listens on.",
    remedy: "give both Services the same ports if one stands in for the other",
    example:
      "Destination gloo-mesh/reviews-bookinfo-cluster-2: spec.kubeService.ports: Service bookinfo/reviews has ports 9081/TCP in cluster-2, and 9080/TCP in cluster-1",
  },
  FED1008: {
    severity: { status: "error" },
    title: "Host name is taken",
    meaning: "Two objects claim one host name.",
    consequence: "Only one of the two is in force: requests to the host can arrive at a service that was not meant.",
    remedy: "rename one of them",
    example:
      "VirtualDestination gloo-mesh/second: spec.hostname: reviews.mesh.global is already the host of VirtualDestination gloo-mesh/first: choose another",
  },
  FED1009: {
    severity: { rule: "warning" },
    title: "Federated service without endpoints",
    meaning: "A federated service has no endpoints.",
    consequence: "Callers in other clusters have a host for it, and each request fails.",
    remedy: "scale the workload of the Service, or leave it out of the federation",
    example:
      "Destination gloo-mesh/reviews-bookinfo-cluster-1: Service bookinfo/reviews in cluster-1 is federated and has no endpoints: requests from other clusters fail",
  },
  FED1010: {
    severity: { rule: "warning" },
    title: "Generated objects follow from nothing",
    meaning: "Generated objects of a cluster in which not everything may be written follow from no policy any more.",
    consequence: "They stay in force: routes to services that are no longer federated, or access that no policy allows.",
    remedy: "see which they are, and set spec.mode to manage when they may go",
    example:
      "KubernetesCluster gloo-mesh/cluster-1: status.comparison.wouldDelete: 1 generated object in cluster-1, whose mode is freeze, is in force and follows from nothing any more: mode manage would delete it",
  },
  FED1011: {
    severity: { rule: "warning" },
    title: "Istio calls the cluster otherwise",
    meaning: "An istiod that others are joined with calls its cluster by another name than that of its registration.",
    consequence:
      "Metrics and endpoints of Istio have the other name, often Kubernetes in each cluster: nobody can tell from which cluster they are.",
    remedy: "set global.multiCluster.clusterName to the name of the cluster in the values of istiod",
    example:
      "Deployment istio-system/istiod in cluster-2: spec.template.spec.containers[0].env: CLUSTER_ID is Kubernetes, and the cluster is registered as cluster-2",
  },
  FED1012: {
    severity: { rule: "warning" },
    title: "Versions of Istio differ",
    meaning: "The versions of Istio in the meshes of a VirtualMesh differ by more than one minor version.",
    consequence: "Objects and identities are written once for all meshes of a VirtualMesh: what the newest supports, the oldest may not.",
    remedy: "upgrade the oldest Istio",
    example:
      "VirtualMesh gloo-mesh/all: spec.meshes: Istio is 1.22.1 in Mesh gloo-mesh/istiod-istio-system-cluster-1, and 1.25.0 in Mesh gloo-mesh/istiod-istio-system-cluster-2",
  },
  FED1013: {
    severity: { rule: "info" },
    title: "Everything is federated",
    meaning: "A VirtualMesh federates every service to every one of its meshes.",
    consequence:
      "Each proxy is configured for every service, which costs memory and time of istiod, and services are known where nothing calls them.",
    remedy: "name the services that other clusters call in destinationSelectors",
    example:
      "VirtualMesh gloo-mesh/all: spec.federation.selectors[0]: federates every service to every mesh: each proxy is configured for all of them",
  },
  FED1014: {
    severity: { status: "warning" },
    title: "Federation is very large",
    meaning: "A federation writes very many objects.",
    consequence:
      "Thousands of objects slow the API server and istiod of the cluster down; above the limit of the Settings nothing is federated.",
    remedy: "narrow spec.federation.selectors",
    example:
      "VirtualMesh gloo-mesh/all: spec.federation: nothing is federated, because federation would write 2 objects into cluster-2, more than 1, the limit spec.federation.maxObjectsPerCluster in the Settings: federate fewer services or meshes with spec.federation.selectors, or raise the limit in the Settings",
  },
  FED1015: {
    severity: { status: "warning" },
    title: "Federation selects nothing",
    meaning: "A federation has nothing to federate.",
    consequence: "No service can be called from another cluster, although a VirtualMesh asks for it.",
    remedy: "correct the selectors of the federation",
    example:
      "VirtualMesh gloo-mesh/all: spec.federation.selectors[0].destinationSelectors: selects no Service in a mesh of this VirtualMesh, so it federates nothing: no Service is in namespace bookinf (did you mean bookinfo?)",
  },
  FED1016: {
    severity: { status: "warning" },
    title: "Proxies do not resolve federated hosts",
    meaning: "Sidecars do not resolve the hosts of federated services.",
    consequence: "Callers get no address for the host, so that requests fail before they are sent.",
    remedy: "set ISTIO_META_DNS_CAPTURE in the mesh configuration",
    example:
      "VirtualMesh gloo-mesh/all: Destination gloo-mesh/reviews-bookinfo-cluster-1 cannot be federated as reviews.bookinfo.svc.cluster-1.corp: Mesh gloo-mesh/istiod-istio-system-cluster-2 does not proxy DNS, which every suffix except global requires: set ISTIO_META_DNS_CAPTURE in the metadata of its proxies, or remove spec.federation.hostnameSuffix",
  },
  FED1017: {
    severity: { status: "warning" },
    title: "Port is not federated",
    meaning: "A port of a service is not federated.",
    consequence: "The other ports of the service can be called from other clusters, this one cannot.",
    remedy: "name a port that can be federated",
    example:
      "VirtualMesh gloo-mesh/all: Destination gloo-mesh/reviews-bookinfo-cluster-1: port feed (9090) is not federated: Istio does not support SCTP",
  },
  FED1018: {
    severity: { rule: "warning" },
    title: "Trust domain of callers is refused",
    meaning:
      "The meshes of a VirtualMesh have different trust domains, and an istiod configures its proxies to take callers of its own alone.",
    consequence:
      "Calls from the other meshes fail when TLS begins. With trustDomainAliases they would pass, and rules would take their callers for those of the own mesh: AccessPolicies that name one cluster would be refused.",
    remedy: 'set PILOT_SKIP_VALIDATE_TRUST_DOMAIN: "true" in the environment of each istiod',
    example:
      "VirtualMesh gloo-mesh/all: spec.meshes: Mesh gloo-mesh/istiod-istio-system-cluster-1 refuses callers with the trust domains cluster-2.example",
  },
  FED1019: {
    severity: { rule: "warning" },
    title: "Hosts of other clusters are not resolved",
    meaning: "A VirtualMesh federates services, and sidecars of one of its meshes do not answer DNS, which is Istio's default.",
    consequence:
      "Callers there get no address for a federated host unless the DNS of the cluster knows it, so that requests fail before they are sent.",
    remedy: 'set ISTIO_META_DNS_CAPTURE: "true" in meshConfig.defaultConfig.proxyMetadata, and restart the workloads',
    example:
      "VirtualMesh gloo-mesh/all: spec.federation: sidecars of Mesh gloo-mesh/istiod-istio-system-cluster-2 do not resolve hosts of other clusters, whose names end in .global",
  },
  FED1020: {
    severity: { rule: "info" },
    title: "A Sidecar hides hosts of other clusters",
    meaning: "A user's Sidecar lists the hosts that its pods can call, and none of its entries takes hosts of other clusters.",
    consequence: "Its pods do not know federated hosts and VirtualDestinations: requests to them go to nowhere, or are refused.",
    remedy: "add the namespace of the control plane to the hosts of the Sidecar",
    example:
      "Sidecar shop/default in cluster-1: spec.egress: no entry of hosts takes hosts of other clusters, which are known by objects in namespace istio-system: pods of namespace shop cannot call them",
  },
  REL1001: {
    severity: { rule: "error" },
    title: "Cluster is not connected",
    meaning: "The agent of a cluster is not connected, or the server cannot connect to the cluster: its configuration is frozen.",
    consequence: "What runs there continues as it was; no change reaches it, and what is known of it becomes old.",
    remedy: "look at its agent, with meshctl cluster diagnose CLUSTER",
    example:
      "KubernetesCluster gloo-mesh/cluster-2: status.state: is OFFLINE: what runs there continues as it was, and no change reaches it",
  },
  REL1003: {
    severity: { rule: "error" },
    title: "Agent is connected and reports nothing",
    meaning: "An agent is connected, and has not completed its first full sync for more than five minutes.",
    consequence: "What was last known of the cluster is used: services that came since are in no policy, and nothing is deleted.",
    remedy: "see in its log which kind it may not list, with meshctl cluster diagnose CLUSTER",
    example:
      "KubernetesCluster gloo-mesh/cluster-1: status.state: is SYNCING since 2026-01-31T23:40Z: the agent is connected, and has not reported all of its cluster",
  },
  REL1004: {
    severity: { rule: "warning" },
    title: "Cluster lags behind",
    meaning: "An agent has not acknowledged changes of the desired state.",
    consequence: "Policies that are accepted are not in force in this cluster yet.",
    remedy: "look at what its API server refuses, with meshctl cluster diagnose CLUSTER",
    example: "KubernetesCluster gloo-mesh/cluster-1: status.state: is LAGGING: the agent has not acknowledged the last changes",
  },
  REL1005: {
    severity: { rule: "warning" },
    title: "Objects are not written",
    meaning: "An agent could not write objects as desired: the API server or a limit refuses them, or they have another writer.",
    consequence: "The policies behind them are accepted, and not in force, or only in part, in this cluster.",
    remedy: "correct what the message names: the policies behind the object, or its other writer",
    example:
      "KubernetesCluster gloo-mesh/cluster-1: status.conditions: at least 10 of the desired objects are not written: VirtualService bookinfo/reviews: spec.http[0].timeout is not valid",
  },
  REL1010: {
    severity: { rule: "warning" },
    title: "Deletes are on hold",
    meaning: "So many objects of a cluster are no longer reported that deletes which follow from it wait for approval.",
    consequence: "What is generated from these objects stays in force, also where they were deleted on purpose.",
    remedy: "see whether the objects were deleted on purpose, and approve it with annotation isthmus.mesh/resume-deletes",
    example:
      "KubernetesCluster gloo-mesh/cluster-1: status.conditions: mass deletion on hold, waiting for approval: the source objects of 61 objects are no longer reported",
  },
  REL1012: {
    severity: { rule: "warning" },
    title: "Agent is over its quota",
    meaning: "An agent reports more objects or bytes than the quota admits.",
    consequence:
      "Objects above the quota are refused: policies do not apply to them, and of changed ones the last accepted version is used.",
    remedy: "narrow discovery.selectors, or raise relay.agentQuota in the Settings",
    example:
      "KubernetesCluster gloo-mesh/cluster-1: status.conditions: is over its quota: the agent reports more than 100 objects: objects of Service are refused, and their last accepted versions are used",
  },
  REL1013: {
    severity: { rule: "error" },
    title: "Redis has no room, or drops entries",
    meaning: "Redis refuses to write, has almost reached its memory limit, or drops entries when it reaches it.",
    consequence:
      "Servers continue from memory. Other replicas, the console and a server that restarts have older state; where entries are dropped, revocations are lost, too.",
    remedy: "give Redis more memory, set maxmemory-policy to noeviction, or have agents report less",
    example:
      "Settings gloo-mesh/settings: status.conditions: Redis drops entries when it reaches 256 MiB (maxmemory-policy is allkeys-lru): revocations, first-seen times and the state of clusters would be lost without a word",
  },
  REL1011: {
    severity: { status: "warning" },
    title: "Offline cluster is left out",
    meaning: "Other clusters leave a cluster out, as its agent is offline.",
    consequence: "Its endpoints get no requests of other clusters, so that those that are left carry its load.",
    remedy: "connect the agent again",
    example:
      "VirtualMesh gloo-mesh/all: spec.federation.failover: services of other clusters do not fail over to cluster-2 while they have something else to call, because its agent has been offline for longer than failover.excludeOffline of the Settings says: check the agent",
  },
} as const satisfies CatalogueEntries;
