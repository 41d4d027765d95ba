/** What a request asks for, by its path. */
export interface RequestInfo {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly resource: ResourceRequest | undefined;
}

/** A request for a resource. */
export interface ResourceRequest {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  /** "" for all namespaces, and for kinds without. */
  readonly namespace: string;
  readonly name: string;
  readonly subresource: string;
}

const NAMESPACE_SUBRESOURCES: ReadonlySet<string> = new Set(["status", "finalize"]);

/**
 * Reads a path as API servers do. Undefined for a URL that cannot be read. Source: apiserver, pkg/endpoints/request/requestinfo.go.
 */
export function requestInfoOf(method: string, url: string): RequestInfo | undefined {
  let parsed: URL;
  let parts: readonly string[];
  try {
    parsed = new URL(url, "https://localhost");
    parts = parsed.pathname
      .split("/")
      .filter((part) => part !== "")
      .map(decodeURIComponent);
  } catch {
    return undefined;
  }
  // An old way to ask for a watch.
  const at = parts[0] === "api" ? 2 : 3;
  const isWatch = parts[at] === "watch" && parts.length > at + 1;
  const query = new URLSearchParams(parsed.searchParams);
  if (isWatch) query.set("watch", "true");
  const resource = resourceOf(isWatch ? parts.filter((_, i) => i !== at) : parts);
  return { method, path: parsed.pathname, query, resource };
}

function resourceOf(parts: readonly string[]): ResourceRequest | undefined {
  const [prefix, ...rest] = parts;
  if (prefix === "api" && rest.length >= 2) return within("", rest[0] ?? "", rest.slice(1));
  if (prefix === "apis" && rest.length >= 3) return within(rest[0] ?? "", rest[1] ?? "", rest.slice(2));
  return undefined;
}

function within(group: string, version: string, parts: readonly string[]): ResourceRequest {
  const type = { group, version };
  const [first = "", second = "", third = ""] = parts;
  if (first !== "namespaces") return { ...type, namespace: "", ...named(parts) };
  if (parts.length <= 2) return { ...type, plural: "namespaces", namespace: second, name: second, subresource: "" };
  if (parts.length === 3 && NAMESPACE_SUBRESOURCES.has(third)) {
    return { ...type, plural: "namespaces", namespace: second, name: second, subresource: third };
  }
  return { ...type, namespace: second, ...named(parts.slice(2)) };
}

function named([plural = "", name = "", ...subresource]: readonly string[]) {
  return { plural, name, subresource: subresource.join("/") };
}
