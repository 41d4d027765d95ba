import type { TrustGeneration } from "@isthmus/certificates";
import type { Resource } from "@isthmus/core";
import { FIELD_MANAGER } from "../../apply/ownership.ts";
import { CLOCK_SKEW_MS } from "./controlPlaneReads.ts";

/**
 * A generation as it is noted: `dated` names the time that is the one of the write which noted it. Pods are dated by the API server, so
 * what they are compared with has to be as well, whatever the clock of this agent shows. The number beside it counts where nobody dated the write.
 */
export interface NotedGeneration extends TrustGeneration {
  readonly dated?: "installedAt" | "since";
  /** The bytes of its roots differ from those before: who hands them out has read them. */
  readonly hasOtherBytes?: true;
}

/** The generations with the times of the API server. */
export function withWriteTimes(generations: readonly NotedGeneration[], secret: Resource): readonly TrustGeneration[] {
  const writtenAt = timeOfWrite(secret);
  return generations.map(({ dated, ...generation }) => {
    if (dated === undefined || writtenAt === undefined) return generation;
    return dated === "installedAt" ? { ...generation, installedAt: writtenAt } : { ...generation, since: writtenAt + CLOCK_SKEW_MS };
  });
}

/** When this agent wrote an object last, in milliseconds since 1970 by the clock of the API server; undefined: that does not say. */
function timeOfWrite({ metadata: { managedFields = [] } }: Resource): number | undefined {
  const entries = managedFields.filter(({ subresource }) => subresource === undefined || subresource === "");
  const own = entries.filter(({ manager, operation }) => manager === FIELD_MANAGER && operation === "Update");
  // Where the own entry was taken away, the latest of all is late, never early.
  const times = (own.length > 0 ? own : entries).map(({ time }) => Date.parse(String(time))).filter((time) => !Number.isNaN(time));
  return times.length === 0 ? undefined : Math.max(...times);
}
