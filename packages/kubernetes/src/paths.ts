import { ClusterError } from "@isthmus/ports";

/** Where the objects of a type are. */
export interface ResourceCollection {
  readonly apiVersion: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
}

/** The path of all objects of a type, or of those of one namespace. */
export function collectionPath({ apiVersion, plural, namespaced }: ResourceCollection, namespace = ""): string {
  const root = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  return namespaced && namespace !== "" ? `${root}/namespaces/${segment(namespace)}/${plural}` : `${root}/${plural}`;
}

/** The path of one object. Throws ClusterError `Invalid` when its name or namespace can't be one. */
export function objectPath(
  collection: ResourceCollection,
  ref: { readonly name: string; readonly namespace?: string | undefined },
): string {
  requireNamespace(collection, ref);
  return `${collectionPath(collection, ref.namespace)}/${segment(ref.name)}`;
}

/** Throws ClusterError `Invalid` when an object of a namespaced type lacks its namespace. */
export function requireNamespace(
  { kind, namespaced }: ResourceCollection,
  ref: { readonly name: string; readonly namespace?: string | undefined },
): void {
  if (namespaced && !ref.namespace) {
    throw new ClusterError("Invalid", `${kind} ${ref.name}: metadata.namespace is required`, { fields: ["metadata.namespace"] });
  }
}

function segment(name: string): string {
  // These would change the path's meaning, and no object can be called so.
  if (name === "" || name === "." || name === "..")
    throw new ClusterError("Invalid", `"${name}" is not a valid name`, { fields: ["metadata.name"] });
  return encodeURIComponent(name);
}
