/** What of a schema says which values a member may have, and what its absence means. */
export interface DocumentedSchema {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly pattern?: string;
  readonly description?: string;
  readonly unsupported?: string;
  readonly required?: readonly string[];
  readonly items?: DocumentedSchema;
  readonly properties?: Readonly<Record<string, DocumentedSchema>>;
  readonly additionalProperties?: DocumentedSchema | boolean;
}

/** A value that says the same as the absence of a member. `[]` in its path is any entry of a list, `{}` any value of a map. */
export interface DocumentedDefault {
  readonly path: string;
  readonly value: unknown;
}

/**
 * What a description says of the absence of a member. It has one of these forms:
 * `Default: VALUE.`, `VALUE, the default`, `VALUE (the default)`: the value, texts in backticks; `Default: WORDS.`: no value says the same;
 * `Empty: WORDS.`: a list, a map or a text without anything in it; `Required.`, with or without a condition; `Not supported:`, `Not used:`.
 * An object of which nothing is said is the same without members as absent.
 */
interface Absence {
  readonly isSaid: boolean;
  readonly values: readonly unknown[];
}

function absenceOf(schema: DocumentedSchema): Absence {
  const { description = "", unsupported } = schema;
  if (unsupported !== undefined || FREE.test(description)) return { isSaid: true, values: [] };
  const [, sentence] = SENTENCE.exec(description) ?? [];
  const words = [...description.matchAll(WORD)].map(([, word = ""]) => word);
  const empty = EMPTY.test(description) ? emptyOf(schema) : undefined;
  const values = [
    ...(sentence === undefined ? [] : documentedValues(sentence, schema)),
    ...words.filter((word) => schema.enum?.includes(word) ?? true),
    ...(empty === undefined ? [] : [empty]),
  ];
  if (sentence !== undefined || words.length > 0 || empty !== undefined) return { isSaid: true, values };
  return schema.type === "object" && schema.additionalProperties === undefined
    ? { isSaid: true, values: [{}] }
    : { isSaid: false, values: [] };
}

const SENTENCE = /(?:^|[.:] )Default: (.+?)\.(?= |$)/;
const WORD = /(\w+)(?:, the default| \(the default\))/g;
const EMPTY = /(?:^|\. )Empty: /;
const FREE = /(?:^|\. )Required\b|^Not (?:supported|used|read):/;

function documentedValues(text: string, { type, enum: words, pattern }: DocumentedSchema): readonly unknown[] {
  if (words !== undefined) return words.includes(text) ? [text] : [];
  switch (type) {
    case "boolean":
      return text === "true" || text === "false" ? [text === "true"] : [];
    case "integer":
    case "number":
      return /^\d+(\.\d+)?$/.test(text) ? [Number(text)] : [];
    case "string": {
      if (pattern !== undefined) return new RegExp(pattern).test(text) ? [text] : [];
      const [, quoted] = /^`(.+)`$/.exec(text) ?? [];
      return quoted === undefined ? [] : [quoted];
    }
    default:
      return [];
  }
}

function emptyOf({ type }: DocumentedSchema): unknown {
  return type === "array" ? [] : type === "object" ? {} : type === "string" ? "" : undefined;
}

/** Every value that says the same as the absence of a member, in the order of the schema. */
export function documentedDefaults(schema: DocumentedSchema, path: string): readonly DocumentedDefault[] {
  return membersOf(schema, path).flatMap((member) => absenceOf(member.schema).values.map((value) => ({ path: member.path, value })));
}

/** The paths of members that may be absent, of which the schema doesn't say what that means. */
export function undocumentedMembers(schema: DocumentedSchema, path: string): readonly string[] {
  return membersOf(schema, path)
    .filter((member) => !absenceOf(member.schema).isSaid)
    .map((member) => member.path);
}

interface Member {
  readonly path: string;
  readonly schema: DocumentedSchema;
}

/** The members that may be absent, of all objects; not those of what has no effect. */
function membersOf(schema: DocumentedSchema, path: string): readonly Member[] {
  const { properties = {}, items, additionalProperties, required = [], unsupported } = schema;
  if (unsupported !== undefined || schema.description?.startsWith("Not ") === true) return [];
  if (items !== undefined) return membersOf(items, `${path}[]`);
  if (typeof additionalProperties === "object") return membersOf(additionalProperties, `${path}{}`);
  return Object.entries(properties).flatMap(([name, member]) => [
    ...(required.includes(name) ? [] : [{ path: `${path}.${name}`, schema: member }]),
    ...membersOf(member, `${path}.${name}`),
  ]);
}

/** A value with the default of each absent member written out, as far as one is documented; also inside of what that adds. */
export function withDocumentedDefaults(schema: DocumentedSchema, value: unknown): unknown {
  const { items, properties, additionalProperties } = schema;
  if (Array.isArray(value)) return items === undefined ? value : value.map((entry) => withDocumentedDefaults(items, entry));
  if (typeof value !== "object" || value === null) return value;
  if (typeof additionalProperties === "object")
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withDocumentedDefaults(additionalProperties, member)]));
  const members = { ...value } as Record<string, unknown>;
  for (const [name, member] of Object.entries(properties ?? {})) {
    if (member.unsupported !== undefined) continue;
    const given = members[name] ?? absenceOf(member).values[0];
    if (given !== undefined) members[name] = withDocumentedDefaults(member, given);
  }
  return members;
}
