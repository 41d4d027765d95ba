import { Type } from "@sinclair/typebox";
import { fields, type SchemaOptions } from "../shared/schema.ts";

/** Names an object in the cluster that the field says. */
export function workflowObjectRef(options: SchemaOptions = {}) {
  return fields({ name: Type.String(), namespace: Type.String() }, options);
}

/** The status fields that the certificate kinds share. */
export const workflowFields = {
  observedGeneration: Type.Integer({ format: "int64", description: "Generation of the object that this status was computed for." }),
  error: Type.String({ description: "Reason for FAILED." }),
};

/** Columns of `kubectl get` that the certificate kinds share. */
export const workflowColumns = [
  { name: "State", type: "string", jsonPath: ".status.state", description: "Progress of the certificate." },
  { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
  { name: "Error", type: "string", jsonPath: ".status.error", priority: 1 },
] as const;
