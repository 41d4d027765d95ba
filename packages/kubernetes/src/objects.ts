import { type AnyResource, InvalidResource, inCluster, type JsonObject, type Kind, type Resource, refOf } from "@isthmus/core";
import type { Malformed } from "@isthmus/plane/ports";

/** An object as an API server sends it. In lists of built-in kinds apiVersion and kind are missing. */
export type WireObject = Partial<AnyResource> & Pick<AnyResource, "metadata">;

/** An object as the port hands it out. */
export function asRead(object: WireObject, { apiVersion, kind }: Pick<Resource, "apiVersion" | "kind">, clusterName: string): AnyResource {
  return inCluster({ ...object, apiVersion: object.apiVersion ?? apiVersion, kind: object.kind ?? kind }, clusterName);
}

/** An object as it is sent: without what exists only in our memory or is the server's own. */
export function asWritten(resource: Resource): AnyResource {
  const { clusterName: _, managedFields: __, ...metadata } = resource.metadata;
  return { ...resource, metadata };
}

/** An object checked against its kind. */
export type Checked<R extends Resource> = { readonly resource: R } | { readonly malformed: Malformed };

export function checked<R extends Resource>(kind: Kind<R>, resource: AnyResource): Checked<R> {
  try {
    return { resource: kind.parse(resource) };
  } catch (error) {
    if (!(error instanceof InvalidResource)) throw error;
    const status = resource["status"];
    const isObject = typeof status === "object" && status !== null && !Array.isArray(status);
    return { malformed: { ref: refOf(resource), message: error.message, ...(isObject ? { status: status as JsonObject } : {}) } };
  }
}
