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

type HeaderOperations = Required<NonNullable<HttpRoute["headers"]>>;

/** Header operations as Istio writes them. Both sides are there even where nothing is done on one, as the published product has it. */
export function headersOf(wanted: HeaderManipulation): HeaderOperations {
  const { appendRequestHeaders, removeRequestHeaders, appendResponseHeaders, removeResponseHeaders } = wanted;
  return {
    request: operations(appendRequestHeaders, removeRequestHeaders),
    response: operations(appendResponseHeaders, removeResponseHeaders),
  };
}

function operations(add: Readonly<Record<string, string>> = {}, remove: readonly string[] = []): HeaderOperations["request"] {
  return { ...(Object.keys(add).length === 0 ? {} : { add }), ...(remove.length === 0 ? {} : { remove }) };
}
