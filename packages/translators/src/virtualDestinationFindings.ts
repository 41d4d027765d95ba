/** What is reported of VirtualDestinations: a part of the catalogue in `findings.ts`. */
export const VIRTUAL_DESTINATION_FINDINGS = {
  VirtualDestinationNotWritten: {
    meaning:
      "A VirtualDestination of a workload cluster is read only where a traffic shift of its cluster names it: for its host name and port. Nothing defines the host.",
    example:
      "spec: no effect, because a VirtualDestination in a workload cluster, here cluster-1, is only read where a traffic shift of its cluster names it, for spec.hostname and spec.port.number: …",
  },
  HostnameInvalid: {
    meaning: "A VirtualDestination has no host name, or one that is not a DNS name.",
    example: 'spec.hostname: "*.cart" is not a DNS name: set a host name of two or more parts, such as reviews.mesh.global',
  },
  HostTaken: {
    meaning:
      "The host of a VirtualDestination belongs to an older one, or to a service, or has the form of the hosts of services: in a cluster, federated, or for failover.",
    example: "spec.hostname: reviews.mesh.global is already the host of VirtualDestination gloo-mesh/reviews: choose another",
  },
  HostOutOfReach: {
    meaning: "The host of a VirtualDestination is none of its namespace, to which the Settings limit policies.",
    example:
      "spec.hostname: pay.example.com is not a host of namespace shop: the Settings limit policies to their own namespace (policies.namespaces), and give it shop.global (policies.hostSuffixes): choose a host that ends in one, or ask for one there",
  },
  HostSuffixIgnored: {
    meaning: "The Settings give a namespace a suffix of hosts that is none. It gives no host.",
    example:
      'spec.policies.hostSuffixes.shop[0]: "com" is not a DNS name of two or more parts, so it gives no host: set one such as shop.mesh.global',
  },
  VirtualHostUnsupported: {
    meaning: "A TrafficPolicy selects a VirtualDestination and has a rule that its host cannot have.",
    example:
      "spec.policy.csrf: is not supported for the host of a VirtualDestination: select the Services behind it instead, with kubeServiceMatcher or kubeServiceRefs",
  },
  OfflineExcluded: {
    meaning:
      "Clusters whose agents are offline are left out of the host of a VirtualDestination, or of what federated services fail over to, as the Settings ask for.",
    example:
      "spec: other clusters do not call cluster-2 while they have something else to call, because its agent has been offline for longer than failover.excludeOffline of the Settings says: check the agent",
  },
  ExportMissing: {
    meaning: "A VirtualDestination names no mesh that can call it.",
    example: "spec: has neither virtualMesh nor meshList, so no mesh can call the host: set virtualMesh",
  },
  ExportOutsideVirtualMesh: {
    meaning: "A VirtualDestination is exported to a mesh that is in no VirtualMesh, or in another than the rest of its meshes.",
    example:
      "spec.meshList.meshes[1]: Mesh gloo-mesh/istiod-istio-system-cluster-3 is in no VirtualMesh in force, so it shares no trust with the destinations: add it there, or remove it here",
  },
  HostnameSuffixInvalid: {
    meaning:
      "Federated hosts cannot end in the suffix that a VirtualMesh names: it is no DNS name, too long, or covers the domain of a cluster. Nothing is federated, or as it was last accepted.",
    example:
      'spec.federation.hostnameSuffix: "cluster.local" covers the services of clusters with the domain cluster.local, which gateways would open, so nothing is federated: set another one, such as global',
  },
  VirtualMeshUnknown: {
    meaning: "A VirtualDestination names a VirtualMesh that does not exist, or is not in force.",
    example: "spec.virtualMesh: VirtualMesh gloo-mesh/bookinfo not found, or not in force: check the name, and its status",
  },
  TargetsMissing: {
    meaning: "A VirtualDestination names no destinations.",
    example: "spec.localized.destinationSelectors: names no destinations: set localized.destinationSelectors, or static.destinations",
  },
  DirectiveInvalid: {
    meaning:
      "A failover directive of a VirtualDestination names no region, one of its own twice, or something that is no part of a locality.",
    example: "spec.localized.failoverDirectives[0].from.rack: is not part of a locality: set region alone",
  },
  RegionUnknown: {
    meaning: "A failover directive of a VirtualDestination names a region without a mesh that can call, or without a destination.",
    example:
      "spec.localized.failoverDirectives[0].to[1].region: none of the destinations is in region us-wst, only in us-east, us-west: check the region of the nodes",
  },
  FailoverIncomplete: {
    meaning: "A setting keeps a part of the traffic from failing over.",
    example:
      "spec.localized.outlierDetection.maxEjectionPercent: with 50, failing endpoints above that share keep getting traffic instead of failing over: set 100",
  },
  FailoverUnavailable: {
    meaning:
      "A VirtualMesh asks for failover of its federated services, and all of them, or one of them, cannot fail over to other clusters.",
    example:
      "Destination gloo-mesh/reviews-bookinfo-cluster-1 does not fail over to cluster-2, because the service there has no port 9080: add it there, or use a VirtualDestination",
  },
  FailoverUnguarded: {
    meaning:
      "A service that an AccessPolicy selects fails over to a service in another cluster that no AccessPolicy selects. Who is refused in its own cluster gets in there.",
    example:
      "Destination gloo-mesh/reviews-bookinfo-cluster-1 fails over to Destination gloo-mesh/reviews-bookinfo-cluster-2, which no AccessPolicy selects, so that everybody may call it there: select it too, or set failover.targets: GUARDED_ONLY in the Settings",
  },
  NamespaceOfGateways: {
    meaning:
      "In a mesh, clients would look up the host of a VirtualDestination in the namespace of its gateways. Nothing is written for them there.",
    example:
      "spec: clients of Mesh gloo-mesh/istiod-istio-system-cluster-1 would find the host in namespace istio-system, where its east-west gateways run, and requests could circle between gateways: run the agent or the gateways in another namespace",
  },
} as const satisfies Readonly<Record<string, { readonly meaning: string; readonly example: string }>>;
