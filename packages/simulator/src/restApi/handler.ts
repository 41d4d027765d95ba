import type { IncomingMessage, ServerResponse } from "node:http";
import { ClusterError } from "@isthmus/ports";
import { type Members, membersAt } from "../apply/json.ts";
import type { SimulatedState } from "../state.ts";
import { type Attributes, authorized, refusalText } from "./access/rbac.ts";
import { requestedToken, reviewed } from "./access/reviews.ts";
import { ANONYMOUS, type Tokens, type User } from "./access/users.ts";
import { ApiError, badRequest, forbiddenError, invalidError, methodNotAllowed, notFoundError, unknownResourceError } from "./apiError.ts";
import { mediaType, objectIn, readBody, unrecognized } from "./bodies.ts";
import { invalid } from "./fieldErrors.ts";
import { pageOf } from "./listing.ts";
import { documentFor } from "./nonResources.ts";
import type { OpenApiDocuments } from "./openapi/documents.ts";
import { deleteOptions, type WriteOptions, writeOptions } from "./options.ts";
import { patchedObject } from "./patches/patched.ts";
import { rendered } from "./rendering.ts";
import { type RequestInfo, type ResourceRequest, requestInfoOf } from "./requestInfo.ts";
import type { ApiResource, ResourceTable } from "./resourceTable.ts";
import { formOf, shownIn } from "./responseForm.ts";
import { type Answer, answer, answerStatus } from "./responses.ts";
import { evicted, scaledObject, scaleOf } from "./subresources.ts";
import { answerWatch } from "./watching.ts";
import { removed } from "./writing/remove.ts";
import { typedBody } from "./writing/typed.ts";
import { applied, claimed, created, replaced, type WriteRequest } from "./writing/write.ts";

/** What one API server answers from. */
export interface Serving {
  readonly state: SimulatedState;
  readonly table: () => ResourceTable;
  readonly documents: OpenApiDocuments;
  readonly tokens: Tokens;
  /** Deletes what depends on deleted objects, as no controller does it. */
  readonly collects: boolean;
  readonly bookmarkMs: number;
  readonly address: () => string;
  /** Ends watches. */
  readonly signal: AbortSignal;
  readonly watches: { left: number };
}

/** Answers one request. Never rejects: what goes wrong is an answer. */
export async function handle(served: Serving, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const warnings: string[] = [];
  try {
    await answerRequest(served, request, response, warnings);
  } catch (error) {
    answerStatus(request, response, refusalOf(error), warnings);
  }
}

function refusalOf(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof ClusterError) return new ApiError(422, "Invalid", error.message);
  return new ApiError(500, "InternalError", "Internal error occurred: the request could not be answered", {
    causes: [{ reason: "", message: error instanceof Error ? error.message : String(error) }],
  });
}

const VERBS: Readonly<Record<string, string>> = {
  GET: "get",
  HEAD: "get",
  POST: "create",
  PUT: "update",
  PATCH: "patch",
  DELETE: "delete",
};

async function answerRequest(served: Serving, request: IncomingMessage, response: ServerResponse, warnings: string[]): Promise<void> {
  const info = requestInfoOf(request.method ?? "GET", request.url ?? "/");
  if (info === undefined) throw badRequest("the URL of the request cannot be read");
  const user = impersonated(served, userOf(served, request), request);
  requireAccess(served, user, info);
  if (info.resource === undefined) {
    const document = documentFor(served, info, request.headers.accept ?? "");
    return answer(request, response, document, warnings);
  }
  const { group, version, plural } = info.resource;
  const resource = served.table().find(group, version, plural);
  if (resource === undefined) {
    if (served.table().groups.every(({ name }) => name !== group))
      return answer(request, response, { code: 404, text: "404 page not found\n" }, warnings);
    throw unknownResourceError();
  }
  const context = {
    served,
    request,
    response,
    info,
    resource,
    target: inPlace(resource, info.resource),
    user,
    warn: (text: string) => void warnings.push(text),
  };
  const result = await answerResource(context);
  if (result !== undefined) answer(request, response, result, warnings);
}

function userOf({ tokens, state }: Serving, { headers }: IncomingMessage): User {
  const { authorization = "" } = headers;
  if (authorization === "") return ANONYMOUS;
  const token = /^Bearer (.+)$/i.exec(authorization)?.[1];
  let user: User | undefined;
  try {
    user = token === undefined ? undefined : tokens.userOf(token, state.clock.now());
  } catch {
    user = undefined;
  }
  if (user === undefined) throw new ApiError(401, "Unauthorized", "Unauthorized");
  return user;
}

