import { intern } from "./intern.ts";

/** Names one object of a kind known from context. `clusterName` is "" for the management cluster, `namespace` is "" for cluster-scoped kinds. */
export interface ClusterObjectRef {
  readonly name: string;
  readonly namespace: string;
  readonly clusterName: string;
}

/** Names one object of any kind in one cluster. */
export interface ResourceRef extends ClusterObjectRef {
  readonly apiVersion: string;
  readonly kind: string;
}

/** Names one namespaced object of a kind and cluster known from context. */
export interface ObjectRef {
  readonly name: string;
  readonly namespace: string;
}

/**
 * The key under which the published API names an object in status maps: `name.namespace.cluster`, with a
 * trailing dot for the management cluster. Unique per kind, as neither namespaces nor cluster names contain dots. Messages use `displayName`.
 */
export function keyOf(ref: ClusterObjectRef): string {
  // Joined, as V8 keeps a template's result as a tree of its pieces: keys are compared and kept, by the million.
  return intern([ref.name, ref.namespace, ref.clusterName].join("."));
}

/** The name of the cluster in a key of `keyOf` or `resourceKeyOf`. */
export function clusterNameIn(key: string): string {
  return key.slice(key.lastIndexOf(".") + 1);
}

/** The API group of an `apiVersion`; "" for the core group. */
export function groupOf(apiVersion: string): string {
  const slash = apiVersion.indexOf("/");
  return slash < 0 ? "" : apiVersion.slice(0, slash);
}

/** Names a kind across its versions: `group/Kind`, as one object may be read and written in several versions. */
export function kindKeyOf({ apiVersion, kind }: { readonly apiVersion: string; readonly kind: string }): string {
  // Objects come kind by kind.
  if (apiVersion !== lastKind.apiVersion || kind !== lastKind.kind) lastKind = { apiVersion, kind, key: `${groupOf(apiVersion)}/${kind}` };
  return lastKind.key;
}

let lastKind = { apiVersion: "", kind: "", key: "/" };

/** Names one object across kinds, clusters and versions: `group/Kind|name.namespace.cluster`. */
export function resourceKeyOf(ref: ResourceRef): string {
  return intern([`${kindKeyOf(ref)}|${ref.name}`, ref.namespace, ref.clusterName].join("."));
}

/** The name of an object in messages, as kubectl prints it: `bookinfo/reviews`, with ` in cluster-1` for a workload cluster. Never a key. */
export function displayName({ name, namespace = "", clusterName = "" }: Partial<ClusterObjectRef> & { readonly name: string }): string {
  return `${namespace === "" ? name : `${namespace}/${name}`}${clusterName === "" ? "" : ` in ${clusterName}`}`;
}

/** A ref in messages: `VirtualMesh gloo-mesh/bookinfo`, `Service bookinfo/reviews in cluster-1`. Never a key: that is `resourceKeyOf`. */
export function formatRef(ref: ResourceRef): string {
  return `${ref.kind} ${displayName(ref)}`;
}

/** Orders refs of one kind by key, in the byte order that the published API sorts by. */
export function compareKeys(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
