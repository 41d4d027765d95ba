import { nearestName } from "@isthmus/core";
import type { TSchema } from "@sinclair/typebox";

/** A member of a user's object that has no effect. */
export interface IneffectiveField {
  /** As people write it: `spec.sourceSelector[0].kubeServiceMatcher`. */
  readonly path: string;
  /** `unknown`: no such field. `unsupported`: accepted by the schema, without effect. */
  readonly type: "unknown" | "unsupported";
  /** For `unknown`, the known field of the same object that is nearest in spelling, if one is near, or a field one level deeper. For `unsupported`, what to know. */
  readonly hint?: string;
}

interface SchemaNode {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly additionalProperties?: SchemaNode | boolean;
  readonly items?: SchemaNode;
  readonly unsupported?: string;
}

/** The members of `value` that its schema does not know or that have no effect yet, in the order they are written. */
export function ineffectiveFields(schema: TSchema, value: unknown, path: string): readonly IneffectiveField[] {
  const found: IneffectiveField[] = [];
  collect(schema as SchemaNode, value, path, found);
  return found;
}

/**
 * A value as its writer seems to mean it: an unknown member counts as the known one that is nearest in spelling, where that is not set;
 * any other is left out. A guess, so it may restrict what is in force and never widen it. The very same value where nothing is unknown.
 */
export function asSeems(schema: TSchema, value: unknown): unknown {
  return unknownFields(schema, value, "").length > 0 ? seeming(schema as SchemaNode, value) : value;
}

// Wider than a suggestion to a reader: what restricts must not be passed over because it is spelled badly.
const SEEMING = 1 / 2;

function seeming(schema: SchemaNode, value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  const { items, properties, additionalProperties } = schema;
  if (Array.isArray(value)) return items === undefined ? value : value.map((element) => seeming(items, element));
  if (properties === undefined) {
    if (typeof additionalProperties !== "object") return value;
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, seeming(additionalProperties, member)]));
  }
  const members = new Map<string, unknown>();
  const isKnown = (name: string) => Object.hasOwn(properties, name);
  // What is spelled right comes first: no guess takes its place.
  const entries = Object.entries(value).sort(([a], [b]) => Number(isKnown(b)) - Number(isKnown(a)));
  for (const [name, member] of entries) {
    const meant = isKnown(name) ? name : nearestName(name, Object.keys(properties), SEEMING);
    const known = meant === undefined ? undefined : properties[meant];
    if (meant !== undefined && known !== undefined && !members.has(meant)) members.set(meant, seeming(known, member));
  }
  return Object.fromEntries(members);
}

/** Those of them that are unknown. */
export function unknownFields(schema: TSchema, value: unknown, path: string): readonly IneffectiveField[] {
  return ineffectiveFields(schema, value, path).filter(({ type }) => type === "unknown");
}

/** What to say of an unknown field, with the known one that was perhaps meant. */
export function unknownFieldText({ hint }: { readonly hint?: string | undefined }): string {
  return hint === undefined ? "unknown field" : `unknown field (did you mean ${hint}?)`;
}

function collect(schema: SchemaNode, value: unknown, path: string, found: IneffectiveField[]): void {
  if (typeof value !== "object" || value === null) return;
  if (Array.isArray(value)) {
    const { items } = schema;
    if (items === undefined) return;
    for (const [i, element] of value.entries()) collect(items, element, `${path}[${i}]`, found);
    return;
  }
  const { properties, additionalProperties } = schema;
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined) continue;
    const memberPath = path === "" ? name : `${path}.${name}`;
    const known = properties !== undefined && Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (known !== undefined) {
      if (known.unsupported === undefined) collect(known, member, memberPath, found);
      else found.push({ path: memberPath, type: "unsupported", hint: known.unsupported });
    } else if (typeof additionalProperties === "object") {
      collect(additionalProperties, member, memberPath, found);
    } else if (properties !== undefined) {
      const hint = nearestName(name, Object.keys(properties), SEEMING) ?? deeperName(name, properties);
      found.push({ path: memberPath, type: "unknown", ...(hint === undefined ? {} : { hint }) });
    }
  }
}

/** A field of that name in a member of the object, as `uri.prefix`: where it stands in other APIs people may not know. */
function deeperName(name: string, properties: Readonly<Record<string, SchemaNode>>): string | undefined {
  const found = Object.entries(properties).find(([, { properties: deeper }]) => deeper !== undefined && Object.hasOwn(deeper, name));
  return found === undefined ? undefined : `${found[0]}.${name}`;
}
