/** Codes of what `meshctl` finds in input files themselves: what each means, and an example of its message. */
export const INPUT_FINDINGS = {
  AllServicesSelected: {
    meaning:
      "A policy of the input does not say which services it is about, so it is about all that it may select. In a cluster `status.targetCount` says how many.",
    example:
      "TrafficPolicy bookinfo/abort: spec.destinationSelector: is missing, so it applies to all 240 services that it may select: name the services, or write destinationSelector: [{kubeServiceMatcher: {}}] if all are meant",
  },
  KindUnknown: {
    meaning: "An object of a Gloo Mesh API has a kind or version that is not supported. It is not in force.",
    example:
      "TraficPolicy bookinfo/slow (networking.mesh.gloo.solo.io/v1): TraficPolicy is not a kind of networking.mesh.gloo.solo.io: did you mean TrafficPolicy (networking.mesh.gloo.solo.io/v1)?",
  },
  KindIgnored: {
    meaning: "Objects have a kind that translation does not use.",
    example: "ignored example.com/v1 Widget (3 objects, the first in dump.yaml, document 7): translation does not use this kind",
  },
  GivenTwice: {
    meaning: "An object is in the input twice. The later one is used.",
    example: "duplicate Service bookinfo/reviews: using b.yaml:3, ignoring a.yaml:9",
  },
  StatusIgnored: {
    meaning: "Statuses without their objects, which are not in the input. Statuses are recomputed.",
    example: "ignored a status without its object (out.yaml, document 12): statuses are recomputed, so add the file of its object",
  },
  ClusterMissing: {
    meaning: "Objects have no cluster name. Nothing is discovered from them.",
    example:
      "Deployment bookinfo/reviews and 3 other objects have no metadata.clusterName, so nothing is discovered from them: set it, or use --agent-cluster NAME if all are from one cluster",
  },
  ClusterNotGiven: {
    meaning: "The input has no cluster. What it says of Services, meshes and clusters is not judged; its fields and values are.",
    example:
      "the input has no cluster, so whether the Services, meshes and clusters that it names exist is not judged, nor what is selected: add a dump of the clusters with -f, or what a server knows with --snapshot (meshctl snapshot save)",
  },
  NamespaceMissing: {
    meaning: "An object of a user has no namespace. Which one it will have depends on who applies it.",
    example:
      "TrafficPolicy slow: metadata.namespace: is missing, so kubectl would take the one of its context, which is not known here: set it",
  },
  NamespaceUnknown: {
    meaning: "An object of a user is in a namespace that is not among those of its cluster in the input.",
    example:
      "TrafficPolicy bokinfo/slow: metadata.namespace: the input has Namespaces of the management cluster, and bokinfo is not one of them: did you mean bookinfo?",
  },
  ClusterUnknown: {
    meaning: "Objects are of a cluster that no KubernetesCluster of the input registers.",
    example:
      "Service bookinfo/reviews in cluster-3: metadata.clusterName: no KubernetesCluster registers cluster-3, which 2 objects name: did you mean cluster-2?",
  },
  NotUsed: {
    meaning: "An object has a name or namespace under which it is not read.",
    example:
      "KubernetesCluster elsewhere/north: is not used: clusters are registered in the namespace of the management plane: move it to namespace gloo-mesh of the management cluster, or set --namespace",
  },
  RootSecretUnknown: {
    meaning: "The Secret with the root certificate of a VirtualMesh is not among the Secrets of the input.",
    example:
      "VirtualMesh gloo-mesh/all: spec.mtlsConfig.shared.rootCertificateAuthority.secret: the input has Secrets of the management cluster, and gloo-mesh/root is not one of them: create it with root-cert.pem and key.pem",
  },
  AllCallsDenied: {
    meaning:
      "A VirtualMesh requires AccessPolicies, and the input has none, nor an AuthorizationPolicy of users that allows somebody: insight SEC1001.",
    example:
      "VirtualMesh gloo-mesh/all: spec.globalAccessPolicy: is ENABLED and there is no AccessPolicy: all calls are denied: create an AccessPolicy, or set DISABLED",
  },
  VersionSkew: {
    meaning: "The meshes of a VirtualMesh differ by more than one minor version of Istio: insight FED1012.",
    example:
      "VirtualMesh gloo-mesh/all: spec.meshes: Istio is 1.22.0 in Mesh gloo-mesh/istiod-a, and 1.24.2 in Mesh gloo-mesh/istiod-b: upgrade Istio of istiod-a",
  },
  CallerUnknown: {
    meaning: "An AccessPolicy names a service account that no workload of the input runs as.",
    example:
      "AccessPolicy bookinfo/readers: spec.sourceSelector[0].kubeServiceAccountRefs.serviceAccounts[0]: no workload in a mesh runs as service account bookinfo/productpag in cluster-1: did you mean productpage?",
  },
  Status: {
    meaning: "A problem of an object as a whole, as in its status.",
    example: "VirtualMesh gloo-mesh/all: none of its meshes is known",
  },
} as const satisfies Readonly<Record<string, { readonly meaning: string; readonly example: string }>>;
