import { type AnyResource, canonicalJson } from "@isthmus/core";
import { ApplyConflict, applyManaged } from "../../apply/apply.ts";
import { afterUpdate, type FieldManager, managedFieldsOf, managersFrom, type Writer } from "../../apply/fieldManagers.ts";
import { formatPath } from "../../apply/fieldPath.ts";
import { changesBetween } from "../../apply/fieldSet.ts";
import { isMembers, type Members, membersAt, withMember, withoutAbsent } from "../../apply/json.ts";
import { storageVersionOf } from "../../kinds.ts";
import { assembled, type Content, contentOf, equalSpecs, keptIfEqual, type ServerMetadata, serverMetadataOf } from "../../object.ts";
import { inVersion, type Served, type SimulatedState } from "../../state.ts";
import type { Stored } from "../../store.ts";
import {
  ApiError,
  badRequest,
  conflictError,
  existsError,
  forbiddenError,
  invalidError,
  methodNotAllowed,
  notFoundError,
} from "../apiError.ts";
import type { WriteOptions } from "../options.ts";
import type { ResourceRequest } from "../requestInfo.ts";
import type { ApiResource } from "../resourceTable.ts";
import { goFieldTypes } from "../types/fieldTypes.ts";
import { decodeAs } from "../types/goDecode.ts";
import { type GoStruct, structOfKind } from "../types/goTypes.ts";
import { prepared } from "./prepare.ts";
import { type Telling, typedBody, type Warn } from "./typed.ts";
import { objectErrors } from "./validated.ts";

/** One write that somebody asks for. */
export interface WriteRequest {
  readonly state: SimulatedState;
  readonly resource: ApiResource;
  readonly target: ResourceRequest;
  readonly options: WriteOptions;
  readonly warn: Warn;
  /** How values that do not fit are refused, where they came of a patch. */
  readonly wording?: Telling["wording"];
}

/** Makes an object. Throws ApiError. */
export function created(request: WriteRequest, body: unknown): Stored {
  const { resource, target, options } = request;
  const served = servedOf(resource);
  const given = named(typedBody(resource, body, options, request), request);
  const metadata = membersAt(given, "metadata");
  if (metadata["resourceVersion"] !== undefined) throw new ApiError(500, "", "resourceVersion should not be set on objects to be created");
  requireNamespace(request, String(metadata["name"] ?? ""));
  const server = newMetadata(request, metadata);
  const written = prepared(served.kindKey, spokenFor(served, contentOf(given as AnyResource)), undefined, {
    uid: server.uid ?? "",
    name: server.name,
  });
  const stored = served.store.get(target.namespace, server.name);
  return finished(request, {
    stored: undefined,
    existing: stored,
    server,
    content: written,
    managersOf: (content) => updated(request, { before: emptyContent(resource), managers: [] }, spokenFor(served, content)),
  });
}

/**
 * Replaces an object, or its status. `body`: the whole object as it shall be. Throws ApiError. Where `creates` is given, an object that is not there is made, as by PUT where
 * the kind allows that.
 */
export function replaced(request: WriteRequest, body: unknown): Stored {
  const { resource, target, options } = request;
  const served = servedOf(resource);
  const given = named(typedBody(resource, body, options, request), request, { isUpdate: true });
  const metadata = membersAt(given, "metadata");
  const stored = served.store.get(target.namespace, target.name);
  if (stored === undefined) throw notFoundError(resource, target.name);
  requireVersion(resource, metadata, stored);
  const before = contentOf(stored.resource);
  const isStatus = target.subresource === "status";
  const wanted = contentOf(given as AnyResource);
  // Only `status` is written with the subresource, and only all else without it.
  const content = isStatus
    ? withMember(before, "status", wanted["status"])
    : served.kind.statusSubresource
      ? withMember(prepared(served.kindKey, wanted, before, { uid: "", name: target.name }), "status", before["status"])
      : prepared(served.kindKey, wanted, before, { uid: "", name: target.name });
  const claimed = managersGiven(metadata, stored);
  return finished(request, {
    stored,
    existing: stored,
    server: serverMetadataOf(stored.resource),
    content,
    managersOf: (completed) => updated(request, { before: shaped(resource, before), managers: claimed }, completed),
  });
}

