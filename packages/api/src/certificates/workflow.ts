import { Type } from "@sinclair/typebox";
import { fields, type SchemaOptions } from "../shared/schema.ts";

/** Names an object in the cluster that the field says. */
export function objectRef(options: SchemaOptions = {}) {
  return fields({ name: Type.String(), namespace: Type.String() }, options);
}

/** The status fields that the certificate kinds share. */
export const workflowFields = {
  observedGeneration: Type.Integer({ format: "int64", description: "The generation of the object that this status is about." }),
  error: Type.String({ description: "Why it FAILED." }),
};

/** Columns of `kubectl get` that the certificate kinds share. */
export const workflowColumns = [
  { name: "State", type: "string", jsonPath: ".status.state", description: "How far the certificate has come." },
  { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
  { name: "Error", type: "string", jsonPath: ".status.error", priority: 1 },
] as const;
