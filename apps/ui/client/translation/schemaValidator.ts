type Schema = Readonly<Record<string, unknown>>;

interface Problem {
  readonly keyword: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly message: string;
}

/** A mistake, as the class that this one stands for gives it. */
interface SchemaError extends Problem {
  /** JSON pointer of the place. */
  readonly instancePath: string;
  /** What the keyword says, and the schema that it is in. */
  readonly schema: unknown;
  readonly parentSchema: Schema;
  readonly data: unknown;
}

interface Validate {
  (value: unknown): boolean;
  errors: readonly SchemaError[] | null;
}

/**
 * Stands for the class of the same name where `@isthmus/api` runs in a browser: that one generates code, which the page's policy forbids. It knows the
 * keywords that the schemas of kinds use, and gives the first mistake in a value.
 */
export class Ajv {
  /** Keywords of our own are known already. */
  addKeyword(_: unknown): this {
    return this;
  }

  compile(schema: Schema): Validate {
    const validate: Validate = (value) => {
      const error = firstError(schema, value, "");
      validate.errors = error === undefined ? null : [error];
      return error === undefined;
    };
    validate.errors = null;
    return validate;
  }
}

/** The first mistake in a value. What is read is bounded in depth before it is validated. */
function firstError(schema: Schema, value: unknown, instancePath: string): SchemaError | undefined {
  const errorOf = (found: Problem | undefined): SchemaError | undefined =>
    found && { ...found, instancePath, schema: schema[found.keyword], parentSchema: schema, data: value };
  const own = errorOf(ownProblem(schema, value));
  if (own !== undefined || typeof value !== "object" || value === null) return own;
  if (Array.isArray(value)) return errorInItems(schema, value, instancePath);
  // Keywords of our own come last.
  return errorInMembers(schema, value as Schema, instancePath) ?? errorOf(excessProblem(schema, value as Schema));
}

function errorInItems({ items }: Schema, value: readonly unknown[], path: string): SchemaError | undefined {
  if (items === undefined) return undefined;
  for (const [i, item] of value.entries()) {
    const error = firstError(items as Schema, item, `${path}/${i}`);
    if (error !== undefined) return error;
  }
  return undefined;
}

/** In the order of the class that this one stands for: members that the schema doesn't name first, then those that it names, as it does. */
function errorInMembers({ properties = {}, additionalProperties }: Schema, value: Schema, path: string): SchemaError | undefined {
  const known = properties as Readonly<Record<string, Schema>>;
  const others = typeof additionalProperties === "object" && additionalProperties !== null ? (additionalProperties as Schema) : undefined;
  const further = others === undefined ? [] : Object.keys(value).filter((key) => !Object.hasOwn(known, key));
  for (const key of [...further, ...Object.keys(known)]) {
    const schema = Object.hasOwn(known, key) ? known[key] : others;
    if (schema === undefined || value[key] === undefined) continue;
    const error = firstError(schema, value[key], `${path}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`);
    if (error !== undefined) return error;
  }
  return undefined;
}

/** What is wrong with a value itself, whatever is in it. */
function ownProblem(schema: Schema, value: unknown): Problem | undefined {
  const { type } = schema;
  const types = typeof type === "string" ? [type] : Array.isArray(type) ? (type as readonly string[]) : undefined;
  if (types !== undefined && !types.some((one) => isOfType(value, one)))
    return { keyword: "type", params: { type }, message: `must be ${types.join()}` };
  if (typeof value === "number") return numberProblem(schema, value);
  if (typeof value === "string") return textProblem(schema, value) ?? wordProblem(schema, value);
  if (Array.isArray(value)) return lengthProblem(schema, value);
  return typeof value === "object" && value !== null ? objectProblem(schema, value as Schema) : wordProblem(schema, value);
}

function isOfType(value: unknown, type: string): boolean {
  switch (type) {
    case "object":
      return typeof value === "object" && value !== null && !Array.isArray(value);
    case "array":
      return Array.isArray(value);
    case "integer":
      return Number.isInteger(value);
    case "number":
      return Number.isFinite(value);
    case "null":
      return value === null;
    default:
      return typeof value === type;
  }
}

function numberProblem(schema: Schema, value: number): Problem | undefined {
  const limits = [
    { keyword: "maximum", comparison: "<=", isBroken: (limit: number) => value > limit },
    { keyword: "minimum", comparison: ">=", isBroken: (limit: number) => value < limit },
  ];
  for (const { keyword, comparison, isBroken } of limits) {
    const limit = schema[keyword];
    if (typeof limit === "number" && isBroken(limit))
      return { keyword, params: { comparison, limit }, message: `must be ${comparison} ${limit}` };
  }
  return wordProblem(schema, value);
}

function textProblem({ maxLength, minLength, pattern }: Schema, value: string): Problem | undefined {
  // JSON Schema counts characters, not units of UTF-16.
  const length = typeof maxLength === "number" || typeof minLength === "number" ? [...value].length : 0;
  if (typeof maxLength === "number" && length > maxLength) return tooMany("maxLength", maxLength, "characters");
  if (typeof minLength === "number" && length < minLength)
    return { keyword: "minLength", params: { limit: minLength }, message: `must NOT have fewer than ${minLength} characters` };
  if (typeof pattern === "string" && !new RegExp(pattern, "u").test(value))
    return { keyword: "pattern", params: { pattern }, message: `must match pattern "${pattern}"` };
  return undefined;
}

function lengthProblem({ maxItems }: Schema, { length }: readonly unknown[]): Problem | undefined {
  return typeof maxItems === "number" && length > maxItems ? tooMany("maxItems", maxItems, "items") : undefined;
}

function tooMany(keyword: string, limit: number, what: string): Problem {
  return { keyword, params: { limit }, message: `must NOT have more than ${limit} ${what}` };
}

function wordProblem({ enum: words }: Schema, value: unknown): Problem | undefined {
  if (!Array.isArray(words) || words.includes(value)) return undefined;
  return { keyword: "enum", params: { allowedValues: words }, message: "must be equal to one of the allowed values" };
}

function excessProblem({ atMostOneOf }: Schema, value: Schema): Problem | undefined {
  const members = atMostOneOf as readonly string[] | undefined;
  const given = members?.filter((member) => value[member] !== undefined) ?? [];
  return given.length > 1 ? { keyword: "atMostOneOf", params: {}, message: "" } : undefined;
}

function objectProblem({ required = [], properties = {}, additionalProperties }: Schema, value: Schema): Problem | undefined {
  for (const missingProperty of required as readonly string[]) {
    if (value[missingProperty] === undefined)
      return { keyword: "required", params: { missingProperty }, message: `must have required property '${missingProperty}'` };
  }
  if (additionalProperties !== false) return undefined;
  const additionalProperty = Object.keys(value).find((key) => !Object.hasOwn(properties as object, key));
  return additionalProperty === undefined
    ? undefined
    : { keyword: "additionalProperties", params: { additionalProperty }, message: "must NOT have additional properties" };
}
