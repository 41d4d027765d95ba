import {
  type AnyResource,
  excessOf,
  formatRef,
  InvalidResource,
  inCluster,
  type JsonObject,
  type Kind,
  messageOf,
  type Resource,
  refOf,
  withLastWriter,
  withoutLastWriter,
} from "@isthmus/core";
import { ClusterError, type Malformed } from "@isthmus/ports";
import type { WatchTarget } from "./target.ts";

/** An object as an API server sends it. In lists of built-in kinds apiVersion and kind are missing. */
export type WireObject = Partial<AnyResource> & Pick<AnyResource, "metadata">;

/** An object of a list or a watch: with who changed it last, where that is kept. Throws as `asRead`. */
export function asListed(answer: unknown, { collection, clusterName, keepsLastWriter }: ListedFrom): AnyResource {
  const read = asRead(answer, collection, clusterName);
  return keepsLastWriter ? withLastWriter(read, (answer as WireObject).metadata.managedFields) : read;
}

type ListedFrom = Pick<WatchTarget<Resource>, "collection" | "clusterName" | "keepsLastWriter">;

/** An object as the port hands it out. Throws ClusterError `Unavailable` for what is none. */
export function asRead(answer: unknown, { apiVersion, kind }: Pick<Resource, "apiVersion" | "kind">, clusterName: string): AnyResource {
  const object = named(answer, kind);
  return inCluster({ ...object, apiVersion: object.apiVersion ?? apiVersion, kind: object.kind ?? kind }, clusterName);
}

/**
 * What an API server sends, if it is an object with a name. Throws ClusterError `Unavailable` for what is not: no API server sends that,
 * and of what can't be distinguished from other objects nothing can be said.
 */
export function named(answer: unknown, kind: string): WireObject {
  if (isNamed(answer)) return answer;
  throw new ClusterError(
    "Unavailable",
    `the API server returned, as ${kind}, something that is not an object with a name: check that it is a Kubernetes API server`,
  );
}

function isNamed(object: unknown): object is WireObject {
  if (typeof object !== "object" || object === null) return false;
  const { apiVersion = "", kind = "", metadata } = object as Readonly<Record<string, unknown>>;
  if (typeof metadata !== "object" || metadata === null) return false;
  const { name, namespace = "" } = metadata as Readonly<Record<string, unknown>>;
  return [apiVersion, kind, name, namespace].every((text) => typeof text === "string") && name !== "";
}

/** An object as it is sent: without what exists only in our memory or is the server's own. */
export function asWritten(resource: Resource): AnyResource {
  const { clusterName: _, managedFields: __, annotations: known, ...metadata } = resource.metadata;
  const annotations = withoutLastWriter(known);
  return { ...resource, metadata: annotations === undefined ? metadata : { ...metadata, annotations } };
}

/** An object checked against its kind. */
export type ParsedObject<R extends Resource> = { readonly resource: R } | { readonly malformed: Malformed };

/**
 * One object as its kind reads it, and what of it is kept. Whatever is wrong with it, or goes wrong with it, is its own: it is malformed,
 * and all others are read.
 */
export function parsedObject<R extends Resource>(kind: Kind<R>, resource: AnyResource, keep: (resource: R) => R = asItIs): ParsedObject<R> {
  const ref = refOf(resource);
  // How large it is was bounded by what was read.
  const excess = excessOf(resource, Number.POSITIVE_INFINITY);
  if (excess !== undefined) return { malformed: { ref, message: `${formatRef(ref)}: ${excess}`, ...statusIn(resource) } };
  try {
    return { resource: keep(kind.parse(resource)) };
  } catch (error) {
    const [message, ...further] = error instanceof InvalidResource ? error.messages : [];
    const problems = message === undefined ? { message: `${formatRef(ref)}: ${messageOf(error)}` } : { message, further };
    return { malformed: { ref, ...problems, ...statusIn(resource) } };
  }
}

/** The status of an object that can't be used, if that itself can be. */
function statusIn({ status }: AnyResource): Pick<Malformed, "status"> {
  const isUsable = typeof status === "object" && status !== null && !Array.isArray(status) && excessOf(status) === undefined;
  return isUsable ? { status: status as JsonObject } : {};
}

function asItIs<R>(resource: R): R {
  return resource;
}