/** As whom a user wants to be seen. Throws ApiError `Forbidden` for one who may not. */
function impersonated({ state }: Serving, user: User, { headers }: IncomingMessage): User {
  const name = headers["impersonate-user"];
  if (typeof name !== "string" || name === "") return user;
  const given = headers["impersonate-group"];
  const groups = given === undefined ? [] : Array.isArray(given) ? given : given.split(",").map((each) => each.trim());
  for (const [resource, each] of [["users", name] as const, ...groups.map((group) => ["groups", group] as const)]) {
    const asked = { verb: "impersonate", group: "", resource, subresource: "", namespace: "", name: each, path: undefined };
    if (!authorized(state, user, asked).allowed) throw forbiddenError({ group: "", plural: resource }, each, refusalText(user, asked));
  }
  const account = /^system:serviceaccount:([^:]+):/.exec(name)?.[1];
  const implied = account === undefined ? [] : ["system:serviceaccounts", `system:serviceaccounts:${account}`];
  const all = [...groups, ...(groups.length === 0 ? implied : [])];
  return { name, uid: "", groups: name === ANONYMOUS.name ? all : [...all, "system:authenticated"] };
}

function requireAccess({ state }: Serving, user: User, info: RequestInfo): void {
  const attributes = attributesOf(info);
  if (authorized(state, user, attributes).allowed) return;
  if (info.resource === undefined) throw new ApiError(403, "Forbidden", `forbidden: ${refusalText(user, attributes)}`, {});
  const { group, plural, name } = info.resource;
  throw forbiddenError({ group, plural }, name, refusalText(user, attributes));
}

function attributesOf({ method, path, query, resource }: RequestInfo): Attributes {
  const verb = VERBS[method] ?? method.toLowerCase();
  if (resource === undefined) return { verb, group: "", resource: "", subresource: "", namespace: "", name: "", path };
  const { group, plural, namespace, name, subresource } = resource;
  const isWatch = verb === "get" && (query.get("watch") === "true" || query.get("watch") === "1");
  const ofMany = name === "" ? (verb === "get" ? "list" : verb === "delete" ? "deletecollection" : verb) : verb;
  return { verb: isWatch ? "watch" : ofMany, group, resource: plural, subresource, namespace, name, path: undefined };
}

/** A namespace's name stands where the namespace of other objects stands. */
function inPlace(resource: ApiResource, target: ResourceRequest): ResourceRequest {
  return resource.namespaced ? target : { ...target, namespace: "" };
}

interface Context {
  readonly served: Serving;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly info: RequestInfo;
  readonly resource: ApiResource;
  readonly target: ResourceRequest;
  readonly user: User;
  readonly warn: (text: string) => void;
}

type Answered = Answer;

const DEPRECATED: Readonly<Record<string, string>> = {
  "/endpoints": "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
  "/componentstatuses": "v1 ComponentStatus is deprecated in v1.19+",
};

const CUSTOM_SUBRESOURCES: ReadonlySet<string> = new Set(["status", "scale"]);

async function answerResource(context: Context): Promise<Answered | undefined> {
  const { info, resource, target, warn } = context;
  const deprecation = resource.custom?.deprecation ?? DEPRECATED[`${resource.group}/${resource.plural}`];
  if (deprecation !== undefined) warn(deprecation);
  const hasSubresource = target.subresource === "" || resource.subresources.some(({ name }) => name === target.subresource);
  if (!hasSubresource)
    throw resource.custom !== undefined && CUSTOM_SUBRESOURCES.has(target.subresource)
      ? notFoundError(resource, target.name)
      : unknownResourceError();
  if (resource.namespaced && target.namespace === "" && (target.name !== "" || info.method === "POST"))
    throw info.method === "POST" ? methodNotAllowed() : unknownResourceError();
  switch (info.method) {
    case "GET":
    case "HEAD":
      return target.name === "" || isWatch(info) ? many(context) : one(context);
    case "POST":
      return post(context);
    case "PUT":
      return put(context);
    case "PATCH":
      return patch(context);
    case "DELETE":
      return target.name === "" ? removeMany(context) : removeOne(context);
    default:
      throw methodNotAllowed();
  }
}

function isWatch({ query }: RequestInfo): boolean {
  return query.get("watch") === "true" || query.get("watch") === "1";
}

function requireVerb({ resource, target }: Context, verb: string): void {
  const verbs =
    target.subresource === "" ? resource.verbs : (resource.subresources.find(({ name }) => name === target.subresource)?.verbs ?? []);
  if (!verbs.includes(verb)) throw methodNotAllowed();
}

