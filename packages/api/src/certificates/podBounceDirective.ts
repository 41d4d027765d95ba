import { Type } from "@sinclair/typebox";
import { defineKind, type Value } from "../shared/defineKind.ts";
import { fields, listOf, stringMap, strings, uint32 } from "../shared/schema.ts";
import { objectRef } from "./workflow.ts";

const podSelector = fields({
  namespace: Type.String({ description: "Namespace of the pods." }),
  labels: stringMap({ description: "Labels that the pods have; never empty." }),
  waitForReplicas: uint32({ description: "Go on to the next entry when this many new pods are ready. Default 0: at once." }),
  rootCertSync: fields(
    {
      secretRef: objectRef(),
      secretKey: Type.String(),
      configMapRef: objectRef(),
      configMapKey: Type.String(),
    },
    { description: "Restart only when a ConfigMap's value equals a Secret's: when the pods will find the new root." },
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
        description: "Names of the pods that were restarted, entry by entry of the spec.",
      }),
    }),
  },
  crd: {
    description: "Says which pods restart after a new certificate was installed.",
    singular: "podbouncedirective",
    categories: ["gloo-mesh"],
    printerColumns: [{ name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" }],
  },
});
export type PodBounceDirective = ReturnType<typeof PodBounceDirective.parse>;
