/** Codes of what `meshctl` finds in input files themselves: what each means, and an example of its message. */
export const INPUT_FINDINGS = {
  Malformed: {
    meaning: "An object that is not of its kind; nothing of it is in force.",
    example: 'TrafficPolicy slow.bookinfo: spec.policy.requestTimeout: 5 is not a duration such as "5s", "100ms" or "1h30m"',
  },
  KindUnknown: {
    meaning: "An object of a Gloo Mesh API in a kind or version that is not read; nothing of it is in force.",
    example:
      "TraficPolicy slow.bookinfo (networking.mesh.gloo.solo.io/v1): TraficPolicy is not a kind of networking.mesh.gloo.solo.io: did you mean TrafficPolicy (networking.mesh.gloo.solo.io/v1)?",
  },
  KindIgnored: {
    meaning: "Objects of a kind that translation does not read.",
    example: "ignored example.com/v1 Widget (3 objects, the first in dump.yaml, document 7): not a kind that translation reads",
  },
  GivenTwice: {
    meaning: "One object is given twice; the later one counts.",
    example: "Service reviews.bookinfo is given twice: b.yaml:3 counts, a.yaml:9 does not",
  },
  StatusIgnored: {
    meaning: "Statuses without their objects; statuses are computed anew.",
    example: "ignored a status without its object (out.yaml, document 12): statuses are computed anew",
  },
  ClusterMissing: {
    meaning: "Objects that say of no cluster that they are from it; nothing is discovered in them.",
    example:
      "Deployment reviews.bookinfo and 3 other objects name no cluster, so nothing is discovered there: set metadata.clusterName, or say --agent-cluster NAME if all are of one",
  },
  Status: {
    meaning: "Something that the status of an object says as a whole.",
    example: "VirtualMesh all.gloo-mesh: none of its meshes is known",
  },
} as const satisfies Readonly<Record<string, { readonly meaning: string; readonly example: string }>>;
