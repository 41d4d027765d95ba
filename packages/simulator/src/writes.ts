import type { AnyResource, Resource, ResourceRef } from "@isthmus/core";
import { FIELD_MANAGER } from "@isthmus/plane";
import type { ApplyOptions, Preconditions } from "@isthmus/ports";
import { applyManaged } from "./apply/apply.ts";
import { afterUpdate, type FieldManager, managedFieldsOf, managersFrom, type Writer } from "./apply/fieldManagers.ts";
import { changesBetween } from "./apply/fieldSet.ts";
import { withMember, withoutAbsent } from "./apply/json.ts";
import { alreadyExists, changedMeanwhile, notFound, unserved } from "./errors.ts";
import { storageVersionOf } from "./kinds.ts";
import { assembled, type Content, contentOf, keptIfEqual, type ServerMetadata, serverMetadataOf } from "./object.ts";
import { inVersion, type Served, type SimulatedState } from "./state.ts";
import type { Stored } from "./store.ts";
import { validate } from "./validation.ts";

/** One object that somebody wants to write, and what is there. */
interface Write {
  readonly state: SimulatedState;
  readonly served: Served;
  /** As it came, without what an API server never takes from a writer. */
  readonly input: AnyResource;
  readonly stored: Stored | undefined;
}

/**
 * Gives the object as stored, with defaults and without the status that `resource` came with (where that is a subresource). Throws
 * ClusterError: `AlreadyExists`, `Invalid`, `Unserved`, or for its namespace `NotFound` (there is none) or `Forbidden` (it is being
 * deleted).
 */
export function createObject(state: SimulatedState, resource: Resource): AnyResource {
  const write = writeOf(state, resource);
  const { served, input, stored } = write;
  const { name, namespace = "" } = input.metadata;
  state.requireNamespace(namespace);
  if (stored !== undefined) throw alreadyExists(typeOf(served), name);
  const content = spokenFor(served, contentOf(input));
  return finish(write, content, { managersOf: (completed) => updaters(write, {}, { content: completed, subresource: "" }) });
}

/**
 * Replaces all but the status (where that is a subresource), and the field managers where `managedFields` are given. Throws ClusterError:
 * `NotFound`, `Invalid`, `Unserved`, or `Conflict` for another version or UID than the live one's.
 */
export function updateObject(state: SimulatedState, resource: Resource): AnyResource {
  const write = writeOf(state, resource);
  const live = requireStored(write);
  requireVersion(write);
  const before = contentOf(live.resource);
  const written = spokenFor(write.served, contentOf(write.input));
  const status = write.served.kind.statusSubresource ? before["status"] : written["status"];
  const { managedFields = [] } = resource.metadata;
  const claimed = managedFields.length === 0 ? write : { ...write, stored: { ...live, managers: managersFrom(managedFields) } };
  return finish(write, withMember(written, "status", status), {
    managersOf: (content) => updaters(claimed, before, { content, subresource: "" }),
  });
}

/** Replaces `status` alone. Throws as `updateObject` does, and `Unserved` for a kind whose status is no subresource. */
export function updateObjectStatus(state: SimulatedState, resource: AnyResource): AnyResource {
  const write = writeOf(state, resource);
  requireStatus(write);
  const live = requireStored(write);
  requireVersion(write);
  const before = contentOf(live.resource);
  return finish(write, withMember(before, "status", write.input["status"]), {
    managersOf: (content) => updaters(write, before, { content, subresource: "status" }),
  });
}

/**
 * Server-side apply; creates the object when absent. Throws ClusterError: `Conflict` for a field of another manager without `force`, or
 * another version or UID than the live one's; else as `createObject`, but for `AlreadyExists`.
 */
export function applyObject(state: SimulatedState, resource: Resource, options: ApplyOptions): AnyResource {
  const write = writeOf(state, resource);
  const { served, input, stored } = write;
  if (stored === undefined) state.requireNamespace(input.metadata.namespace ?? "");
  requireVersion(write);
  const live = { content: stored === undefined ? {} : contentOf(stored.resource), managers: stored?.managers ?? [] };
  const { content, managers } = applyManaged<Content>(live, {
    desired: spokenFor(served, contentOf(input)),
    writer: writerOf(write, "Apply", options.fieldManager),
    force: options.force ?? false,
    kindKey: served.kindKey,
    types: state.knowledge.fieldTypes(served.kindKey),
  });
  return finish(write, content, { managersOf: () => managers, dryRun: options.dryRun ?? false });
}

/**
 * Server-side apply of `status` alone, with field managers of its own; the object must exist. Throws ClusterError as `applyObject` does,
 * `NotFound`, and `Unserved` for a kind whose status is no subresource.
 */
export function applyObjectStatus(state: SimulatedState, resource: AnyResource, options: ApplyOptions): AnyResource {
  const write = writeOf(state, resource);
  requireStatus(write);
  const live = requireStored(write);
  requireVersion(write);
  const status = write.input["status"];
  const { content, managers } = applyManaged<Content>(
    { content: contentOf(live.resource), managers: live.managers },
    {
      desired: { status: status ?? {} },
      writer: { ...writerOf(write, "Apply", options.fieldManager), subresource: "status" },
      force: options.force ?? false,
      kindKey: write.served.kindKey,
      types: state.knowledge.fieldTypes(write.served.kindKey),
    },
  );
  return finish(write, content, { managersOf: () => managers, dryRun: options.dryRun ?? false });
}