/** Server-side apply of an object, or of its status. Throws ApiError. */
export function applied(request: WriteRequest, body: unknown): Stored {
  const { state, resource, target, options } = request;
  const served = servedOf(resource);
  if (!isMembers(body)) throw badRequest("error decoding YAML: the patch is no object");
  const given = named(withoutAbsent(body) as Members, request, { isUpdate: true, isApply: true });
  if (Object.hasOwn(membersAt(given, "metadata"), "managedFields")) throw badRequest("metadata.managedFields must be nil");
  requireDeclared(resource, given, target);
  const stored = served.store.get(target.namespace, target.name);
  const isStatus = target.subresource === "status";
  if (stored === undefined) {
    if (isStatus) throw notFoundError(resource, target.name);
    requireNamespace(request, target.name);
  } else {
    requireVersion(resource, membersAt(given, "metadata"), stored);
  }
  const server = stored === undefined ? newMetadata(request, membersAt(given, "metadata")) : serverMetadataOf(stored.resource);
  const live = stored === undefined ? {} : contentOf(stored.resource);
  const desired = isStatus ? ({ status: given["status"] ?? {} } as Content) : spokenFor(served, contentOf(given as AnyResource));
  const result = merged(request, { live, managers: stored?.managers ?? [], desired });
  const typed = typedContent(request, result.content, server);
  return finished(request, {
    stored,
    existing: stored,
    server,
    content: prepared(served.kindKey, withLastApplied(request, typed, given), stored === undefined ? undefined : live, {
      uid: server.uid ?? "",
      name: target.name,
    }),
    managersOf: () => result.managers,
  });

  function merged(
    _: WriteRequest,
    { live: content, managers, desired: wanted }: { live: Content; managers: readonly FieldManager[]; desired: Content },
  ) {
    try {
      return applyManaged<Content>(
        { content, managers },
        {
          desired: wanted,
          writer: writerOf(request, "Apply"),
          force: options.force,
          kindKey: served.kindKey,
          types: state.knowledge.fieldTypes(served.kindKey),
        },
      );
    } catch (error) {
      if (error instanceof ApplyConflict) throw applyConflict(error);
      throw error;
    }
  }
}

const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

/** What kubectl applied last stays right where it applies by the server now, as long as the object says it. */
function withLastApplied({ options }: WriteRequest, content: Content, given: Members): Content {
  const annotations = content.metadata?.annotations;
  if (options.manager !== "kubectl" || annotations?.[LAST_APPLIED] === undefined) return content;
  const { annotations: own, ...metadata } = membersAt(given, "metadata");
  const { [LAST_APPLIED]: _, ...kept } = (own ?? {}) as Readonly<Record<string, string>>;
  const applied = { ...given, metadata: Object.keys(kept).length === 0 ? metadata : { ...metadata, annotations: kept } };
  return { ...content, metadata: { ...content.metadata, annotations: { ...annotations, [LAST_APPLIED]: `${canonicalJson(applied)}\n` } } };
}

/** What was merged, with values of the right types. */
function typedContent({ resource, warn }: WriteRequest, content: Content, server: ServerMetadata): Content {
  const type = { kind: resource.kind, apiVersion: resource.apiVersion };
  const { metadata, ...rest } = content;
  const whole = { ...type, metadata: { name: server.name, ...metadata }, ...rest };
  return contentOf(typedBody(resource, whole, { fieldValidation: "Ignore" }, { warn }) as AnyResource);
}

function applyConflict({ conflicting }: ApplyConflict): ApiError {
  const causes = conflicting.flatMap(({ manager, contested }) => {
    const name = `${JSON.stringify(manager.manager)}${manager.subresource === "" ? "" : ` with subresource ${JSON.stringify(manager.subresource)}`}${manager.operation === "Update" ? ` using ${manager.apiVersion}` : ""}`;
    return [...contested].map((path) => ({
      reason: "FieldManagerConflict",
      message: `conflict with ${name}`,
      field: `.${formatPath(path)}`,
      name,
    }));
  });
  const ordered = [...causes].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : a.field < b.field ? -1 : 1));
  const [only] = ordered;
  const byName = new Map<string, string[]>();
  for (const { name, field } of ordered) byName.set(name, [...(byName.get(name) ?? []), field]);
  const words =
    ordered.length === 1 && only !== undefined
      ? `conflict with ${only.name}: ${only.field}`
      : [...byName].map(([name, fields]) => `conflicts with ${name}:\n${fields.map((field) => `- ${field}`).join("\n")}`).join("\n");
  const message = `Apply failed with ${ordered.length} conflict${ordered.length === 1 ? "" : "s"}: ${words}`;
  return new ApiError(409, "Conflict", message, {
    causes: ordered.map(({ reason, message: text, field }) => ({ reason, message: text, field })),
  });
}

