import type { AnyResource, Resource } from "@isthmus/core";
import { redacted } from "@isthmus/process/redacted";

/**
 * An object as browsers may have it: without what is secret in it, as on the pages of the admin port. Undefined for Secrets, and for lists, in which one might be: no part of them
 * leaves the server.
 */
export function shownObject(resource: Resource): AnyResource | undefined {
  if (resource.kind === "Secret" || resource.kind.endsWith("List")) return undefined;
  return redacted(resource);
}
