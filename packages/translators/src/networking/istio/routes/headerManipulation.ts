import type { HeaderManipulation, HttpRoute } from "@isthmus/api";
import type { RoutePolicy } from "./routePolicy.ts";

/** `headerManipulation`: headers to add and to remove. */
export const headerManipulation: RoutePolicy = ({ headerManipulation: wanted }) =>
  wanted === undefined ? {} : { headers: headersOf(wanted) };

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
