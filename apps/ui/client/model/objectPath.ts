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

/** What a panel shows. */
export interface PanelObject {
  readonly ref: ResourceRef;
  /** The generated object, though its cluster reports another one of that name. */
  readonly isGenerated: boolean;
}

/** What a panel shows, as an address has it. */
export function panelPath(object: Resource, isGenerated: boolean): string {
  return `${isGenerated ? GENERATED : ""}${objectPath(object)}`;
}

/** What `panelPath` names; undefined for another text. */
export function panelObjectOf(path: string): PanelObject | undefined {
  const isGenerated = path.startsWith(GENERATED);
  const ref = refOfPath(isGenerated ? path.slice(GENERATED.length) : path);
  return ref && { ref, isGenerated };
}

const GENERATED = "/generated";

/** The path of an object's page. */
export function objectPath(object: Resource | ResourceRef): string {
  const { group, kind, cluster, namespace, name } = paramsOf("metadata" in object ? refOf(object) : object);
  return `/object/${[group, kind, cluster, namespace, name].map(encodeURIComponent).join("/")}`;
}
