import { AccessPolicy, UNREADABLE } from "@isthmus/api";
import { kindKeyOf, type Resource } from "@isthmus/core";
import { CLOSED, faultMessage } from "./faultReport.ts";

/**
 * What stands for an AccessPolicy that translation throws on and of which no earlier form is known: one about the same Destinations of which
 * nothing else can be read. So what was last accepted of it is in force, or nobody is let in (docs/decisions/0037). Undefined for other
 * kinds, and where it cannot be read what it is about.
 */
export function closedStandIn(object: Resource, error: unknown): Resource | undefined {
  if (kindKeyOf(object) !== kindKeyOf(AccessPolicy)) return undefined;
  try {
    const { apiVersion, kind, metadata, spec, status } = object as AccessPolicy;
    // Read to the end, as whatever throws does so here.
    const read = JSON.parse(JSON.stringify({ destinationSelector: spec?.destinationSelector, status })) as Pick<AccessPolicy, "status">;
    const { status: memory, ...about } = read;
    return { apiVersion, kind, metadata, spec: { ...about, [UNREADABLE]: faultMessage(error, CLOSED) }, status: memory } as Resource;
  } catch {
    return undefined;
  }
}
