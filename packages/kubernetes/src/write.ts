import type { AnyResource, Resource, ResourceRef } from "@isthmus/core";
import type { ApplyOptions, Preconditions } from "@isthmus/ports";
import type { ApiRequest, Connection } from "./connection.ts";
import { asRead, asWritten, type WireObject } from "./objects.ts";
import { collectionPath, objectPath, type ResourceCollection, requireNamespace } from "./paths.ts";
import { call } from "./request.ts";

/** The cluster and type that is written. */
export interface WriteTarget {
  readonly connection: Connection;
  readonly clusterName: string;
  readonly collection: ResourceCollection;
}

/**
 * Server-side apply: gives the object as stored. Rejects with `Conflict` (with fields and manager) for fields of another
 * manager, with `Invalid` for what the API server will never take.
 */
export function serverSideApply(
  target: WriteTarget,
  resource: Resource,
  options: ApplyOptions,
  signal?: AbortSignal,
): Promise<AnyResource> {
  const path = objectPath(target.collection, resource.metadata);
  return written(target, { method: "PATCH", path, body: asWritten(resource), ...applySettings(options) }, signal);
}

/** Server-side apply of `status` alone, so that no other field becomes the manager's. */
export function serverSideApplyStatus(
  target: WriteTarget,
  resource: AnyResource,
  options: ApplyOptions,
  signal?: AbortSignal,
): Promise<AnyResource> {
  const { apiVersion, kind, metadata } = resource;
  const { name, namespace, resourceVersion } = metadata;
  const body = {
    apiVersion,
    kind,
    metadata: { name, ...(namespace === undefined ? {} : { namespace }), ...(resourceVersion === undefined ? {} : { resourceVersion }) },
    status: resource["status"] ?? {},
  };
  const path = `${objectPath(target.collection, metadata)}/status`;
  return written(target, { method: "PATCH", path, body, ...applySettings(options) }, signal);
}

/**
 * Creates an object, without its UID and version, and gives it as stored. Rejects with ClusterError: `AlreadyExists`, or `Invalid`, also
 * for fields that the kind does not have. Throws ClusterError `Invalid` for an object without the namespace that its kind requires.
 */
export function createResource(target: WriteTarget, resource: Resource, signal?: AbortSignal): Promise<AnyResource> {
  requireNamespace(target.collection, resource.metadata);
  const object = asWritten(resource);
  // An object that was read elsewhere may be created here; its version there means nothing here.
  const { resourceVersion: _, uid: __, ...metadata } = object.metadata;
  const path = collectionPath(target.collection, resource.metadata.namespace);
  // An apply refuses fields that the kind does not have; a create would drop them without a word.
  const query = { fieldValidation: "Strict" };
  return written(target, { method: "POST", path, query, body: { ...object, metadata } }, signal);
}

/**
 * Replaces all but the status (where that is a subresource), and the field managers where `managedFields` is given; gives the object as
 * stored. Rejects with ClusterError: `NotFound`, or `Conflict` when `resource` names another resourceVersion than the live one. Throws
 * ClusterError `Invalid` for a name or namespace that cannot be one.
 */
export function updateResource(target: WriteTarget, resource: Resource, signal?: AbortSignal): Promise<AnyResource> {
  const { managedFields } = resource.metadata;
  const object = asWritten(resource);
  const body = managedFields === undefined ? object : { ...object, metadata: { ...object.metadata, managedFields } };
  return written(target, { method: "PUT", path: objectPath(target.collection, resource.metadata), body }, signal);
}

/** Replaces `status` alone, by the subresource; gives the object as stored and rejects as `updateResource` does. */
export function updateResourceStatus(target: WriteTarget, resource: Resource, signal?: AbortSignal): Promise<AnyResource> {
  const path = `${objectPath(target.collection, resource.metadata)}/status`;
  return written(target, { method: "PUT", path, body: asWritten(resource) }, signal);
}

/**
 * Resolves when the API server has accepted the delete: finalizers may still hold the object, and dependents are deleted in the background.
 * Rejects with ClusterError: `NotFound`, or `Conflict` when a precondition fails.
 */
export async function deleteResource(
  target: WriteTarget,
  ref: ResourceRef,
  preconditions: Preconditions,
  signal?: AbortSignal,
): Promise<void> {
  const body = {
    apiVersion: "v1",
    kind: "DeleteOptions",
    propagationPolicy: "Background",
    ...(Object.keys(preconditions).length === 0 ? {} : { preconditions }),
  };
  await call(target.connection, { method: "DELETE", path: objectPath(target.collection, ref), body }, signal);
}

/** Source: kubernetes.io, "API-initiated eviction". */
export async function evictPod(
  { connection, collection }: WriteTarget,
  { name, namespace }: ResourceRef,
  preconditions: Preconditions,
  signal?: AbortSignal,
): Promise<void> {
  const deleteOptions = Object.keys(preconditions).length === 0 ? {} : { deleteOptions: { preconditions } };
  const body = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name, namespace }, ...deleteOptions };
  await call(connection, { method: "POST", path: `${objectPath(collection, { name, namespace })}/eviction`, body }, signal);
}

function applySettings({ fieldManager, force = false, dryRun = false }: ApplyOptions): Pick<ApiRequest, "query" | "contentType"> {
  return {
    query: { fieldManager, force: String(force), ...(dryRun ? { dryRun: "All" } : {}) },
    // JSON is YAML.
    contentType: "application/apply-patch+yaml",
  };
}

async function written(
  { connection, clusterName, collection }: WriteTarget,
  request: ApiRequest,
  signal: AbortSignal | undefined,
): Promise<AnyResource> {
  const stored = (await call(connection, request, signal)) as WireObject;
  return asRead(stored, collection, clusterName);
}
