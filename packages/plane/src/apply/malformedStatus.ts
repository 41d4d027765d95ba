import type { JsonObject } from "@isthmus/core";
import type { Malformed } from "@isthmus/ports";
import type { DesiredStatus } from "./statusWriter.ts";

/**
 * Of what a user asked of us and cannot be understood: INVALID, with the reasons. It is not in force, or as it last was; what the status
 * says of that stays, as it is the memory of it.
 */
export function malformedStatus({ ref, message, further = [], status }: Malformed): DesiredStatus {
  const condition = { type: "Accepted", status: "False", reason: "Malformed", message };
  return {
    ref,
    status: { ...memoryIn(status), state: "INVALID", errors: [message, ...further], conditions: [condition] },
    malformed: status === undefined ? {} : { status },
  };
}

function memoryIn(status: JsonObject | undefined): JsonObject {
  const { lastAccepted, observedGeneration } = status ?? {};
  if (lastAccepted === undefined) return {};
  return { lastAccepted, ...(observedGeneration === undefined ? {} : { observedGeneration }) };
}
