import { type AnyResource, equalJson, type Metadata } from "@isthmus/core";
import { isMembers, type Members } from "./apply/json.ts";

/** What writers decide of an object: everything but its type, name and the server's own metadata. */
export type Content = Members & { readonly metadata?: WrittenMetadata };
export type WrittenMetadata = Pick<Metadata, "labels" | "annotations" | "ownerReferences" | "finalizers">;

/** What the API server decides. */
export type ServerMetadata = Omit<Metadata, keyof WrittenMetadata> & { readonly deletionGracePeriodSeconds?: number };

const WRITTEN: readonly (keyof WrittenMetadata)[] = ["labels", "annotations", "ownerReferences", "finalizers"];

/** The writers' part of an object. */
export function contentOf(resource: AnyResource): Content {
  const { apiVersion: _, kind: __, metadata, ...content } = resource;
  const written = writtenPart(metadata);
  return Object.keys(written).length === 0 ? content : { ...content, metadata: written };
}

function writtenPart(metadata: WrittenMetadata): WrittenMetadata {
  const written: Record<string, unknown> = {};
  for (const field of WRITTEN) {
    const value = metadata[field];
    if (value !== undefined && !isEmptyObject(value)) written[field] = value;
  }
  return written;
}

/** The server's part of an object's metadata. */
export function serverMetadataOf({ metadata }: AnyResource): ServerMetadata {
  const { labels: _, annotations: __, ownerReferences: ___, finalizers: ____, managedFields: _____, ...server } = metadata;
  return server;
}

/** An object of both parts. */
export function assembled(
  type: { readonly apiVersion: string; readonly kind: string },
  server: ServerMetadata,
  content: Content,
): AnyResource {
  const { metadata: written = {}, ...rest } = content;
  return { apiVersion: type.apiVersion, kind: type.kind, metadata: { ...server, ...writtenPart(written) }, ...rest };
}

/** `before` when `after` says the same of its content and of the server's part. */
export function keptIfEqual(before: AnyResource | undefined, after: AnyResource): AnyResource {
  if (before === undefined) return after;
  return equalJson(contentOf(before), contentOf(after)) ? before : after;
}

/** Whether two contents say the same but for their status and metadata: what `metadata.generation` counts. */
export function equalSpecs(a: Content, b: Content, statusCounts: boolean): boolean {
  const { metadata: _, status: statusOfA, ...specOfA } = a;
  const { metadata: __, status: statusOfB, ...specOfB } = b;
  return equalJson(specOfA, specOfB) && (!statusCounts || equalJson(statusOfA, statusOfB));
}

function isEmptyObject(value: unknown): boolean {
  return (isMembers(value) && Object.keys(value).length === 0) || (Array.isArray(value) && value.length === 0);
}

/** RFC 3339 with seconds, as Kubernetes writes times. */
export function timestamp(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}