/** Refuses fields that the kind does not have: server-side apply could not say whose they are. */
function requireDeclared({ struct, apiVersion, kind, custom }: ApiResource, given: Members, { name, namespace }: ResourceRequest): void {
  const unknown = struct === undefined ? [] : decodeAs(struct, given).unknown;
  if (unknown.length === 0 || custom !== undefined) return;
  const place = namespace === "" ? `/${name}` : `${namespace}/${name}`;
  const [group, version] = apiVersion.includes("/") ? apiVersion.split("/") : ["", apiVersion];
  const type = `${group === "" ? "" : `${group}/`}${version ?? ""}, Kind=${kind}`;
  const fields = unknown.map((field) => `.${keyedPath(field, given, struct)}: field not declared in schema`);
  const problem = fields.length === 1 ? fields[0] : `errors:\n${fields.map((field) => `  ${field}`).join("\n")}`;
  throw new ApiError(500, "", `failed to create typed patch object (${place}; ${type}): ${problem}`);
}

/** A path with the keys of elements in place of their positions. */
function keyedPath(path: string, object: Members, struct: GoStruct | undefined): string {
  const types = struct === undefined ? undefined : goFieldTypes(struct);
  let value: unknown = object;
  let plain = "";
  return path.replace(/([^.[\]]+)|\[(\d+)\]/g, (text, name: string | undefined, index: string | undefined) => {
    if (name !== undefined) {
      value = isMembers(value) ? value[name] : undefined;
      plain = plain === "" ? name : `${plain}.${name}`;
      return text;
    }
    const element: unknown = Array.isArray(value) ? value[Number(index)] : undefined;
    const keys = types?.listType(plain);
    value = element;
    if (!Array.isArray(keys) || !isMembers(element)) return text;
    return `[${keys.map((key) => `${key.name}=${JSON.stringify(element[key.name] ?? key.fallback)}`).join(",")}]`;
  });
}

interface Ending {
  readonly stored: Stored | undefined;
  readonly existing: Stored | undefined;
  readonly server: ServerMetadata;
  readonly content: Content;
  readonly managersOf: (content: Content) => readonly FieldManager[];
}

function finished(request: WriteRequest, { stored, existing, server, content, managersOf }: Ending): Stored {
  const { state, resource, options, target } = request;
  const served = servedOf(resource);
  const type = { apiVersion: storageVersionOf(served.kind), kind: served.kind.kind };
  // Completing a Service takes addresses and ports, so what is wrong with it is said before.
  if (served.kindKey === "/Service") {
    const given = assembled({ apiVersion: resource.apiVersion, kind: resource.kind }, server, content);
    const early = objectErrors(resource, given, stored?.resource, target);
    if (early.length > 0) throw invalidError(resource, server.name, early);
  }
  const completed = shaped(resource, completedContent(request, content, { stored, name: server.name }));
  const whole = assembled({ apiVersion: resource.apiVersion, kind: resource.kind }, server, completed);
  const errors = objectErrors(resource, whole, stored === undefined ? undefined : inVersion(stored.resource, resource.apiVersion), target);
  if (errors.length > 0) {
    if (stored === undefined) state.defaults.release(served.kindKey, completed);
    throw invalidError(resource, server.name, errors);
  }
  if (stored === undefined && existing !== undefined) {
    state.defaults.release(served.kindKey, completed);
    throw existsError(resource, server.name);
  }
  const next = { resource: keptIfEqual(stored?.resource, assembled(type, server, completed)), managers: managersOf(completed) };
  if (!options.dryRun) return state.commit(served, stored, next) ?? next;
  if (stored === undefined) state.defaults.release(served.kindKey, completed);
  return dryResult(served, stored, next);
}

/** What a write would give: it counts as a generation, and as no version. */
function dryResult({ kind }: Served, stored: Stored | undefined, next: Stored): Stored {
  if (!kind.generation) return next;
  const { metadata } = next.resource;
  const isSame = stored !== undefined && equalSpecs(contentOf(stored.resource), contentOf(next.resource), !kind.statusSubresource);
  const generation = stored === undefined ? 1 : (metadata.generation ?? 1) + (isSame ? 0 : 1);
  return { ...next, resource: { ...next.resource, metadata: { ...metadata, generation } } };
}

