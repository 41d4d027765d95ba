import { type TProperties, type TSchema, Type } from "@sinclair/typebox";

/** What can be said of a schema beside its type. All of it but `wanted`, `unsupported` and `atMostOneOf` belongs into the CRD. */
export interface SchemaOptions {
  /** One or more sentences for the CRD, `kubectl explain` and the reference page. */
  readonly description?: string;
  /** What a right value is, in words, for error messages: `is not a duration such as "5s"`. */
  readonly expected?: string;
  /** The field is accepted and has no effect: why. Anyone who sets it gets a warning. */
  readonly unsupported?: string;
  readonly [keyword: string]: unknown;
}

/** An object that we write: every member may be absent, as Kubernetes leaves out what is empty. */
export function fields<P extends TProperties>(properties: P, options: SchemaOptions = {}) {
  return Type.Partial(Type.Object(properties), { ...options });
}

/** An object that users write: unknown members stay, so that each of them can be answered with a warning. */
export function userFields<P extends TProperties>(properties: P, options: SchemaOptions = {}) {
  return fields(properties, { ...options, "x-kubernetes-preserve-unknown-fields": true });
}

/** Schema options that allow at most one of `members`: checked by `parse` and, as CEL, by the API server. */
export function atMostOneOf(...members: readonly string[]): SchemaOptions {
  // Pairs, not a count over a list: the API server's estimate of a rule's cost must stay low where it is inside lists.
  const pairs = members.flatMap((a, i) => members.slice(i + 1).map((b) => `!(has(self.${a}) && has(self.${b}))`));
  return {
    atMostOneOf: members,
    "x-kubernetes-validations": [{ rule: pairs.join(" && "), message: `at most one of ${members.join(", ")} may be set` }],
  };
}

/** One of a few words. A plain enum: structural schemas forbid the `anyOf` of TypeBox's own unions. */
export function oneOfWords<const W extends readonly string[]>(words: W, options: SchemaOptions = {}) {
  return Type.Unsafe<W[number]>({ type: "string", enum: [...words], ...options });
}

/** An object whose keys are free. Structural schemas know `additionalProperties`, not the patterns of TypeBox's own records. */
export function mapOf<S extends TSchema>(values: S, options: SchemaOptions = {}) {
  return Type.Unsafe<{ [key: string]: S["static"] }>({ type: "object", additionalProperties: values, ...options });
}

/** Labels, annotations, headers: text by text. */
export function stringMap(options: SchemaOptions = {}) {
  return mapOf(Type.String(), options);
}

// CEL rules inside lists need a bound, else the API server refuses the CRD: it reckons with the longest list that fits a request.
const LONGEST_LIST = 1024;

/** A list of objects. */
export function listOf<S extends TSchema>(items: S, options: SchemaOptions = {}) {
  return Type.Array(items, { maxItems: LONGEST_LIST, ...options });
}

/** A list of texts. */
export function strings(options: SchemaOptions = {}) {
  return Type.Array(Type.String(), { ...options });
}

/** An unsigned number of 32 bits. */
export function uint32(options: SchemaOptions = {}) {
  return Type.Integer({ minimum: 0, maximum: 4294967295, format: "int64", ...options });
}

/** A signed number of 32 bits. */
export function int32(options: SchemaOptions = {}) {
  return Type.Integer({ minimum: -2147483648, maximum: 2147483647, format: "int32", ...options });
}

/** A share in percent. */
export function percentage(options: SchemaOptions = {}) {
  return Type.Number({ minimum: 0, maximum: 100, format: "double", wanted: "a percentage between 0 and 100", ...options });
}

/** A port number. */
export function port(options: SchemaOptions = {}) {
  return Type.Integer({ minimum: 0, maximum: 65535, format: "int64", wanted: "a port number", ...options });
}
