import type { HttpMatchRequest } from "@isthmus/api";
import { equalJson } from "@isthmus/core";

/**
 * Whether every request that one match of a route takes is also taken by another, wider one. Where that can't be decided, as of two different
 * regular expressions, it is not so.
 */
export function implies(narrow: HttpMatchRequest, wide: HttpMatchRequest): boolean {
  return (
    hasAll(narrow.sourceLabels, wide.sourceLabels, equalJson) &&
    (wide.sourceNamespace === undefined || wide.sourceNamespace === narrow.sourceNamespace) &&
    (wide.port === undefined || wide.port === narrow.port) &&
    (wide.gateways === undefined || equalJson(narrow.gateways, wide.gateways)) &&
    (wide.method === undefined || equalJson(narrow.method, wide.method)) &&
    hasAll(narrow.headers, wide.headers, isNarrowerValue) &&
    hasAll(narrow.queryParams, wide.queryParams, isNarrowerValue) &&
    hasAll(narrow.withoutHeaders, wide.withoutHeaders, (its, other) => isNarrowerValue(other, its)) &&
    isNarrowerPath(narrow, wide)
  );
}

function hasAll<V>(
  narrow: Readonly<Record<string, V>> | undefined,
  wide: Readonly<Record<string, V>> | undefined,
  holds: (its: V, other: V) => boolean,
): boolean {
  if (wide === undefined) return true;
  return Object.entries(wide).every(([name, condition]) => {
    const its = narrow !== undefined && Object.hasOwn(narrow, name) ? narrow[name] : undefined;
    return its !== undefined && holds(its, condition);
  });
}

/** A condition without members asks only that the name be there, as every other does. */
function isNarrowerValue(narrow: object, wide: object): boolean {
  return Object.keys(wide).length === 0 || equalJson(narrow, wide);
}

function isNarrowerPath(narrow: HttpMatchRequest, wide: HttpMatchRequest): boolean {
  if (wide.uri === undefined || wide.uri.prefix === "/") return true;
  if (narrow.uri === undefined) return false;
  // One that heeds case takes no more than one that does not.
  if (wide.ignoreUriCase !== true && narrow.ignoreUriCase === true) return false;
  if (equalJson(narrow.uri, wide.uri)) return true;
  const [its, { prefix, exact }] = [narrow.uri.exact ?? narrow.uri.prefix, wide.uri];
  if (its === undefined) return false;
  const cased = (text: string) => (wide.ignoreUriCase ? text.toLowerCase() : text);
  if (prefix !== undefined) return cased(its).startsWith(cased(prefix));
  return exact !== undefined && narrow.uri.exact !== undefined && cased(its) === cased(exact);
}