async function many(context: Context): Promise<Answered | undefined> {
  const { served, request, response, info, resource, target } = context;
  const form = formOf(request.headers.accept ?? "", info.query);
  if (!isWatch(info)) {
    requireVerb(context, "list");
    const list = pageOf(served.state, info, resource, target);
    return { code: 200, body: shownIn(form, resource, list, served.state.clock.now()) };
  }
  requireVerb(context, "watch");
  if (served.watches.left <= 0)
    throw new ApiError(429, "TooManyRequests", "too many watches are open, please try again later", { retryAfterSeconds: 1 });
  served.watches.left--;
  try {
    const shown = (object: Members) =>
      shownIn(
        form,
        resource,
        { items: [object], metadata: { resourceVersion: membersAt(object, "metadata")["resourceVersion"] }, isOne: true },
        served.state.clock.now(),
      );
    const { state, bookmarkMs, signal } = served;
    await answerWatch({ state, request: info, resource, target, shown, response, bookmarkMs }, signal);
  } finally {
    served.watches.left++;
  }
  return undefined;
}

function one(context: Context): Answered {
  const { served, request, info, resource, target } = context;
  requireVerb(context, "get");
  const stored = resource.served?.store.get(target.namespace, target.name);
  if (stored === undefined) throw notFoundError(resource, target.name);
  if (target.subresource === "scale") return { code: 200, body: scaleOf(resource, stored) };
  if (STREAMS.has(target.subresource)) throw unstreamable(context);
  // Nothing runs in a simulated pod that could write a log.
  if (target.subresource === "log") return { code: 200, text: "" };
  if (target.subresource !== "" && target.subresource !== "status")
    throw badRequest(`a simulated cluster has no ${target.subresource} of ${resource.plural}`);
  const object = rendered(resource, stored);
  const list = { items: [object], metadata: { resourceVersion: stored.resource.metadata.resourceVersion }, isOne: true };
  return { code: 200, body: shownIn(formOf(request.headers.accept ?? "", info.query), resource, list, served.state.clock.now()) };
}

function writing(
  { served, request, info, resource, target, warn }: Context,
  kind: "CreateOptions" | "UpdateOptions" | "PatchOptions",
): WriteRequest {
  const isApply = kind === "PatchOptions" && mediaType(request).startsWith("application/apply-patch");
  const options: WriteOptions = writeOptions(info.query, kind, { userAgent: request.headers["user-agent"] ?? "", isApply });
  return { state: served.state, resource, target, options, warn };
}

function written({ resource, request, info, served }: Context, code: number, stored: Parameters<typeof rendered>[1]): Answered {
  const list = {
    items: [rendered(resource, stored)],
    metadata: { resourceVersion: stored.resource.metadata.resourceVersion },
    isOne: true,
  };
  return { code, body: shownIn(formOf(request.headers.accept ?? "", info.query), resource, list, served.state.clock.now()) };
}

const STREAMS: ReadonlySet<string> = new Set(["exec", "attach", "portforward"]);

function unstreamable({ resource, target }: Context): ApiError {
  const stored = resource.served?.store.get(target.namespace, target.name);
  if (stored === undefined) return notFoundError(resource, target.name);
  const { nodeName } = membersAt(stored.resource, "spec");
  return badRequest(
    nodeName === undefined ? `pod ${target.name} does not have a host assigned` : `nothing runs in the simulated pod ${target.name}`,
  );
}

async function post(context: Context): Promise<Answered> {
  const { served, request, resource, target, user, warn } = context;
  requireVerb(context, "create");
  if (STREAMS.has(target.subresource)) throw unstreamable(context);
  const bytes = await readBody(request);
  const kind =
    target.subresource === "" ? resource.kind : (resource.subresources.find(({ name }) => name === target.subresource)?.kind ?? "");
  const body = objectIn(bytes, mediaType(request), kind) ?? {};
  requireObject(body, kind, bytes);
  const { state, tokens } = served;
  if (target.subresource === "eviction") {
    evicted(state, target, (body ?? {}) as Members);
    return { code: 201, body: { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 } };
  }
  if (target.subresource === "token") return { code: 201, body: requestedToken((body ?? {}) as Members, { state, user, tokens, target }) };
  const options = writing(context, "CreateOptions");
  if (resource.served === undefined) {
    const typed = typedBody(resource, body, options.options, { warn });
    const answered = reviewed(resource, claimed(options, typed), { state, user, tokens, target });
    if (answered !== undefined) return { code: 201, body: answered };
    throw methodNotAllowed();
  }
  if (target.name !== "") throw methodNotAllowed();
  return written(context, 201, created(options, body));
}

const TYPE_META = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';

function requireObject(body: unknown, kind: string, bytes: Buffer): void {
  if (typeof body === "object" && !Array.isArray(body)) return;
  const word = Array.isArray(body) ? "array" : typeof body === "boolean" ? "bool" : typeof body;
  throw unrecognized(
    kind,
    `couldn't get version/kind; json parse error: json: cannot unmarshal ${word} into Go value of type ${TYPE_META}`,
    bytes,
  );
}

