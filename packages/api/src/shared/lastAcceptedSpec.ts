import type { Kind, Resource } from "@isthmus/core";
import { Type } from "@sinclair/typebox";
import type { DefinedKind } from "./defineKind.ts";
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
    // As a whole: server-side apply would leave empty members of the spec before, and those say something.
    { description, "x-kubernetes-map-type": "atomic" },
  );
}

/** A user's object whose status may keep its last accepted spec. */
export interface KeepingLastAccepted extends Resource {
  readonly spec?: object;
  readonly status?: {
    readonly observedGeneration?: number;
    readonly lastAccepted?: { readonly generation?: number; readonly spec?: object };
  };
}

/** Whether the statuses of a kind keep the last accepted spec. */
export function keepsLastAccepted(kind: Kind): kind is Kind<KeepingLastAccepted> {
  const { status } = (kind as Partial<DefinedKind<Resource>>).definition?.fields ?? {};
  return status !== undefined && "lastAccepted" in ((status as { readonly properties?: object }).properties ?? {});
}

/** An object's spec as it was without errors; undefined when nothing is known of that, or the status is not understood. */
export function lastAcceptedSpecOf<R extends KeepingLastAccepted>(kind: Kind<R>, { status, ...rest }: R): R["spec"] | undefined {
  const { spec } = status?.lastAccepted ?? {};
  if (spec === undefined) return undefined;
  try {
    return kind.parse({ ...rest, spec }).spec;
  } catch {
    // Somebody else's words in a status: as if there were none.
    return undefined;
  }
}
