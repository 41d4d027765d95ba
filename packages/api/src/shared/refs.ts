import { Type } from "@sinclair/typebox";
import { type SchemaOptions, userFields } from "./schema.ts";

/** A user's reference to an object in the management cluster. */
export function userObjectRef(options: SchemaOptions = {}) {
  return userFields({ name: Type.String(), namespace: Type.String() }, options);
}

/** A user's reference to an object in a registered cluster. */
export function userClusterObjectRef(options: SchemaOptions = {}) {
  return userFields({ name: Type.String(), namespace: Type.String(), clusterName: Type.String() }, options);
}
