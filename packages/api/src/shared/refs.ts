import { Type } from "@sinclair/typebox";
import { type SchemaOptions, userFields } from "./schema.ts";

const place = {
  name: Type.String({ description: "Name of the object. Required." }),
  namespace: Type.String({ description: "Namespace of the object. Required." }),
};

/** A user's reference to an object in the management cluster. */
export function userObjectRef(options: SchemaOptions = {}) {
  return userFields(place, options);
}

/** A user's reference to an object in a registered cluster. */
export function userClusterObjectRef(options: SchemaOptions = {}) {
  return userFields({ ...place, clusterName: Type.String({ description: "Cluster of the object. Required." }) }, options);
}
