/** A JSON Schema, as far as outputs need one. */
export type Schema = Readonly<Record<string, unknown>>;

/** The schema of a member that may be absent. */
interface MaybeAbsent {
  readonly maybe: Schema;
}

// An optional member of a type is one in the schema, and no member of either is missing in the other.
type Members<T> = { readonly [K in keyof T]-?: Record<never, never> extends Pick<T, K> ? MaybeAbsent : Schema };

export const text: Schema = { type: "string" };
export const time: Schema = { type: "string", format: "date-time" };
export const count: Schema = { type: "integer", minimum: 0 };
export const measure: Schema = { type: "number", minimum: 0 };
export const flag: Schema = { type: "boolean" };
/** An object of Kubernetes: its kind has a page in docs/reference/kinds. */
export const resource: Schema = {
  type: "object",
  required: ["apiVersion", "kind", "metadata"],
  properties: { apiVersion: text, kind: text, metadata: { type: "object", required: ["name"], properties: { name: text } } },
};

export function maybe(schema: Schema): MaybeAbsent {
  return { maybe: schema };
}

export function listOf(items: Schema): Schema {
  return { type: "array", items };
}

export function mapOf(values: Schema): Schema {
  return { type: "object", additionalProperties: values };
}

export function oneOf(...values: readonly (string | number | null)[]): Schema {
  return { enum: values };
}

/** Says what a value is, where its name does not. */
export function said(schema: Schema, description: string): Schema {
  return { ...schema, description };
}

const whole = new WeakSet<Schema>();

/** Whether a schema names all members that a value has now. */
export function isWhole(schema: Schema): boolean {
  return whole.has(schema);
}

/** An object with the members of a type. */
export function object<T>(members: Members<T>): Schema {
  const entries = Object.entries<Schema | MaybeAbsent>(members);
  const isMaybe = (member: Schema | MaybeAbsent): member is MaybeAbsent => "maybe" in member;
  const schema = {
    type: "object",
    required: entries.flatMap(([name, member]) => (isMaybe(member) ? [] : [name])),
    properties: Object.fromEntries(entries.map(([name, member]) => [name, isMaybe(member) ? member.maybe : member])),
  };
  whole.add(schema);
  return schema;
}
