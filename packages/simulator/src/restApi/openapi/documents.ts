import { createHash } from "node:crypto";
import { isMembers, type Members, membersAt } from "../../apply/json.ts";
import { VERSION } from "../discovery.ts";
import type { ApiResource, ResourceTable } from "../resourceTable.ts";
import { builtInSchemas, schemasReachedFrom } from "./schemas.ts";

const METADATA = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";
const INFO = { title: "Kubernetes", version: VERSION.gitVersion };

/** OpenAPI documents of a table of resources: made when they are asked for, and kept while the table is the same. */
export interface OpenApiDocuments {
  /** `/openapi/v3`. */
  index(): Members;
  /** One of them, as JSON: `api/v1`, `apis/apps/v1`. */
  document(path: string): string | undefined;
  /** `/openapi/v2`, without what it says of built-in kinds beside their schemas. */
  v2(): string;
}

/** The documents of the resources that `table` gives at each time. */
export function openApiDocuments(table: () => ResourceTable): OpenApiDocuments {
  let made: { readonly table: ResourceTable; readonly texts: Map<string, string> } | undefined;
  function texts(): Map<string, string> {
    const current = table();
    // What custom kinds say changes with each table; built-in kinds say the same.
    if (made?.table !== current) made = { table: current, texts: new Map() };
    return made.texts;
  }
  function textOf(path: string, make: () => Members | undefined): string | undefined {
    const known = texts().get(path);
    if (known !== undefined) return known;
    const document = make();
    if (document === undefined) return undefined;
    const text = JSON.stringify(document);
    texts().set(path, text);
    return text;
  }
  return {
    index() {
      const current = table();
      const paths = current.groups.flatMap(({ name, versions }) =>
        versions.map((version) => (name === "" ? `api/${version}` : `apis/${name}/${version}`)),
      );
      const entries = paths.sort().map((path) => [path, { serverRelativeURL: `/openapi/v3/${path}?hash=${hashOf(current, path)}` }]);
      return { paths: Object.fromEntries(entries) };
    },
    document: (path) => textOf(path, () => versionDocument(table(), path)),
    v2: () => textOf("v2", () => v2Document(table())) ?? "",
  };
}

/** Changes with what a document says: clients keep documents by it. */
function hashOf(table: ResourceTable, path: string): string {
  const resources = resourcesAt(table, path).map(({ plural, custom, subresources }) => [
    plural,
    custom?.schema,
    subresources.map(({ name }) => name),
  ]);
  return createHash("sha256")
    .update(JSON.stringify([path, VERSION.gitVersion, resources]))
    .digest("hex")
    .toUpperCase();
}

function resourcesAt(table: ResourceTable, path: string): readonly ApiResource[] {
  const [prefix, ...rest] = path.split("/");
  return prefix === "api" ? table.of("", rest[0] ?? "") : table.of(rest[0] ?? "", rest[1] ?? "");
}

function versionDocument(table: ResourceTable, path: string): Members | undefined {
  const resources = resourcesAt(table, path);
  if (resources.length === 0) return undefined;
  const paths: Record<string, Members> = {};
  const schemas: Record<string, Members> = {};
  const builtIn: string[] = [];
  for (const resource of resources) {
    const name = schemaNameOf(resource);
    if (resource.struct === undefined) schemas[name] = customSchema(resource);
    else builtIn.push(name, `${name}List`);
    addPaths(paths, resource, name);
  }
  builtIn.push(METADATA, "io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta", "io.k8s.apimachinery.pkg.apis.meta.v1.Status");
  return { openapi: "3.0.0", info: INFO, paths, components: { schemas: sorted({ ...schemasReachedFrom(builtIn), ...schemas }) } };
}

function sorted(schemas: Readonly<Record<string, Members>>): Members {
  return Object.fromEntries(Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1)));
}

let names: Map<string, string> | undefined;

/** The name of the schema of a kind. */
function schemaNameOf({ group, version, kind }: ApiResource): string {
  names ??= namesByKind();
  const custom = `${group.split(".").reverse().join(".")}.${version}.${kind}`;
  return names.get(`${group}/${version}/${kind}`) ?? custom;
}

function namesByKind(): Map<string, string> {
  const found = new Map<string, string>();
  for (const [name, schema] of Object.entries(builtInSchemas())) {
    const kinds = schema["x-kubernetes-group-version-kind"];
    if (!Array.isArray(kinds) || kinds.length !== 1) continue;
    const { group, version, kind } = kinds[0] as { readonly group: string; readonly version: string; readonly kind: string };
    found.set(`${group}/${version}/${kind}`, name);
  }
  return found;
}

