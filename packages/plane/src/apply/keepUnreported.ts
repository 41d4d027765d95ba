import { type AnyResource, type JsonObject, kindKeyOf, type Snapshot } from "@isthmus/core";
import { NOT_REPORTED } from "@isthmus/translators";
import type { DesiredStatus } from "./statusWriter.ts";

/** A status in which what nobody has reported since this server started is as it was reported before: it has not become untrue by a restart. */
export function keepUnreported({ ref, status }: DesiredStatus, cluster: Snapshot): DesiredStatus {
  const conditions = (status["conditions"] ?? []) as readonly JsonObject[];
  if (!conditions.some(({ reason }) => reason === NOT_REPORTED)) return { ref, status };
  const live = cluster.collections().get(kindKeyOf(ref))?.get(ref) as AnyResource | undefined;
  const before = ((live?.["status"] as JsonObject | undefined)?.["conditions"] ?? []) as readonly JsonObject[];
  const kept = conditions.map((condition) => {
    if (condition["reason"] !== NOT_REPORTED) return condition;
    const stood = before.find(({ type }) => type === condition["type"]);
    if (stood === undefined || stood["observedGeneration"] !== live?.metadata.generation) return condition;
    const { lastTransitionTime: _, observedGeneration: __, ...said } = stood;
    return said;
  });
  return { ref, status: { ...status, conditions: kept } };
}
