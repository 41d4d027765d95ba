import type { AccessQuery } from "../../access.ts";
import { expandedPrincipals } from "../access/principalPatterns.ts";

/** Whether something matches: `some`: depending on what the question leaves open; `unknown`: on what nobody here can say. */
export type Match = "yes" | "some" | "unknown" | "no";

/** Who asks, as Istio knows it; nobody without mutual TLS. */
export interface Identity {
  /** Without the scheme: DOMAIN/ns/NAMESPACE/sa/NAME. */
  readonly principal: string;
  readonly namespace: string;
  readonly serviceAccount: string;
}

/** How a proxy reads the rules of one object. */
export interface ProxyReading {
  /** Trust domain and aliases of its mesh. */
  readonly own: readonly string[];
  /** The namespace of the object. */
  readonly namespace: string;
  /** Of what allows, a rule about HTTP is left out where the port carries something else; of all others, what it says of HTTP. */
  readonly allows: boolean;
  /** Whether the port carries HTTP. */
  readonly isHttp: boolean;
}

interface Asked {
  readonly question: AccessQuery;
  readonly identity: Identity | undefined;
  readonly reading: ProxyReading;
}

type Members = Readonly<Record<string, unknown>>;

/**
 * Whether a rule of an AuthorizationPolicy matches. What is not understood is unknown, never no and never yes.
 * Source: istio.io/docs/reference/config/security/authorization-policy; istio.io/istio pilot/pkg/security/authz/model.
 */
export function ruleMatch(rule: unknown, asked: Asked): Match {
  const { from, to, when, ...others } = membersOf(rule);
  const sources = listOf(from).map((one) => membersOf(membersOf(one)["source"]));
  const operations = listOf(to).map((one) => membersOf(membersOf(one)["operation"]));
  const conditions = listOf(when).map(membersOf);
  const { isHttp, allows } = asked.reading;
  if (!isHttp && allows && [...sources, ...operations].some(isAboutHttp)) return "no";
  if (!isHttp && allows && conditions.some(({ key }) => isHttpKey(key))) return "no";
  return all([
    ...(sources.length === 0 ? [] : [any(sources.map((source) => sourceMatch(source, asked)))]),
    ...(operations.length === 0 ? [] : [any(operations.map((operation) => operationMatch(operation, asked)))]),
    ...conditions.map((condition) => conditionMatch(condition, asked)),
    ...(Object.keys(others).length > 0 ? ["unknown" as const] : []),
  ]);
}

// Source: istio.io/istio pilot/pkg/security/authz/model/generator.go, what is "HTTP only".
const OF_HTTP: ReadonlySet<string> = new Set(
  ["paths", "methods", "hosts", "requestPrincipals"].flatMap((name) => [name, `not${name.slice(0, 1).toUpperCase()}${name.slice(1)}`]),
);

function isAboutHttp(members: Members): boolean {
  return given(members).some(([member]) => OF_HTTP.has(member));
}

function isHttpKey(key: unknown): boolean {
  return typeof key === "string" && key.startsWith("request.");
}

/** Members that say something to this proxy. */
function heeded(members: Members, { reading: { isHttp } }: Asked): readonly (readonly [string, unknown])[] {
  return given(members).filter(([member]) => isHttp || !OF_HTTP.has(member));
}

function sourceMatch(source: Members, asked: Asked): Match {
  return all(
    heeded(source, asked).map(([member, values]) => {
      const { name, isNegated } = negation(member);
      const read = SOURCES[name];
      return read === undefined ? "unknown" : negated(read(values, asked), isNegated);
    }),
  );
}

/** What of a caller is compared with texts; who has no identity is never among them. */
const SOURCES: Readonly<Record<string, (values: unknown, asked: Asked) => Match>> = {
  principals: (values, { identity, reading }) =>
    listed(values, identity?.principal, (pattern) =>
      any(expandedPrincipals(pattern, reading.own).map((one) => textMatch(one, identity?.principal ?? ""))),
    ),
  namespaces: (values, { identity }) =>
    listed(values, identity?.namespace, (pattern) => namespaceMatch(pattern, identity?.namespace ?? "")),
  serviceAccounts: (values, { identity, reading }) =>
    listed(values, identity?.serviceAccount, (account) => {
      const full = account.includes("/") ? account : `${reading.namespace}/${account}`;
      return full === `${identity?.namespace}/${identity?.serviceAccount}` ? "yes" : "no";
    }),
};

