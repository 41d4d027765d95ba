import type { AnyResource, Kind } from "@isthmus/core";
import { describe, expect, test } from "vitest";
import { exampleFor, fieldsOf, objectSaying, USER_KINDS } from "./schemaExamples.ts";
import { type SchemaField, withField } from "./schemaFields.ts";
import { translatedBesideFleet } from "./schemaFleet.ts";

const RIGHT = "/given-[a-z]{1,3}";
// What Envoy, or the webhook of Istio for the whole object, refuses. JavaScript takes the last ones.
const REFUSED = ["(given", "(?=given)", "((given{1,1000}){1,1000}){1,1000}", "given{1001}", "given[[:no:]]", "\\pJgiven", "given\\u0041"];

/** Every field of every kind that users write from which a regular expression follows. A field that is added is judged by `regexFindings`, and named here. */
const GIVING: Readonly<Record<string, readonly string[]>> = {
  TrafficPolicy: [
    "spec.httpRequestMatchers[].uri.regex",
    "spec.httpRequestMatchers[].headers[].value",
    "spec.httpRequestMatchers[].queryParameters[].value",
    "spec.policy.corsPolicy.allowOrigins[].regex",
    "spec.policy.csrf.additionalOrigins[].regex",
  ],
  AccessLogRecord: ["spec.filters[].headerMatcher.value"],
};

describe.each(USER_KINDS.map((kind) => [kind.kind, kind] as const))("%s", (_, kind) => {
  const all = fieldsOf(kind);
  const fields = all.filter(({ schema }) => schema.unsupported === undefined && schema.type === "string" && schema.enum === undefined);

  test("gives no regular expression but by the fields that are judged", () => {
    const giving = fields.filter((field) => isGiven(kind, { all, field, text: RIGHT }));
    expect(giving.map(({ path }) => path)).toEqual(GIVING[kind.kind] ?? []);
  });

  test.each(REFUSED)("gives %s by no field", (text) => {
    const giving = fields.filter((field) => isGiven(kind, { all, field, text }));
    expect(giving.map(({ path }) => path)).toEqual([]);
  });
});

interface Given {
  readonly all: readonly SchemaField[];
  readonly field: SchemaField;
  readonly text: string;
}

/** Whether what is written has a text in the place of a regular expression when a field says it. */
function isGiven(kind: Kind, { all, field: { path }, text }: Given): boolean {
  const { given, beside } = exampleFor(kind, path);
  const said = withField(objectSaying(kind, given), path, text);
  // A value may be one because a sibling says so.
  const sibling = path.replace(/\.[^.]+$/, ".regex");
  const isOne = all.some((other) => other.path === sibling && other.schema.type === "boolean");
  const objects: readonly AnyResource[] = [...beside, isOne ? withField(said, sibling, true) : said];
  const { networking } = translatedBesideFleet(objects);
  return [...networking].some(({ resource }) => hasExpression(resource, text));
}

/** What a suffix becomes, in which no letter has a meaning. */
function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}

/** Istio and Envoy have regular expressions in members of these names. */
function hasExpression(value: unknown, text: string, isExpression = false): boolean {
  if (typeof value === "string") return isExpression && value.replaceAll(escaped(text), "").includes(text);
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(value).some(([name, member]) => hasExpression(member, text, isExpression || /regex/i.test(name)));
}