/**
 * Deletes an object at once, unless finalizers hold it or it is a Namespace: those are marked with a deletionTimestamp, and a second delete
 * changes nothing. Throws ClusterError: `NotFound`, `Unserved`, or `Conflict` when a precondition fails.
 */
export function deleteObject(state: SimulatedState, ref: ResourceRef, { uid, resourceVersion }: Preconditions): void {
  const served = state.served(ref);
  const stored = served.store.get(ref.namespace, ref.name);
  if (stored === undefined) throw notFound(typeOf(served), ref.name);
  const { metadata } = stored.resource;
  if ((uid !== undefined && uid !== metadata.uid) || (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion)) {
    throw changedMeanwhile(typeOf(served), ref.name);
  }
  const isNamespace = served.kind.kind === "Namespace";
  if (!isNamespace && (metadata.finalizers ?? []).length === 0) {
    state.commit(served, stored, undefined);
    return;
  }
  if (metadata.deletionTimestamp !== undefined) return;
  const deleted: ServerMetadata = { ...serverMetadataOf(stored.resource), deletionTimestamp: state.now, deletionGracePeriodSeconds: 0 };
  const content = contentOf(stored.resource);
  const marked = isNamespace ? { ...content, status: { phase: "Terminating" } } : content;
  state.commit(served, stored, { ...stored, resource: assembled(stored.resource, deleted, marked) });
}

/** An object as `get` gives it, with its field managers. */
export function viewed({ resource, managers }: Stored, apiVersion: string): AnyResource {
  const read = inVersion(resource, apiVersion);
  if (managers.length === 0) return read;
  return { ...read, metadata: { ...read.metadata, managedFields: managedFieldsOf(managers) } };
}

function writeOf(state: SimulatedState, resource: Resource): Write {
  const served = state.served(resource);
  const cleaned = withoutAbsent(resource) as AnyResource;
  const { clusterName: _, managedFields: __, ...metadata } = cleaned.metadata;
  const input = { ...cleaned, metadata };
  return { state, served, input, stored: served.store.get(metadata.namespace ?? "", metadata.name) };
}

/** What a write of the main resource covers: all but the status of kinds where that is written apart. */
function spokenFor({ kind }: Served, content: Content): Content {
  return kind.statusSubresource ? withMember(content, "status", undefined) : content;
}

/** The managers after an update: the status that defaults gave a new object belongs to nobody. */
function updaters({ served, stored, ...write }: Write, before: Content, after: Written): readonly FieldManager[] {
  const content = stored === undefined ? spokenFor(served, after.content) : after.content;
  const types = write.state.knowledge.fieldTypes(served.kindKey);
  const changes = changesBetween(before, content, { kindKey: served.kindKey, path: "", types });
  const writer = { ...writerOf(write, "Update"), subresource: after.subresource };
  return afterUpdate(stored?.managers ?? [], writer, changes);
}

interface Written {
  readonly content: Content;
  readonly subresource: "" | "status";
}

interface Ending {
  /** Who owns what of the completed content. */
  readonly managersOf: (content: Content) => readonly FieldManager[];
  readonly dryRun?: boolean;
}

function finish(write: Write, content: Content, { managersOf, dryRun = false }: Ending): AnyResource {
  const { state, served, input, stored } = write;
  const type = { apiVersion: storageVersionOf(served.kind), kind: served.kind.kind };
  const server = stored === undefined ? newMetadata(write) : serverMetadataOf(stored.resource);
  // Checked before defaults are filled in, as those hand out addresses.
  validate(served.kind, assembled(type, server, content), stored?.resource);
  const completed = state.complete(served, content, stored);
  const resource = keptIfEqual(stored?.resource, assembled(type, server, completed));
  const next = { resource, managers: managersOf(completed) };
  if (!dryRun) return inVersion((state.commit(served, stored, next) ?? next).resource, input.apiVersion);
  if (stored === undefined) state.defaults.release(served.kindKey, completed);
  return inVersion(resource, input.apiVersion);
}

function newMetadata({ state, input }: Write): ServerMetadata {
  const { name, namespace } = input.metadata;
  return {
    name,
    ...(namespace === undefined ? {} : { namespace }),
    ...(state.name === "" ? {} : { clusterName: state.name }),
    uid: state.newUid(),
    creationTimestamp: state.now,
  };
}

/** What `create` and `update` set belongs to us, as it does with the client of real clusters. */
function writerOf({ state, input }: Pick<Write, "state" | "input">, operation: "Apply" | "Update", manager = FIELD_MANAGER): Writer {
  return { manager, operation, subresource: "", apiVersion: input.apiVersion, time: state.now };
}

function requireStored({ served, input, stored }: Write): Stored {
  if (stored === undefined) throw notFound(typeOf(served), input.metadata.name);
  return stored;
}

/** A writer that names a version or a UID means that very one. */
function requireVersion({ served, input, stored }: Write): void {
  const { resourceVersion, uid, name } = input.metadata;
  const live = stored?.resource.metadata;
  if (resourceVersion !== undefined && resourceVersion !== live?.resourceVersion) throw changedMeanwhile(typeOf(served), name);
  if (uid !== undefined && uid !== live?.uid) throw changedMeanwhile(typeOf(served), name);
}

function requireStatus({ served, input }: Write): void {
  if (!served.kind.statusSubresource) throw unserved({ ...input, kind: `status of ${input.kind}` });
}

function typeOf({ kind }: Served): { apiVersion: string; plural: string } {
  return { apiVersion: storageVersionOf(kind), plural: kind.plural };
}
