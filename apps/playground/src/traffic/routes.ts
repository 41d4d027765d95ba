import type { HttpMatchRequest, HttpRoute, VirtualService } from "@isthmus/api";
import { matchesLabels } from "@isthmus/core";
import type { MeshProxy } from "./proxies.ts";

/** A request, as its caller sends it. Headers have names in lower case. */
export interface Asked {
  readonly host: string;
  readonly port: number;
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * The route that a caller's proxy takes: the first whose match holds. "none": the VirtualService has routes for other requests alone; undefined: no
 * VirtualService has anything to say.
 */
export function routeFor(service: VirtualService | undefined, asked: Asked, caller: MeshProxy): HttpRoute | "none" | undefined {
  const { http = [] } = service?.spec ?? {};
  if (http.length === 0) return undefined;
  return http.find(({ match = [] }) => match.length === 0 || match.some((one) => holds(one, asked, caller))) ?? "none";
}

function holds(match: HttpMatchRequest, { port, method, path, headers }: Asked, caller: MeshProxy): boolean {
  const [route = "", query = ""] = path.split("?", 2);
  const parameters = Object.fromEntries(new URLSearchParams(query));
  return (
    (match.port === undefined || match.port === port) &&
    (match.method === undefined || matchesText(match.method, method)) &&
    (match.uri === undefined || matchesText(match.uri, route, match.ignoreUriCase)) &&
    (match.sourceNamespace === undefined || match.sourceNamespace === caller.namespace) &&
    matchesLabels(match.sourceLabels ?? {}, caller.labels) &&
    matchesAll(match.headers, headers) &&
    matchesAll(match.queryParams, parameters) &&
    !Object.entries(match.withoutHeaders ?? {}).some(([name, wanted]) => matchesOne(wanted, headers[name.toLowerCase()]))
  );
}

type TextMatch = NonNullable<HttpMatchRequest["uri"]>;

function matchesAll(wanted: Readonly<Record<string, TextMatch>> = {}, found: Readonly<Record<string, string>>): boolean {
  return Object.entries(wanted).every(([name, match]) => matchesOne(match, found[name] ?? found[name.toLowerCase()]));
}

function matchesOne(match: TextMatch, value: string | undefined): boolean {
  return value !== undefined && matchesText(match, value);
}

/** An empty match is that something is there. Istio's expressions are about the whole text. */
function matchesText({ exact, prefix, regex }: TextMatch, text: string, ignoresCase = false): boolean {
  const cased = (one: string) => (ignoresCase ? one.toLowerCase() : one);
  if (exact !== undefined) return cased(text) === cased(exact);
  if (prefix !== undefined) return cased(text).startsWith(cased(prefix));
  return regex === undefined || new RegExp(`^(?:${regex})$`).test(text);
}

/** Milliseconds of a duration as Istio's objects have them, such as `0.5s`; undefined for none. */
export function millisOf(duration: string | undefined): number | undefined {
  if (duration === undefined) return undefined;
  let sum = 0;
  for (const [, amount = "0", unit = "s"] of duration.matchAll(/([0-9.]+)(ms|us|ns|h|m|s)/g)) sum += Number(amount) * (UNITS[unit] ?? 0);
  return sum;
}

const UNITS: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1_000, ms: 1, us: 0.001, ns: 0.000001 };
