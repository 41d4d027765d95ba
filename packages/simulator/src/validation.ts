import { type AnyResource, equalJson, InvalidResource, type LabelSelector, matchesSelector } from "@isthmus/core";
import { ClusterError } from "@isthmus/ports";
import { isMembers, type Members, membersAt } from "./apply/json.ts";
import { invalidObject } from "./errors.ts";
import type { SimulatedKind } from "./kinds.ts";

const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const LABEL_VALUE = /^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$/;

/**
 * Refuses what an API server would refuse: names, labels, what the kind's own schema says, and the rules among fields that
 * matter to anyone who writes Deployments and Services. Throws ClusterError `Invalid` naming the field.
 */
export function validate(kind: SimulatedKind, resource: AnyResource, before: AnyResource | undefined): void {
  const object = `${kind.kind} "${resource.metadata.name}" is invalid`;
  validateMetadata(kind, resource, object);
  if (kind.parse !== undefined) parse(kind.parse, resource, before);
  const spec = membersAt(resource, "spec");
  const previous = before === undefined ? undefined : membersAt(before, "spec");
  if (CONTROLLERS.has(resource.kind)) validateController(object, spec, previous);
  if (resource.kind === "Pod") validateContainers(object, spec, "spec");
  if (resource.kind === "Service" && resource.apiVersion === "v1") validateService(object, spec);
}

const CONTROLLERS: ReadonlySet<string> = new Set(["Deployment", "ReplicaSet", "StatefulSet", "DaemonSet"]);

function parse(check: (input: unknown) => unknown, resource: AnyResource, before: AnyResource | undefined): void {
  try {
    check(resource);
  } catch (error) {
    if (!(error instanceof InvalidResource)) throw error;
    // As API servers do, what was wrong before, and is not changed, refuses nothing: a status can be written.
    // Source: kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#validation-ratcheting
    const [member = ""] = error.path.split(/[.[]/);
    if (member !== "" && before !== undefined && equalJson(resource[member], before[member])) return;
    throw new ClusterError("Invalid", error.message, error.path === "" ? {} : { fields: [error.path] }, error);
  }
}

function validateMetadata(kind: SimulatedKind, { metadata }: AnyResource, object: string): void {
  const { name, namespace = "" } = metadata;
  const shortName = kind.kind === "Namespace" || kind.kind === "Service";
  const fits = shortName ? LABEL.test(name) && name.length <= 63 : SUBDOMAIN.test(name) && name.length <= 253;
  // Names of roles and bindings may hold colons: `system:node`.
  if (!fits && !(kind.plural.startsWith("cluster") || kind.plural.startsWith("role"))) {
    throw invalidObject(object, "metadata.name", `${JSON.stringify(name)} must be lower case letters, digits and "-"`);
  }
  if (kind.namespaced && namespace === "") throw invalidObject(object, "metadata.namespace", "is required");
  if (!kind.namespaced && namespace !== "")
    throw invalidObject(object, "metadata.namespace", "must not be set: the kind has no namespaces");
  for (const [key, value] of Object.entries(metadata.labels ?? {})) {
    if (typeof value !== "string" || value.length > 63 || !LABEL_VALUE.test(value)) {
      throw invalidObject(object, "metadata.labels", `${key}: ${JSON.stringify(value)} is not a label's value`);
    }
  }
  for (const [key, value] of Object.entries(metadata.annotations ?? {})) {
    if (typeof value !== "string") throw invalidObject(object, `metadata.annotations.${key}`, "must be a string");
  }
}

function validateController(object: string, spec: Members, before: Members | undefined): void {
  const replicas = spec["replicas"];
  if (replicas !== undefined && !Number.isInteger(replicas)) {
    throw invalidObject(object, "spec.replicas", `must be an integer, is ${JSON.stringify(replicas)}`);
  }
  if (typeof replicas === "number" && replicas < 0) throw invalidObject(object, "spec.replicas", "must be greater than or equal to 0");
  if (!isMembers(spec["selector"])) throw invalidObject(object, "spec.selector", "is required");
  const template = membersAt(spec, "template");
  const labels = membersAt(membersAt(template, "metadata"), "labels") as Readonly<Record<string, string>>;
  if (!matchesSelector(spec["selector"] as LabelSelector, labels)) {
    throw invalidObject(object, "spec.template.metadata.labels", "`selector` does not match template `labels`");
  }
  validateContainers(object, membersAt(template, "spec"), "spec.template.spec");
  if (before !== undefined && JSON.stringify(before["selector"]) !== JSON.stringify(spec["selector"])) {
    throw invalidObject(object, "spec.selector", "field is immutable");
  }
}

function validateContainers(object: string, podSpec: Members, path: string): void {
  const containers = podSpec["containers"];
  if (!Array.isArray(containers) || containers.length === 0) throw invalidObject(object, `${path}.containers`, "is required");
  containers.forEach((container: unknown, i) => {
    for (const field of ["name", "image"]) {
      const value = isMembers(container) ? container[field] : undefined;
      if (typeof value !== "string" || value === "") throw invalidObject(object, `${path}.containers[${i}].${field}`, "is required");
    }
  });
}

function validateService(object: string, spec: Members): void {
  const ports: readonly unknown[] = Array.isArray(spec["ports"]) ? spec["ports"] : [];
  if (ports.length === 0 && spec["clusterIP"] !== "None" && spec["type"] !== "ExternalName") {
    throw invalidObject(object, "spec.ports", "is required");
  }
  ports.forEach((port, i) => {
    const { name, port: number } = isMembers(port) ? port : {};
    if (!isPort(number)) throw invalidObject(object, `spec.ports[${i}].port`, "must be between 1 and 65535, inclusive");
    if (ports.length > 1 && !name) throw invalidObject(object, `spec.ports[${i}].name`, "is required");
  });
}

function isPort(value: unknown): boolean {
  return Number.isInteger(value) && Number(value) >= 1 && Number(value) <= 65_535;
}
