import { type AccessPolicy, escapedRegex, type HttpRouteMatch } from "@isthmus/api";

/** The requests that an AccessPolicy allows: one named match for each path. */
export function requestMatches({ metadata, spec = {} }: AccessPolicy): readonly HttpRouteMatch[] {
  const { allowedPaths = [], allowedMethods = [] } = spec;
  const name = `${metadata.name}.${metadata.namespace ?? ""}`;
  const methods = allowedMethods.length === 0 ? ["*"] : allowedMethods;
  if (allowedPaths.length <= 1) return [{ name, methods, pathRegex: pathRegex(allowedPaths[0] ?? "*") }];
  return allowedPaths.map((path, i) => ({ name: `${name}.${i}`, methods, pathRegex: pathRegex(path) }));
}

/** A path with a star at either end, or none, as a regular expression of whole paths. */
function pathRegex(path: string): string {
  const text = escapedRegex(path.replace(/^\*|\*$/g, ""));
  if (path === "*") return ".*";
  return `${path.startsWith("*") ? ".*" : ""}${text}${path.endsWith("*") ? ".*" : ""}`;
}
