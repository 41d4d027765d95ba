/** Codes of what `meshctl` finds in input files themselves: what each means, and an example of its message. */
export const INPUT_FINDINGS = {
  Malformed: {
    meaning: "An object does not match the schema of its kind. It is not in force.",
    example: 'TrafficPolicy bookinfo/slow: spec.policy.requestTimeout: 5 is not a duration such as "5s", "100ms" or "1h30m"',
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
    meaning: "Statuses without their objects. Statuses are recomputed.",
    example: "ignored a status without its object (out.yaml, document 12): statuses are recomputed",
  },
  ClusterMissing: {
    meaning: "Objects have no cluster name. Nothing is discovered from them.",
    example:
      "Deployment bookinfo/reviews and 3 other objects have no metadata.clusterName, so nothing is discovered from them: set it, or use --agent-cluster NAME if all are from one cluster",
  },
  Status: {
    meaning: "A problem of an object as a whole, as in its status.",
    example: "VirtualMesh gloo-mesh/all: none of its meshes is known",
  },
} as const satisfies Readonly<Record<string, { readonly meaning: string; readonly example: string }>>;
