import { Type } from "@sinclair/typebox";
import { fields } from "./schema.ts";

/** The field of a status that keeps the spec that stays in force while a later one has errors; `description` says where it does. */
export function lastAcceptedSpec(description: string) {
  return fields(
    {
      generation: Type.Integer({ format: "int64", description: "Generation of the object that had this spec." }),
      spec: Type.Unsafe<object>({
        type: "object",
        "x-kubernetes-preserve-unknown-fields": true,
        description: "The spec of that generation.",
      }),
    },
    { description },
  );
}
