import { type AnyResource, InvalidResource, type JsonObject, type Kind, matchesSelector, type Resource, refOf } from "@isthmus/core";
import { ClusterError, type Malformed, type ResourceList, type WholeListOptions } from "@isthmus/plane/ports";
import { isMembers } from "./json.ts";
import { type ClusterState, inVersion } from "./state.ts";
import { viewed } from "./writes.ts";

/** Objects as kinds understand them. What one reader has had parsed, the next one gets without work: objects never change. */
export class ParsedObjects {
  readonly #byKind = new WeakMap<Kind, WeakMap<AnyResource, Resource>>();

  /** Throws InvalidResource. */
  parsed<R extends Resource>(kind: Kind<R>, resource: AnyResource, apiVersion: string): R {
    let known = this.#byKind.get(kind);
    if (known === undefined) {
      known = new WeakMap();
      this.#byKind.set(kind, known);
    }
    const found = known.get(resource);
    // The table of a kind holds only what that kind has parsed.
    if (found !== undefined && found.apiVersion === apiVersion) return found as R;
    const parsed = kind.parse(inVersion(resource, apiVersion));
    known.set(resource, parsed);
    return parsed;
  }

  /** The object, or what is wrong with it. */
  read<R extends Resource>(kind: Kind<R>, resource: AnyResource, apiVersion: string): R | Malformed {
    try {
      return this.parsed(kind, resource, apiVersion);
    } catch (error) {
      if (!(error instanceof InvalidResource)) throw error;
      const status = resource["status"];
      const ref = refOf(inVersion(resource, apiVersion));
      return { ref, message: error.message, ...(isMembers(status) ? { status: status as JsonObject } : {}) };
    }
  }
}

/** Whether `read` found something wrong. */
export function isMalformed(read: Resource | Malformed): read is Malformed {
  return "ref" in read;
}

export function getObject<R extends Resource>(
  state: ClusterState,
  kind: Kind<R>,
  { name, namespace }: { readonly name: string; readonly namespace: string },
): R | undefined {
  const { served, apiVersion } = state.servedVersion(kind);
  const stored = served.store.get(namespace, name);
  if (stored === undefined) return undefined;
  try {
    return kind.parse(viewed(stored, apiVersion));
  } catch (error) {
    if (!(error instanceof InvalidResource)) throw error;
    throw new ClusterError("Invalid", error.message, error.path === "" ? {} : { fields: [error.path] }, error);
  }
}

export function listObjects<R extends Resource>(
  state: ClusterState,
  objects: ParsedObjects,
  { kind, namespace, labels, keep = (resource) => resource }: WholeListOptions<R> & { readonly kind: Kind<R> },
): ResourceList<R> {
  const { served, apiVersion } = state.servedVersion(kind);
  const items: R[] = [];
  const malformed: Malformed[] = [];
  for (const { resource } of served.store.in(namespace)) {
    if (labels !== undefined && !matchesSelector(labels, resource.metadata.labels)) continue;
    const read = objects.read(kind, resource, apiVersion);
    if (isMalformed(read)) malformed.push(read);
    else items.push(keep(read));
  }
  return { items, malformed, resourceVersion: String(state.revision) };
}
