import { excessOf, InvalidResource, type Kind, type Resource } from "@isthmus/core";
import { DaemonSet } from "./kubernetes/daemonSet.ts";
import { Deployment } from "./kubernetes/deployment.ts";
import { LAST_APPLIED_ANNOTATION } from "./kubernetes/project.ts";
import { Service } from "./kubernetes/service.ts";
import { StatefulSet } from "./kubernetes/statefulSet.ts";
import { agentKinds } from "./roles.ts";

// Kinds whose annotations discovery copies.
const DISCOVERED_FROM: readonly Kind[] = [Deployment, DaemonSet, StatefulSet, Service];

/**
 * An object of a file as translation reads it: as an agent would send it, but with its copy of itself. Agents keep that to
 * themselves, as it shows environments; here nothing leaves a cluster, and discovered objects bear all annotations of what they
 * were discovered from, as those of the published product do. What agents don't send stays as it was given.
 * Throws InvalidResource, naming the offending path.
 */
export function parseOffline(kind: Kind, input: unknown): Resource {
  const resource = kind.parse(bounded(kind, input));
  if (kind.project === undefined || !agentKinds().includes(kind)) return resource;
  const projected = kind.project(resource);
  const copy = resource.metadata.annotations?.[LAST_APPLIED_ANNOTATION];
  if (copy === undefined || !DISCOVERED_FROM.includes(kind)) return projected;
  const annotations = { ...projected.metadata.annotations, [LAST_APPLIED_ANNOTATION]: copy };
  return { ...projected, metadata: { ...projected.metadata, annotations } };
}

/** What is no more than an agent could send. */
function bounded(kind: Kind, input: unknown): unknown {
  const excess = excessOf(input);
  if (excess === undefined) return input;
  const { metadata } = input as { readonly metadata?: { readonly name?: unknown } | null };
  throw new InvalidResource(`${kind.kind} ${typeof metadata?.name === "string" ? metadata.name : "without a name"}`, "", excess);
}
