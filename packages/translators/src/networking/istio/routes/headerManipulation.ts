import type { HeaderManipulation, HttpRoute } from "@isthmus/api";
import type { Finding } from "../../../findings.ts";
import { changedHeaderFindings, headerValueFindings } from "../limits.ts";
import type { RouteCheck, RoutePolicy } from "./routePolicy.ts";

/** `headerManipulation`: headers to add and to remove. */
export const headerManipulation: RoutePolicy = ({ headerManipulation: wanted }) =>
  wanted === undefined ? {} : { headers: headersOf(wanted) };

export const headerManipulationCheck: RouteCheck = ({ headerManipulation: wanted }) =>
  headerFindings("spec.policy.headerManipulation", wanted);

/** What is wrong with headers that are to be changed. */
export function headerFindings(path: string, wanted: HeaderManipulation | undefined): readonly Finding[] {
  const { appendRequestHeaders, removeRequestHeaders, appendResponseHeaders, removeResponseHeaders } = wanted ?? {};
  return [
    ...addedFindings(`${path}.appendRequestHeaders`, appendRequestHeaders, true),
    ...removedFindings(`${path}.removeRequestHeaders`, removeRequestHeaders),
    ...addedFindings(`${path}.appendResponseHeaders`, appendResponseHeaders, false),
    ...removedFindings(`${path}.removeResponseHeaders`, removeResponseHeaders),
  ];
}

function addedFindings(path: string, headers: Readonly<Record<string, string>> = {}, mayBeAuthority: boolean): readonly Finding[] {
  return Object.entries(headers).flatMap(([name, value]) => [
    ...changedHeaderFindings(path, name, mayBeAuthority),
    ...headerValueFindings(`${path}.${name}`, value),
  ]);
}

function removedFindings(path: string, names: readonly string[] = []): readonly Finding[] {
  return names.flatMap((name, i) => changedHeaderFindings(`${path}[${i}]`, name, false));
}

/** Header operations as Istio writes them. */
export function headersOf(wanted: HeaderManipulation): NonNullable<HttpRoute["headers"]> {
  const { appendRequestHeaders, removeRequestHeaders, appendResponseHeaders, removeResponseHeaders } = wanted;
  return {
    ...operations("request", appendRequestHeaders, removeRequestHeaders),
    ...operations("response", appendResponseHeaders, removeResponseHeaders),
  };
}

function operations(
  side: "request" | "response",
  add: Readonly<Record<string, string>> | undefined,
  remove: readonly string[] | undefined,
): NonNullable<HttpRoute["headers"]> {
  if (add === undefined && remove === undefined) return {};
  return { [side]: { ...(add === undefined ? {} : { add }), ...(remove === undefined ? {} : { remove }) } };
}
