import { Type } from "@sinclair/typebox";
import { defineKind, type Value } from "../shared/defineKind.ts";
import { fields, listOf, stringMap, strings, uint32 } from "../shared/schema.ts";
import { workflowObjectRef } from "./workflow.ts";

const podSelector = fields({
  namespace: Type.String({ description: "Namespace of the pods." }),
  labels: stringMap({ description: "Labels of the pods. Must not be empty." }),
  waitForReplicas: uint32({
    description: "Number of new pods that must be ready before the next entry starts. Default 0: start immediately.",
  }),
  rootCertSync: fields(
    {
      secretRef: workflowObjectRef(),
      secretKey: Type.String(),
      configMapRef: workflowObjectRef(),
      configMapKey: Type.String(),
    },
    {
      description:
        "Restart the pods only when a value of a ConfigMap equals a value of a Secret, that is, when the new root is available to the pods.",
    },
  ),
});

/** Some pods that restart, and when. */
export type PodBounceSelector = Value<typeof podSelector>;

/** Says which pods of a cluster restart after a new certificate was installed, in order. */
export const PodBounceDirective = defineKind({
  apiVersion: "certificates.mesh.gloo.solo.io/v1",
  kind: "PodBounceDirective",
  plural: "podbouncedirectives",
  fields: {
    spec: fields({ podsToBounce: listOf(podSelector) }),
    status: fields({
      podsBounced: listOf(fields({ bouncedPods: strings() }), {
        description:
          "Names of the pods that were restarted, by entry of the spec. Not written: what restarts is in the status of the IssuedCertificate of the same name (restart, podsToRestart).",
      }),
    }),
  },
  crd: {
    description: "Defines which pods are restarted after a new certificate is installed.",
    singular: "podbouncedirective",
    categories: ["gloo-mesh"],
    printerColumns: [{ name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" }],
  },
});
export type PodBounceDirective = ReturnType<typeof PodBounceDirective.parse>;
