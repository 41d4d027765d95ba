import type { AnyResource, JsonObject } from "@isthmus/core";

/** The namespace that the embedded manifests were rendered for. */
export const RENDERED_NAMESPACE = "gloo-mesh";

/** What an embedded manifest is made into. */
export interface Placement {
  readonly namespace: string;
  /** What is put in place of whole texts, and of what follows the `=` of an argument: no value can become anything but a text. */
  readonly values: ReadonlyMap<string, string>;
}

/** The objects of a rendered chart, with these values in this namespace. */
export function placedObjects(manifest: readonly AnyResource[], { namespace, values }: Placement): readonly AnyResource[] {
  return manifest.map((object) => inNamespace(filled(object, values) as AnyResource, namespace));
}

/** What is needed by others comes first: definitions, namespaces, accounts and rights, then what runs. */
export function inApplyOrder(objects: readonly AnyResource[]): readonly AnyResource[] {
  return [...objects].sort((a, b) => rankOf(a) - rankOf(b));
}

function filled(value: unknown, values: ReadonlyMap<string, string>): unknown {
  if (typeof value === "string") return filledText(value, values);
  if (Array.isArray(value)) return value.map((item) => filled(item, values));
  if (typeof value !== "object" || value === null) return value;
  // The name of an environment variable may be that of a value.
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, key === "name" ? member : filled(member, values)]));
}

function filledText(text: string, values: ReadonlyMap<string, string>): string {
  const start = text.startsWith("--") ? text.indexOf("=") + 1 : 0;
  return text.slice(0, start) + (values.get(text.slice(start)) ?? text.slice(start));
}

function inNamespace(object: AnyResource, namespace: string): AnyResource {
  const moved = <T extends { readonly namespace?: string | undefined }>(place: T): T =>
    place.namespace === RENDERED_NAMESPACE ? { ...place, namespace } : place;
  const { subjects } = object as { readonly subjects?: readonly { readonly namespace?: string }[] };
  const isNamespace = object.kind === "Namespace" && object.metadata.name === RENDERED_NAMESPACE;
  if (object.kind === "ValidatingAdmissionPolicy") return accountMoved(object, namespace);
  return {
    ...object,
    metadata: { ...moved(object.metadata), ...(isNamespace ? { name: namespace } : {}) },
    ...(subjects === undefined ? {} : { subjects: subjects.map(moved) as readonly JsonObject[] }),
  };
}

/** An admission policy names the account that it limits in an expression. */
function accountMoved(object: AnyResource, namespace: string): AnyResource {
  const text = JSON.stringify(object["spec"]);
  const spec = text.replaceAll(`system:serviceaccount:${RENDERED_NAMESPACE}:`, `system:serviceaccount:${namespace}:`);
  return { ...object, spec: JSON.parse(spec) as JsonObject };
}

function rankOf({ kind }: AnyResource): number {
  const rank = ORDER.indexOf(kind);
  return rank === -1 ? ORDER.length : rank;
}

const ORDER = [
  "CustomResourceDefinition",
  "Namespace",
  // Before the rights that it limits.
  "ValidatingAdmissionPolicy",
  "ValidatingAdmissionPolicyBinding",
  "ServiceAccount",
  "ClusterRole",
  "Role",
  "ClusterRoleBinding",
  "RoleBinding",
  "Secret",
];
