import { managementKinds } from "@isthmus/api";
import { kindKeyOf, type Resource } from "@isthmus/core";
import type { Write } from "./actorPort.ts";

const EVENT = kindKeyOf({ apiVersion: "v1", kind: "Event" });
const REGARDED: ReadonlySet<string> = new Set(managementKinds().map(kindKeyOf));

/** Whether a write is of an Event: no policy asks for one. */
export function isEvent({ ref }: Pick<Write, "ref">): boolean {
  return kindKeyOf(ref) === EVENT;
}

/** What is wrong with an Event: servers say in the management cluster, on what they read there, what begins and ends. */
export function problemOfEvent({ cluster, verb, ref, after }: Write): string | undefined {
  if (cluster !== "") return "an Event in a workload cluster";
  if (verb !== "create") return "each Event is a new one";
  const { involvedObject } = (after ?? {}) as Resource & { readonly involvedObject?: Record<"apiVersion" | "kind" | "namespace", string> };
  if (involvedObject === undefined || !REGARDED.has(kindKeyOf(involvedObject))) return "it is on something that servers do not read";
  return involvedObject.namespace === ref.namespace ? undefined : "it is not in the namespace of its object";
}
