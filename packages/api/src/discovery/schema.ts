import { Type } from "@sinclair/typebox";
import { stringMap } from "../shared/schema.ts";

/** A text with a description for the CRD and the reference. */
export function text(description?: string) {
  return Type.String(description === undefined ? {} : { description });
}

/** A generation of an object. */
export const generation = Type.Integer({ format: "int64", description: "Generation of the object that was read." });

/** When an object was created. */
export const creation = text("For a resource in a workload cluster: when it was created.");

export const firstSeen = text("For a resource in a workload cluster: when the management plane first received it.");

/** An object of type `T` whose inside is neither checked nor pruned. */
export function preserved<T>(description: string) {
  return Type.Unsafe<T>({ type: "object", "x-kubernetes-preserve-unknown-fields": true, description });
}

/** Names an object in the management cluster. Discovery always writes it whole. */
export const objectRef = Type.Object({ name: text(), namespace: text() }, { description: "An object in the management cluster." });

/** Names a resource that a user wrote, in the management cluster or in a workload cluster. */
export const userRef = Type.Object(
  {
    name: text(),
    namespace: text(),
    clusterName: Type.Optional(text("Workload cluster of the resource. Absent for the management cluster.")),
  },
  { description: "A resource created by a user." },
);

/** Names an object in a registered cluster. */
export const clusterObjectRef = Type.Object(
  { name: text(), namespace: text(), clusterName: text() },
  { description: "An object in a registered cluster." },
);

/** Labels of pods or Services. */
export const labels = stringMap();

/**
 * At most one of some fields is set; checked by `parse` alone. As a rule of the CRD it would make the API server reckon with the
 * longest list of endpoints or ports that fits a request.
 */
export function eitherOf(...members: readonly string[]) {
  return { atMostOneOf: members };
}
