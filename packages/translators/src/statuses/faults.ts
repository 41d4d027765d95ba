import type { Condition, JsonObject, Resource } from "@isthmus/core";
import { faultMessage, faultReport, INTERNAL_ERROR } from "../pipeline/faultReport.ts";
import type { TranslationFault } from "../pipeline/translate.ts";

/**
 * The status of an object that translation throws on: FAILED, with what is still in force of it. `inForce` is the status of what is
 * translated in its place.
 */
export function faultStatus(fault: TranslationFault, inForce: JsonObject | undefined): JsonObject {
  const { message } = faultReport(fault);
  return { ...(inForce ?? memoryIn(fault.object)), ...failed(message, inForce) };
}

/** The status of an object of which no status can be made, as that throws. What is in force of it is not known here. */
export function unknownStatus(object: Resource, error: unknown): JsonObject {
  return { ...memoryIn(object), ...failed(faultMessage(error, "it is not known what is in force of this object"), undefined) };
}

function failed(message: string, inForce: JsonObject | undefined): JsonObject {
  const condition: Condition = { type: "Accepted", status: "False", reason: INTERNAL_ERROR, message };
  // As conditions are made here.
  const conditions = (inForce?.["conditions"] ?? []) as readonly (JsonObject & { readonly type?: string })[];
  return { state: "FAILED", errors: [message], conditions: [{ ...condition }, ...conditions.filter(({ type }) => type !== "Accepted")] };
}

/** What was last accepted stays in the status: it is the only memory of it. */
function memoryIn(object: Resource): JsonObject {
  try {
    const { status } = object as { readonly status?: JsonObject };
    const { lastAccepted, observedGeneration } = status ?? {};
    if (lastAccepted === undefined) return {};
    return { lastAccepted, ...(observedGeneration === undefined ? {} : { observedGeneration }) };
  } catch {
    return {};
  }
}
