import type { TSchema } from "@sinclair/typebox";
import { canonicalDuration, DURATION_PATTERN } from "./duration.ts";

interface SchemaNode {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly additionalProperties?: SchemaNode | boolean;
  readonly items?: SchemaNode;
  readonly enum?: readonly unknown[];
  readonly atMostOneOf?: readonly string[];
  readonly pattern?: string;
  /** The field tells "absent" from its zero value. */
  readonly keepsZero?: boolean;
}

/**
 * A user's spec as the published API writes it into statuses: without zero values (the first word of an enum is its zero), and
 * with durations in seconds. A message that is set stays, even when it is empty; so does a member of which at most one may be set.
 */
export function publishedForm<T>(schema: TSchema, value: T): T {
  // Only members are left out or respelt, so the value stays of its type.
  return formOf(schema as SchemaNode, value) as T;
}

/** The value itself where nothing of it has to change: statuses then share it with the object that they repeat. */
function formOf(schema: SchemaNode | undefined, value: unknown): unknown {
  if (schema === undefined) return value;
  if (Array.isArray(value)) {
    const elements = value.map((element) => formOf(schema.items, element));
    return elements.every((element, i) => element === value[i]) ? value : elements;
  }
  if (typeof value === "string" && schema.pattern === DURATION_PATTERN) return canonicalDuration(value);
  if (typeof value !== "object" || value === null) return value;
  const { properties, additionalProperties, atMostOneOf = [] } = schema;
  const entries: (readonly [string, unknown])[] = [];
  let isAsGiven = true;
  for (const [name, member] of Object.entries(value)) {
    const known = properties?.[name] ?? (typeof additionalProperties === "object" ? additionalProperties : undefined);
    const isMap = properties === undefined;
    const isLeftOut = !isMap && known !== undefined && !atMostOneOf.includes(name) && isZero(known, member);
    const form = isLeftOut ? undefined : formOf(known, member);
    if (form !== member) isAsGiven = false;
    if (!isLeftOut) entries.push([name, form]);
  }
  return isAsGiven ? value : Object.fromEntries(entries);
}

function isZero(schema: SchemaNode, value: unknown): boolean {
  if (schema.keepsZero === true) return false;
  if (Array.isArray(value)) return value.length === 0;
  if (typeof value === "object" && value !== null) return schema.properties === undefined && Object.keys(value).length === 0;
  return value === 0 || value === false || value === "" || (schema.enum !== undefined && value === schema.enum[0]);
}