function completedContent(
  request: WriteRequest,
  content: Content,
  { stored, name }: { readonly stored: Stored | undefined; readonly name: string },
): Content {
  const { state, resource } = request;
  try {
    return state.complete(servedOf(resource), content, stored);
  } catch (error) {
    // An address that is not free, which the object's own checks cannot know.
    const problem = error instanceof Error ? error.message : "";
    const address = membersAt(content, "spec")["clusterIP"];
    if (problem.includes("is not free")) {
      const field = problem.startsWith("spec.clusterIP") ? "spec.clusterIPs" : "spec.ports[0].nodePort";
      const value = field === "spec.clusterIPs" ? JSON.stringify([address]) : (/\d+/.exec(problem)?.[0] ?? "");
      const words =
        field === "spec.clusterIPs"
          ? `failed to allocate IP ${String(address)}: provided IP is already allocated`
          : "provided port is already allocated";
      throw invalidError(resource, request.target.name || String(name), [
        { reason: "FieldValueInvalid", field, message: `Invalid value: ${value}: ${words}` },
      ]);
    }
    throw error;
  }
}

/** A content in the form of its struct. */
function shaped({ struct: own, served, kind, apiVersion }: ApiResource, content: Content): Content {
  if (own === undefined) return content;
  // Objects are kept in the form of one version.
  const struct = (served === undefined ? undefined : structOfKind(storageVersionOf(served.kind), kind)) ?? own;
  return contentOf(decodeAs(struct, { kind, apiVersion, ...content }).value as AnyResource);
}

/** The content of an object of which nothing is said. */
function emptyContent(resource: ApiResource): Content {
  // Nobody owns the finalizer that each namespace has from its start.
  if (resource.kind === "Namespace") return { spec: { finalizers: ["kubernetes"] }, status: {} };
  return resource.struct === undefined ? {} : contentOf(decodeAs(resource.struct, {}).value as AnyResource);
}

function updated(
  request: WriteRequest,
  { before, managers }: { readonly before: Content; readonly managers: readonly FieldManager[] },
  after: Content,
): readonly FieldManager[] {
  const { state, resource, target } = request;
  const { kindKey } = servedOf(resource);
  const types = state.knowledge.fieldTypes(kindKey);
  const changes = changesBetween(withMetadata(before), withMetadata(after), { kindKey, path: "", types }, { withParents: true });
  // Replicas that nobody owned stay so when they are scaled.
  const isOwned = [...changes.added, ...changes.modified].some((path) => managers.some(({ fields }) => fields.has(path)));
  if (target.subresource === "scale" && !isOwned) return managers;
  return afterUpdate(managers, { ...writerOf(request, "Update"), subresource: target.subresource }, changes);
}

/** A review with what its writer said of it, though nobody keeps it. */
export function claimed(request: WriteRequest, body: Members): Members {
  const { resource } = request;
  const { metadata: _, kind: __, apiVersion: ___, status: ____, ...spec } = body;
  const types = resource.struct === undefined ? undefined : goFieldTypes(resource.struct);
  const changes = changesBetween(emptyContent(resource), spec, { kindKey: "", path: "", types }, { withParents: true });
  const managers = afterUpdate([], writerOf(request, "Update"), { ...changes, removed: new Set() });
  if (managers.length === 0) return body;
  return { ...body, metadata: { ...membersAt(body, "metadata"), managedFields: managedFieldsOf(managers) } };
}

/** Metadata is there in any object, even where it says nothing. */
function withMetadata(content: Content): Content {
  return { ...content, metadata: content.metadata ?? {} };
}

function writerOf({ state, resource, options, target }: WriteRequest, operation: "Apply" | "Update"): Writer {
  return { manager: options.manager, operation, subresource: target.subresource, apiVersion: resource.apiVersion, time: state.now };
}

/** Whose fields are whose, where a writer says so: an empty list takes everybody's claims back. */
function managersGiven(metadata: Members, stored: Stored): readonly FieldManager[] {
  const given = metadata["managedFields"];
  if (!Array.isArray(given) || given.length === 0) return stored.managers;
  const entries = given.filter(isMembers).filter((entry) => typeof entry["manager"] === "string" && isMembers(entry["fieldsV1"]));
  if (entries.length === 0) return [];
  return managersFrom(entries as never);
}