const OF_TYPE: Readonly<Record<string, Members>> = {
  apiVersion: {
    description:
      "APIVersion defines the versioned schema of this representation of an object. Servers should convert recognized schemas to the latest internal value, and may reject unrecognized values. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources",
    type: "string",
  },
  kind: {
    description:
      "Kind is a string value representing the REST resource this object represents. Servers may infer this from the endpoint the client submits requests to. Cannot be updated. In CamelCase. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds",
    type: "string",
  },
};

function customSchema({ group, version, kind, custom }: ApiResource): Members {
  const type = { "x-kubernetes-group-version-kind": [{ group, version, kind }] };
  const schema = custom?.schema;
  if (schema === undefined || schema["x-kubernetes-preserve-unknown-fields"] === true) {
    return { type: "object", "x-kubernetes-preserve-unknown-fields": true, ...described(schema), ...type };
  }
  const metadata = {
    description:
      "Standard object's metadata. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata",
    allOf: [{ $ref: `#/components/schemas/${METADATA}` }],
  };
  return { ...schema, properties: { ...membersAt(schema, "properties"), ...OF_TYPE, metadata }, ...type };
}

function described(schema: Members | undefined): Members {
  return typeof schema?.["description"] === "string" ? { description: schema["description"] } : {};
}

const PATCHES = ["application/json-patch+json", "application/merge-patch+json", "application/apply-patch+yaml"];
const PARAMETERS = ["dryRun", "fieldManager", "fieldValidation"].map((name) => ({
  name,
  in: "query",
  schema: { type: "string", uniqueItems: true },
}));

function addPaths(paths: Record<string, Members>, resource: ApiResource, schemaName: string): void {
  const { group, version, kind, plural, namespaced, verbs, struct } = resource;
  const prefix = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
  const collection = namespaced ? `${prefix}/namespaces/{namespace}/${plural}` : `${prefix}/${plural}`;
  const type = { "x-kubernetes-group-version-kind": { group, version, kind } };
  const schema = { $ref: `#/components/schemas/${schemaName}` };
  const content = { "application/json": { schema } };
  const operation = (action: string): Members => ({
    ...type,
    "x-kubernetes-action": action,
    responses: { "200": { description: "OK", content } },
  });
  const written = (action: string): Members => ({
    ...operation(action),
    parameters: PARAMETERS,
    requestBody: { required: true, content: { "*/*": { schema } } },
  });
  const patches = struct === undefined ? PATCHES : [...PATCHES, "application/strategic-merge-patch+json"];
  const patch = {
    ...operation("patch"),
    parameters: [...PARAMETERS, { name: "force", in: "query", schema: { type: "boolean", uniqueItems: true } }],
    requestBody: { required: true, content: Object.fromEntries(patches.map((each) => [each, { schema: { type: "object" } }])) },
  };
  const has = (verb: string) => verbs.includes(verb);
  if (has("list") || has("create")) {
    paths[collection] = { ...(has("list") ? { get: operation("list") } : {}), ...(has("create") ? { post: written("post") } : {}) };
  }
  if (!has("get")) return;
  paths[`${collection}/{name}`] = {
    get: operation("get"),
    ...(has("update") ? { put: written("put") } : {}),
    ...(has("patch") ? { patch } : {}),
    ...(has("delete") ? { delete: operation("delete") } : {}),
  };
}

function v2Document(table: ResourceTable): Members {
  const definitions: Record<string, unknown> = { ...builtInSchemas() };
  const paths: Record<string, Members> = {};
  for (const resource of table.all) {
    const name = schemaNameOf(resource);
    if (resource.struct === undefined) definitions[name] = customSchema(resource);
    const of: Record<string, Members> = {};
    addPaths(of, resource, name);
    for (const [path, operations] of Object.entries(of)) paths[path] = swaggerOperations(operations);
  }
  return { swagger: "2.0", info: INFO, paths, definitions: rewritten(definitions) };
}

function swaggerOperations(operations: Members): Members {
  const plain = (operation: unknown) =>
    isMembers(operation)
      ? {
          "x-kubernetes-group-version-kind": operation["x-kubernetes-group-version-kind"],
          "x-kubernetes-action": operation["x-kubernetes-action"],
          responses: { "200": { description: "OK" } },
        }
      : operation;
  return Object.fromEntries(Object.entries(operations).map(([method, operation]) => [method, plain(operation)]));
}

function rewritten(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(rewritten);
  if (!isMembers(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      name === "$ref" && typeof member === "string" ? member.replace("#/components/schemas/", "#/definitions/") : rewritten(member),
    ]),
  );
}