function operationMatch(operation: Members, asked: Asked): Match {
  const { port, method, path } = asked.question;
  const values = new Map([
    ["ports", port === undefined ? undefined : String(port)],
    ["methods", method],
    // Istio compares paths without their query.
    ["paths", path?.split(/[?#]/)[0]],
  ]);
  return all(
    heeded(operation, asked).map(([member, patterns]) => {
      const { name, isNegated } = negation(member);
      if (!values.has(name)) return "unknown";
      const value = values.get(name);
      const found = value === undefined ? open(patterns) : listed(patterns, value, (pattern) => textMatch(pattern, value));
      return negated(found, isNegated);
    }),
  );
}

/** Of `when`, what is about the caller's identity and the port; all else is unknown. */
function conditionMatch({ key, values, notValues }: Members, asked: Asked): Match {
  if (isHttpKey(key) && !asked.reading.isHttp) return "yes";
  const match = (given: unknown): Match => {
    if (key === "source.namespace") return sourceMatch({ namespaces: given }, asked);
    if (key === "source.principal") return sourceMatch({ principals: given }, asked);
    if (key === "destination.port") return operationMatch({ ports: given }, asked);
    return "unknown";
  };
  return all([
    ...(listOf(values).length === 0 ? [] : [match(values)]),
    ...(listOf(notValues).length === 0 ? [] : [negated(match(notValues), true)]),
  ]);
}

/** Whether a value that is left open is in a list. */
function open(values: unknown): Match {
  return listOf(values).includes("*") ? "yes" : "some";
}

/** Whether a value is among some; one that is not there is among none. Path templates are not understood. */
function listed(patterns: unknown, value: string | undefined, match: (pattern: string) => Match): Match {
  return any(
    listOf(patterns).map((pattern): Match => {
      if (value === undefined) return "no";
      return typeof pattern !== "string" || pattern.includes("{") ? "unknown" : match(pattern);
    }),
  );
}

/** Exactly, with one star at either end, or a star for whatever is there. Source: istio.io/istio pilot/pkg/security/authz/matcher/string.go. */
function textMatch(pattern: string, value: string): Match {
  if (pattern === "*") return value === "" ? "no" : "yes";
  if (pattern.startsWith("*")) return value.endsWith(pattern.slice(1)) ? "yes" : "no";
  if (pattern.endsWith("*")) return value.startsWith(pattern.slice(0, -1)) ? "yes" : "no";
  return pattern === value ? "yes" : "no";
}

/** With stars anywhere. */
function namespaceMatch(pattern: string, value: string): Match {
  const [first = "", ...rest] = pattern.split("*");
  const last = rest.pop();
  if (last === undefined) return pattern === value ? "yes" : "no";
  if (!value.startsWith(first)) return "no";
  let at = first.length;
  for (const part of rest) {
    const found = value.indexOf(part, at);
    if (found < 0) return "no";
    at = found + part.length;
  }
  return value.length - at >= last.length && value.endsWith(last) ? "yes" : "no";
}

/** Whether each of some conditions holds; without any, it holds. */
export function all(matches: readonly Match[]): Match {
  return (["no", "unknown", "some"] as const).find((one) => matches.includes(one)) ?? "yes";
}

/** Whether one of some conditions holds; without any, none does. */
export function any(matches: readonly Match[]): Match {
  return (["yes", "some", "unknown"] as const).find((one) => matches.includes(one)) ?? "no";
}

function negated(match: Match, isNegated: boolean): Match {
  if (!isNegated) return match;
  return match === "yes" ? "no" : match === "no" ? "yes" : match;
}

/** `notPaths` is the negation of `paths`. */
function negation(member: string): { readonly name: string; readonly isNegated: boolean } {
  const isNegated = /^not[A-Z]/.test(member);
  return { name: isNegated ? `${member.slice(3, 4).toLowerCase()}${member.slice(4)}` : member, isNegated };
}

/** Members that say something: an empty list says nothing. */
function given(members: Members): readonly (readonly [string, unknown])[] {
  return Object.entries(members).filter(([, values]) => !(Array.isArray(values) && values.length === 0));
}

function membersOf(value: unknown): Members {
  return typeof value === "object" && value !== null ? (value as Members) : {};
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
