import type { AccessQuery } from "../access.ts";

/** Whether something matches: `some`: depending on what the question leaves open; `unknown`: on what nobody here can say. */
export type Match = "yes" | "some" | "unknown" | "no";

/** Who asks, as Istio knows it: principals without the scheme, its own first; none without mutual TLS. */
export interface Identity {
  readonly principals: readonly string[];
  readonly namespace: string;
}

type Members = Readonly<Record<string, unknown>>;

/**
 * Whether a rule of an AuthorizationPolicy matches. What is not understood is unknown, never no and never yes.
 * Source: istio.io/docs/reference/config/security/authorization-policy.
 */
export function ruleMatch(rule: unknown, question: AccessQuery, identity: Identity | undefined): Match {
  const { from, to, when, ...others } = membersOf(rule);
  return all([
    ...(listOf(from).length === 0 ? [] : [any(listOf(from).map((one) => sourceMatch(membersOf(membersOf(one)["source"]), identity)))]),
    ...(listOf(to).length === 0 ? [] : [any(listOf(to).map((one) => operationMatch(membersOf(membersOf(one)["operation"]), question)))]),
    ...(listOf(when).length > 0 || Object.keys(others).length > 0 ? ["unknown" as const] : []),
  ]);
}

function sourceMatch(source: Members, identity: Identity | undefined): Match {
  return all(
    given(source).map(([member, values]) => {
      switch (member) {
        case "principals":
          return listed(values, identity?.principals ?? []);
        case "notPrincipals":
          return not(listed(values, identity?.principals ?? []));
        case "namespaces":
          return listed(values, identity === undefined ? [] : [identity.namespace]);
        case "notNamespaces":
          return not(listed(values, identity === undefined ? [] : [identity.namespace]));
        default:
          return "unknown";
      }
    }),
  );
}

function operationMatch(operation: Members, { port, method, path }: AccessQuery): Match {
  const asked = new Map([
    ["ports", port === undefined ? undefined : String(port)],
    ["methods", method],
    // Istio compares paths without their query.
    ["paths", path?.split("?")[0]],
  ]);
  return all(
    given(operation).map(([member, values]) => {
      const name = member.startsWith("not") ? `${member.slice(3, 4).toLowerCase()}${member.slice(4)}` : member;
      if (!asked.has(name)) return "unknown";
      const value = asked.get(name);
      const found = value === undefined ? open(values) : listed(values, [value]);
      return name === member ? found : not(found);
    }),
  );
}

/** Whether a value that is left open is in a list. */
function open(values: unknown): Match {
  return listOf(values).includes("*") ? "yes" : "some";
}

function listed(patterns: unknown, values: readonly string[]): Match {
  return any(
    listOf(patterns).flatMap((pattern) => (values.length === 0 ? ["no" as const] : values.map((value) => textMatch(pattern, value)))),
  );
}

/** Exactly, with one star at either end, or a star for whatever is there. Path templates are not understood. */
function textMatch(pattern: unknown, value: string): Match {
  if (typeof pattern !== "string" || pattern.includes("{")) return "unknown";
  if (pattern === "*") return value === "" ? "no" : "yes";
  if (pattern.endsWith("*")) return value.startsWith(pattern.slice(0, -1)) ? "yes" : "no";
  if (pattern.startsWith("*")) return value.endsWith(pattern.slice(1)) ? "yes" : "no";
  return pattern === value ? "yes" : "no";
}

/** Whether each of some conditions holds; without any, it holds. */
export function all(matches: readonly Match[]): Match {
  return (["no", "unknown", "some"] as const).find((one) => matches.includes(one)) ?? "yes";
}

/** Whether one of some conditions holds; without any, none does. */
export function any(matches: readonly Match[]): Match {
  return (["yes", "some", "unknown"] as const).find((one) => matches.includes(one)) ?? "no";
}

function not(match: Match): Match {
  return match === "yes" ? "no" : match === "no" ? "yes" : match;
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
