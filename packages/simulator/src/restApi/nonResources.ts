import { methodNotAllowed } from "./apiError.ts";
import { aggregated, coreVersions, groupDocument, groupList, resourceList, VERSION } from "./discovery.ts";
import type { OpenApiDocuments } from "./openapi/documents.ts";
import type { RequestInfo } from "./requestInfo.ts";
import type { ResourceTable } from "./resourceTable.ts";
import type { Answer } from "./responses.ts";

export interface Documents {
  readonly table: () => ResourceTable;
  readonly documents: OpenApiDocuments;
  readonly address: () => string;
}

const HEALTH: ReadonlySet<string> = new Set(["/healthz", "/livez", "/readyz"]);
const CHECKS: Readonly<Record<string, readonly string[]>> = {
  "/healthz": ["ping", "log", "etcd"],
  "/livez": ["ping", "log", "etcd"],
  "/readyz": ["ping", "log", "etcd", "informer-sync", "shutdown"],
};
const AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
const NOT_FOUND: Answer = { code: 404, text: "404 page not found\n" };

/** The answer to a request for no resource: discovery, OpenAPI, health, version. Throws ApiError. */
export function documentFor({ table, documents, address }: Documents, { method, path, query }: RequestInfo, accept: string): Answer {
  if (method !== "GET" && method !== "HEAD") throw methodNotAllowed();
  const place = path.replace(/\/+$/, "") || "/";
  if (HEALTH.has(place)) return { code: 200, text: query.has("verbose") ? verbose(place) : "ok" };
  if (/^\/(healthz|livez|readyz)\/[a-z-]+$/.test(place))
    return CHECKS[`/${place.split("/")[1] ?? ""}`]?.includes(place.split("/")[2] ?? "") === true ? { code: 200, text: "ok" } : NOT_FOUND;
  if (place === "/version") return { code: 200, text: JSON.stringify(VERSION, null, 2), contentType: "application/json" };
  if (place === "/openapi/v3") return { code: 200, body: documents.index() };
  if (place === "/openapi/v2") return openApiV2(documents, accept);
  if (place.startsWith("/openapi/v3/")) {
    const text = documents.document(place.slice("/openapi/v3/".length));
    return text === undefined ? NOT_FOUND : { code: 200, text, contentType: "application/json" };
  }
  if (place === "/") return { code: 200, body: { paths: rootPaths(table()) } };
  if (place === "/api" || place === "/apis") {
    const isCore = place === "/api";
    if (accept.includes("as=APIGroupDiscoveryList"))
      return { code: 200, body: aggregated(table(), { core: isCore }), contentType: AGGREGATED };
    return { code: 200, body: isCore ? coreVersions(address()) : groupList(table()) };
  }
  const [, prefix, first = "", second = "", ...more] = place.split("/");
  if (more.length > 0) return NOT_FOUND;
  const body =
    prefix === "api" && second === ""
      ? resourceList(table(), "", first)
      : prefix === "apis"
        ? second === ""
          ? groupDocument(table(), first)
          : resourceList(table(), first, second)
        : undefined;
  return body === undefined ? NOT_FOUND : { code: 200, body };
}

function openApiV2(documents: OpenApiDocuments, accept: string): Answer {
  // In protobuf it says no more than that it is there: who asks for it has looked into version 3 first, and looks here for kinds that are not served.
  if (accept.includes("protobuf"))
    return { code: 200, text: EMPTY_SWAGGER, contentType: "application/com.github.proto-openapi.spec.v2.v1.0+protobuf" };
  return { code: 200, text: documents.v2(), contentType: "application/json" };
}

/** Swagger "2.0", of which nothing is said but a title and a version. */
const EMPTY_SWAGGER = "\n\u00032.0\u0012\u000f\n\nKubernetes\u0012\u00011";

function verbose(place: string): string {
  const checks = (CHECKS[place] ?? []).map((check) => `[+]${check} ok\n`);
  return `${checks.join("")}${place.slice(1)} check passed\n`;
}

function rootPaths({ groups }: ResourceTable): readonly string[] {
  const named = groups.filter(({ name }) => name !== "");
  const apis = named.flatMap(({ name, versions }) => [`/apis/${name}`, ...versions.map((version) => `/apis/${name}/${version}`)]);
  const others = [
    "/.well-known/openid-configuration",
    "/api",
    "/api/v1",
    "/apis",
    "/apis/",
    "/healthz",
    "/livez",
    "/openapi/v2",
    "/openapi/v3",
    "/readyz",
    "/version",
  ];
  return [...others, ...apis].sort();
}
