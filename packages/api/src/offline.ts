import { displayName, excessOf, InvalidResource, isClusterName, type Kind, nearestName, type Resource } from "@isthmus/core";
import { DaemonSet } from "./kubernetes/daemonSet.ts";
import { Deployment } from "./kubernetes/deployment.ts";
import { LAST_APPLIED_ANNOTATION } from "./kubernetes/project.ts";
import { Service } from "./kubernetes/service.ts";
import { StatefulSet } from "./kubernetes/statefulSet.ts";
import { KubernetesCluster } from "./multicluster/kubernetesCluster.ts";
import { agentKinds, userStatusKinds } from "./roles.ts";
import type { DefinedKind } from "./shared/defineKind.ts";
import { MOST_PROBLEMS } from "./shared/problems.ts";
import { unknownFieldText } from "./shared/unknownFields.ts";

// Kinds whose annotations discovery copies.
const DISCOVERED_FROM: readonly Kind[] = [Deployment, DaemonSet, StatefulSet, Service];

/**
 * An object of a file as translation reads it: as an agent would send it, but with its copy of itself. Agents keep that to
 * themselves, as it shows environments; here nothing leaves a cluster, and discovered objects bear all annotations of what they
 * were discovered from, as those of the published product do. What agents don't send stays as it was given.
 * Throws InvalidResource, naming the offending path.
 */
export function parseOffline(kind: Kind, input: unknown): Resource {
  const resource = applicable(kind, input, kind.parse(bounded(kind, input)));
  const form = kind.reportedForm ?? kind.project;
  if (form === undefined || !agentKinds().includes(kind)) return resource;
  const projected = form(resource);
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

/** What an API server would take: it checks names, and the fields beside spec, before any webhook or controller sees an object. */
function applicable(kind: Kind, input: unknown, resource: Resource): Resource {
  const definition = (kind as Partial<DefinedKind<Resource>>).definition;
  // Other kinds are not declared in full, and objects that the plane writes itself have the names that it gives them.
  if (definition?.crd === undefined || !WRITTEN_BY_USERS().includes(kind)) return resource;
  const known = ["apiVersion", "kind", "metadata", ...Object.keys(definition.fields)];
  const { name, namespace = "" } = resource.metadata;
  const [problem, ...further] = [
    ...(isObjectName(name) ? [] : [{ path: "metadata.name", problem: `${JSON.stringify(name)} is not a valid name: ${NAME}` }]),
    ...(namespace === "" || isClusterName(namespace)
      ? []
      : [{ path: "metadata.namespace", problem: `${JSON.stringify(namespace)} is not a valid namespace: ${LABEL}` }]),
    ...Object.keys(input as object)
      .filter((field) => !known.includes(field))
      .map((path) => ({ path, problem: unknownFieldText({ hint: nearestName(path, known) }) })),
  ];
  if (problem === undefined) return resource;
  throw new InvalidResource(
    `${kind.kind} ${displayName({ name, namespace })}`,
    problem.path,
    problem.problem,
    further.slice(0, MOST_PROBLEMS - 1),
  );
}

const WRITTEN_BY_USERS = (): readonly Kind[] => [...userStatusKinds(), KubernetesCluster];
const LABEL = "lower-case letters, digits and hyphens, at most 63";
const NAME = "lower-case letters, digits, hyphens and dots, at most 253";

// Source: kubernetes.io/docs/concepts/overview/working-with-objects/names, DNS subdomain names.
function isObjectName(name: string): boolean {
  const isEdged = (label: string) => label === "" || label.startsWith("-") || label.endsWith("-");
  return name.length <= 253 && /^[a-z0-9.-]+$/.test(name) && !name.split(".").some(isEdged);
}