async function put(context: Context): Promise<Answered> {
  const { request, resource, target } = context;
  requireVerb(context, "update");
  const bytes = await readBody(request);
  const body = objectIn(bytes, mediaType(request), resource.kind) ?? {};
  requireObject(body, resource.kind, bytes);
  const options = writing(context, "UpdateOptions");
  if (target.subresource === "scale") {
    const stored = resource.served?.store.get(target.namespace, target.name);
    if (stored === undefined) throw notFoundError(resource, target.name);
    const after = replaced(options, scaledObject(resource, stored, (body ?? {}) as Members));
    return { code: 200, body: scaleOf(resource, after) };
  }
  if (target.subresource === "finalize") return { code: 200, body: finalized(context, (body ?? {}) as Members) };
  const existing = resource.served?.store.get(target.namespace, target.name);
  // Some kinds are made by PUT, too; none of those that users write here is.
  if (existing === undefined && ALLOWS_CREATE.has(resource.served?.kindKey ?? "")) {
    return written(context, 201, created({ ...options, target }, withName(body, target.name)));
  }
  return written(context, 200, replaced(options, body));
}

const ALLOWS_CREATE: ReadonlySet<string> = new Set([
  "/Event",
  "/Endpoints",
  "/LimitRange",
  "coordination.k8s.io/Lease",
  "rbac.authorization.k8s.io/Role",
  "rbac.authorization.k8s.io/RoleBinding",
  "rbac.authorization.k8s.io/ClusterRole",
  "rbac.authorization.k8s.io/ClusterRoleBinding",
]);

function withName(body: unknown, name: string): unknown {
  return typeof body === "object" && body !== null ? { ...body, metadata: { ...membersAt(body as Members, "metadata"), name } } : body;
}

/** The finalizers of a namespace's spec go by this request alone: here the namespace goes when it is empty. */
function finalized({ resource, target }: Context, _: Members): Members {
  const stored = resource.served?.store.get("", target.name);
  if (stored === undefined) throw notFoundError(resource, target.name);
  return rendered(resource, stored);
}

async function patch(context: Context): Promise<Answered> {
  const { request, resource, target } = context;
  requireVerb(context, "patch");
  const type = mediaType(request);
  const bytes = await readBody(request);
  const options = writing(context, "PatchOptions");
  const stored = resource.served?.store.get(target.namespace, target.name);
  const isScale = target.subresource === "scale";
  const change = patchedObject(resource, type, bytes);
  if (change.form === "apply") {
    if (isScale) throw badRequest("a Scale is not applied here: update or patch it");
    const code = stored === undefined ? 201 : 200;
    return written(context, code, applied(options, change.object));
  }
  if (stored === undefined) throw notFoundError(resource, target.name);
  if (isScale) {
    const after = replaced(options, scaledObject(resource, stored, change.applyTo(scaleOf(resource, stored)).object));
    return { code: 200, body: scaleOf(resource, after) };
  }
  const { object, wording } = change.applyTo(rendered(resource, stored));
  const { uid } = membersAt(object, "metadata");
  if (uid !== undefined && uid !== stored.resource.metadata.uid)
    throw invalidError(resource, target.name, [invalid("metadata.uid", uid, "field is immutable")]);
  return written(context, 200, replaced({ ...options, wording }, object));
}

async function deleteBody({ request }: Context): Promise<Members> {
  const bytes = await readBody(request);
  const body = bytes.length === 0 ? {} : objectIn(bytes, mediaType(request), "DeleteOptions");
  return (typeof body === "object" && body !== null ? body : {}) as Members;
}

async function removeOne(context: Context): Promise<Answered> {
  const { served, info, resource, target } = context;
  if (target.subresource !== "") throw methodNotAllowed();
  requireVerb(context, "delete");
  const options = deleteOptions(info.query, await deleteBody(context));
  const { state, collects } = served;
  const { last, isGone } = removed({ state, resource, target, options, collects });
  if (!isGone || resource.served?.kindKey === "/Pod" || resource.served?.kindKey === "/Service") return written(context, 200, last);
  const { group, plural } = resource;
  const { uid } = last.resource.metadata;
  const details = { name: target.name, ...(group === "" ? {} : { group }), kind: plural, uid };
  return { code: 200, body: { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", details } };
}

async function removeMany(context: Context): Promise<Answered> {
  const { served, info, resource, target } = context;
  requireVerb(context, "deletecollection");
  const options = deleteOptions(info.query, await deleteBody(context));
  const { state, collects } = served;
  const { items, metadata } = pageOf(state, info, resource, target);
  for (const item of items) {
    const { name, namespace } = membersAt(item, "metadata") as { readonly name: string; readonly namespace?: string };
    removed({ state, resource, target: { ...target, name, namespace: namespace ?? "" }, options, collects });
  }
  return { code: 200, body: shownIn({ form: "object" }, resource, { items, metadata }, state.clock.now()) };
}
