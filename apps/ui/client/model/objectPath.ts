import { groupOf, type Resource, type ResourceRef, refOf } from "@isthmus/core";

/** The parameters of an object's page. */
export interface ObjectParams {
  readonly group: string;
  readonly kind: string;
  readonly cluster: string;
  readonly namespace: string;
  readonly name: string;
}

// Stands for nothing in a path: no name of Kubernetes has it.
const NONE = "_";

/** Parameters of the page of an object. */
export function paramsOf(ref: Omit<ResourceRef, "apiVersion"> & { readonly apiVersion: string }): ObjectParams {
  return {
    group: groupOf(ref.apiVersion) || NONE,
    kind: ref.kind || NONE,
    cluster: ref.clusterName || NONE,
    namespace: ref.namespace || NONE,
    name: ref.name || NONE,
  };
}

/** Which object a page is about; its version is not part of the path. */
export function refOfParams({ group, kind, cluster, namespace, name }: ObjectParams): ResourceRef {
  return {
    apiVersion: group === NONE ? "v1" : `${group}/_`,
    kind,
    name,
    namespace: namespace === NONE ? "" : namespace,
    clusterName: cluster === NONE ? "" : cluster,
  };
}

/** Which object a path is of, as `objectPath` gives it; undefined for another text. */
export function refOfPath(path: string): ResourceRef | undefined {
  const [first, second, ...parts] = path.split("/");
  if (first !== "" || second !== "object" || parts.length !== 5) return undefined;
  try {
    const [group = "", kind = "", cluster = "", namespace = "", name = ""] = parts.map(decodeURIComponent);
    return refOfParams({ group, kind, cluster, namespace, name });
  } catch {
    // A part that nobody has encoded.
    return undefined;
  }
}

/** The path of an object's page. */
export function objectPath(object: Resource | ResourceRef): string {
  const { group, kind, cluster, namespace, name } = paramsOf("metadata" in object ? refOf(object) : object);
  return `/object/${[group, kind, cluster, namespace, name].map(encodeURIComponent).join("/")}`;
}
