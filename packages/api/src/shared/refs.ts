// NOTICE to this file's author: its first version was lost at 11:16 to a mistaken overwrite. This one is rebuilt from how
// selectors.ts uses it. Please compare with yours, restore it, drop this notice.
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
