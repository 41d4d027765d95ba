import { intern } from "./intern.ts";
import { type ClusterObjectRef, kindKeyOf, type ResourceRef } from "./ref.ts";

/** Any value that JSON can hold. */
export type Json = string | number | boolean | null | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json | undefined;
}

/** An owner reference as Kubernetes writes it. */
export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid?: string;
  readonly controller?: boolean;
}

/**
 * Object metadata. `clusterName` never exists on a real API server: it is set in memory when an object is read, and taken
 * off when it is written. Absent means the management cluster.
 */
export interface Metadata {
  readonly name: string;
  readonly namespace?: string;
  readonly clusterName?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly generation?: number;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly ownerReferences?: readonly OwnerReference[];
  readonly managedFields?: readonly JsonObject[];
  readonly finalizers?: readonly string[];
}

/** One Kubernetes object, as data. */
export interface Resource {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Metadata;
}

/** A resource of which nothing is known but that it is JSON. */
export type AnyResource = Resource & { readonly [field: string]: unknown };

/** The name of an object within its kind. */
export function clusterRefOf(resource: Resource): ClusterObjectRef {
  const { name, namespace = "", clusterName = "" } = resource.metadata;
  return { name, namespace, clusterName };
}

/** The full name of an object. */
export function refOf(resource: Resource): ResourceRef {
  const { apiVersion, kind, metadata } = resource;
  return { apiVersion, kind, name: metadata.name, namespace: metadata.namespace ?? "", clusterName: metadata.clusterName ?? "" };
}

/** The key of an object within its kind: see `keyOf`. */
export function keyOfResource(resource: Resource): string {
  const { name, namespace = "", clusterName = "" } = resource.metadata;
  return intern([name, namespace, clusterName].join("."));
}

/** The key of an object across kinds, clusters and versions: see `resourceKeyOf`. */
export function fullKeyOf(resource: Resource): string {
  const { name, namespace = "", clusterName = "" } = resource.metadata;
  return intern([`${kindKeyOf(resource)}|${name}`, namespace, clusterName].join("."));
}

/** The same object, said to be from `clusterName` ("" for the management cluster), without server bookkeeping of field managers. */
export function inCluster<R extends Resource>(resource: R, clusterName: string): R {
  const { managedFields: _, clusterName: __, ...metadata } = resource.metadata;
  return { ...resource, metadata: clusterName === "" ? metadata : { ...metadata, clusterName } };
}