function servedOf({ served }: ApiResource): Served {
  if (served === undefined) throw methodNotAllowed();
  return served;
}

function spokenFor({ kind }: Served, content: Content): Content {
  return kind.statusSubresource ? withMember(content, "status", undefined) : content;
}

/** The body with the name and the namespace of the URL. Throws ApiError where they differ. */
function named(body: Members, { resource, target }: WriteRequest, { isUpdate = false, isApply = false } = {}): Members {
  const metadata = membersAt(body, "metadata");
  const { name, namespace } = metadata;
  if (isApply && (body["kind"] === undefined || body["apiVersion"] === undefined)) {
    const [group = "", version = ""] = String(body["apiVersion"] ?? "").includes("/")
      ? String(body["apiVersion"]).split("/")
      : ["", String(body["apiVersion"] ?? "")];
    throw badRequest(`invalid object type: ${group}/${version}, Kind=${String(body["kind"] ?? "")}`);
  }
  if (isUpdate && name !== undefined && name !== "" && name !== target.name) {
    throw badRequest(`the name of the object (${String(name)}) does not match the name on the URL (${target.name})`);
  }
  if (resource.namespaced && namespace !== undefined && namespace !== "" && namespace !== target.namespace) {
    throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
  }
  return {
    ...body,
    metadata: { ...metadata, ...(isUpdate ? { name: target.name } : {}), ...(resource.namespaced ? { namespace: target.namespace } : {}) },
  };
}

function requireVersion(resource: ApiResource, { resourceVersion, uid, name }: Members, { resource: live }: Stored): void {
  if (uid !== undefined && uid !== "" && uid !== live.metadata.uid) {
    const place = live.metadata.namespace === undefined ? "" : `${live.metadata.namespace}/`;
    const key = `/registry/${resource.struct === undefined ? `${resource.group}/` : ""}${resource.plural}/${place}${String(name)}`;
    const problem = `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: ${String(uid)}, UID in object meta: ${live.metadata.uid ?? ""}`;
    throw conflictError(resource, String(name), problem);
  }
  if (resourceVersion === undefined || resourceVersion === "" || resourceVersion === "0") return;
  if (!/^\d{1,19}$/.test(String(resourceVersion))) {
    throw new ApiError(500, "", `strconv.ParseUint: parsing ${JSON.stringify(resourceVersion)}: invalid syntax`);
  }
  if (resourceVersion !== live.metadata.resourceVersion) throw conflictError(resource, String(name));
}

function requireNamespace({ state, resource, target }: WriteRequest, name: string): void {
  if (target.namespace === "" || !resource.namespaced) return;
  const found = state.find({ apiVersion: "v1", kind: "Namespace", namespace: "", name: target.namespace });
  if (found === undefined) throw notFoundError({ group: "", plural: "namespaces" }, target.namespace);
  if (found.metadata.deletionTimestamp === undefined) return;
  const problem = `unable to create new content in namespace ${target.namespace} because it is being terminated`;
  const refusal = forbiddenError(resource, name, problem);
  const causes = [
    { reason: "NamespaceTerminating", message: `namespace ${target.namespace} is being terminated`, field: "metadata.namespace" },
  ];
  throw new ApiError(403, "Forbidden", refusal.message, { ...refusal.details, causes });
}

const SUFFIX = "bcdfghjklmnpqrstvwxz2456789";

function newMetadata({ state, target }: WriteRequest, { name, generateName }: Members): ServerMetadata {
  const prefix = typeof generateName === "string" ? generateName : "";
  const given = typeof name === "string" ? name : "";
  const uid = state.newUid();
  return {
    name: given === "" && prefix !== "" ? prefix.slice(0, 58) + suffixFrom(uid) : given,
    ...(prefix === "" ? {} : { generateName: prefix }),
    ...(target.namespace === "" ? {} : { namespace: target.namespace }),
    ...(state.name === "" ? {} : { clusterName: state.name }),
    uid,
    creationTimestamp: state.now,
  } as ServerMetadata;
}

/** Five letters, other ones for each object. */
function suffixFrom(uid: string): string {
  let rest = Number.parseInt(uid.slice(-8), 16) * 7919 + Number.parseInt(uid.slice(0, 8), 16);
  let text = "";
  for (let i = 0; i < 5; i++) {
    text += SUFFIX[rest % SUFFIX.length];
    rest = Math.floor(rest / SUFFIX.length);
  }
  return text;
}
