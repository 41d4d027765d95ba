import { equalJson } from "@isthmus/core";
import { isMembers, type Members, membersAt } from "../../apply/json.ts";
import type { FieldError } from "../apiError.ts";
import { invalid, required, typeInvalid, unsupported } from "../fieldErrors.ts";

/** What is wrong with a value by its schema, in the words of an API server. Source: apiextensions-apiserver, pkg/apiserver/validation, and kube-openapi's validate. */
export function schemaErrors(schema: Members, value: unknown, path: string): readonly FieldError[] {
  if (value === null && schema["nullable"] === true) return [];
  const errors: FieldError[] = [];
  const { type } = schema;
  if (schema["x-kubernetes-int-or-string"] === true) {
    if (!isInteger(value) && typeof value !== "string") errors.push(wrongType(path, value, "integer,string"));
  } else if (typeof type === "string" && !isOfType(value, type)) {
    const values = schema["enum"];
    return [wrongType(path, value, type), ...(Array.isArray(values) ? [unsupportedValue(path, value, values)] : [])];
  }
  if (Array.isArray(schema["enum"]) && !schema["enum"].some((each) => equalJson(each, value))) {
    errors.push(unsupportedValue(path, value, schema["enum"]));
  }
  if (typeof value === "string") errors.push(...stringErrors(schema, value, path));
  if (typeof value === "number") errors.push(...numberErrors(schema, value, path));
  if (Array.isArray(value)) errors.push(...listErrors(schema, value, path));
  if (isMembers(value)) errors.push(...objectErrors(schema, value, path));
  for (const each of listOf(schema["allOf"])) errors.push(...schemaErrors(each, value, path));
  const any = listOf(schema["anyOf"]);
  if (any.length > 0 && !any.some((each) => schemaErrors(each, value, path).length === 0)) {
    errors.push(invalid(path, shown(value), `${path} in body must validate at least one schema (anyOf)`));
  }
  const one = listOf(schema["oneOf"]);
  if (one.length > 0 && one.filter((each) => schemaErrors(each, value, path).length === 0).length !== 1) {
    const some = one.some((each) => schemaErrors(each, value, path).length === 0);
    errors.push(
      invalid(
        path,
        shown(value),
        `${path} in body must validate one and only one schema (oneOf)${some ? ". Found 2 valid alternatives" : ". Found none valid"}`,
      ),
    );
  }
  if (isMembers(schema["not"]) && schemaErrors(schema["not"], value, path).length === 0) {
    errors.push(invalid(path, shown(value), `${path} in body must not validate the schema (not)`));
  }
  return errors;
}

function listOf(value: unknown): readonly Members[] {
  return Array.isArray(value) ? value.filter(isMembers) : [];
}

/** How messages show a value that is not plain: by its type. */
function shown(value: unknown): unknown {
  return value;
}

function unsupportedValue(path: string, value: unknown, values: readonly unknown[]): FieldError {
  return unsupported(
    path,
    value,
    values.map((each) => (typeof each === "string" ? each : JSON.stringify(each))),
  );
}

function isInteger(value: unknown): boolean {
  return typeof value === "number" && Number.isInteger(value);
}

function isOfType(value: unknown, type: string): boolean {
  switch (type) {
    case "object":
      return isMembers(value);
    case "array":
      return Array.isArray(value);
    case "integer":
      return isInteger(value);
    case "number":
      return typeof value === "number";
    default:
      return typeof value === type;
  }
}

function typeName(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value;
}

function wrongType(path: string, value: unknown, type: string): FieldError {
  const name = typeName(value);
  return typeInvalid(path, name, `${path} in body must be of type ${type}: ${JSON.stringify(name)}`);
}

function stringErrors(schema: Members, value: string, path: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  const { minLength, maxLength, pattern, format } = schema;
  if (typeof maxLength === "number" && [...value].length > maxLength) {
    errors.push({ reason: "FieldValueTooLong", field: path, message: `Too long: may not be more than ${maxLength} bytes` });
  }
  if (typeof minLength === "number" && [...value].length < minLength) {
    errors.push(invalid(path, value, `${path} in body should be at least ${minLength} chars long`));
  }
  if (typeof pattern === "string" && !matchesPattern(pattern, value))
    errors.push(invalid(path, value, `${path} in body should match '${pattern}'`));
  if (typeof format === "string" && FORMATS[format] !== undefined && !FORMATS[format].test(value)) {
    errors.push(invalid(path, value, `${path} in body must be of type ${format}: ${JSON.stringify(value)}`));
  }
  return errors;
}

// A pattern runs over what anybody sent: not over long texts.
const MOST_MATCHED = 4096;

function matchesPattern(pattern: string, value: string): boolean {
  try {
    return value.length > MOST_MATCHED || new RegExp(pattern, "u").test(value);
  } catch {
    return true;
  }
}

const FORMATS: Readonly<Record<string, RegExp>> = {
  "date-time": /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/,
  date: /^\d{4}-\d\d-\d\d$/,
  uuid: /^[0-9a-fA-F]{8}-?([0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}$/,
  byte: /^[A-Za-z0-9+/]*={0,2}$/,
  ipv4: /^(\d{1,3}\.){3}\d{1,3}$/,
  duration: /^[+-]?(\d+(\.\d+)?(ns|us|µs|ms|s|m|h|d|w))+$/,
};

function numberErrors(schema: Members, value: number, path: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
  if (typeof maximum === "number" && (value > maximum || (exclusiveMaximum === true && value === maximum))) {
    errors.push(invalid(path, value, `${path} in body should be less than ${exclusiveMaximum === true ? "" : "or equal to "}${maximum}`));
  }
  if (typeof minimum === "number" && (value < minimum || (exclusiveMinimum === true && value === minimum))) {
    errors.push(
      invalid(path, value, `${path} in body should be greater than ${exclusiveMinimum === true ? "" : "or equal to "}${minimum}`),
    );
  }
  if (typeof multipleOf === "number" && multipleOf > 0 && !Number.isInteger(value / multipleOf)) {
    errors.push(invalid(path, value, `${path} in body should be a multiple of ${multipleOf}`));
  }
  return errors;
}

function listErrors(schema: Members, value: readonly unknown[], path: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  const { minItems, maxItems, items } = schema;
  if (typeof maxItems === "number" && value.length > maxItems) {
    errors.push({ reason: "FieldValueTooMany", field: path, message: `Too many: ${value.length}: must have at most ${maxItems} items` });
  }
  if (typeof minItems === "number" && value.length < minItems)
    errors.push(invalid(path, value.length, `${path} in body should have at least ${minItems} items`));
  if (isMembers(items)) value.forEach((element, i) => void errors.push(...schemaErrors(items, element, `${path}[${i}]`)));
  const keys = schema["x-kubernetes-list-map-keys"];
  if (schema["x-kubernetes-list-type"] === "map" && Array.isArray(keys))
    errors.push(...duplicates(value, path, (each) => keyedBy(each, keys)));
  if (schema["x-kubernetes-list-type"] === "set") errors.push(...duplicates(value, path, (each) => each));
  return errors;
}

function keyedBy(element: unknown, keys: readonly unknown[]): unknown {
  return isMembers(element) ? Object.fromEntries(keys.map((key) => [String(key), element[String(key)]])) : element;
}

function duplicates(list: readonly unknown[], path: string, keyOf: (element: unknown) => unknown): readonly FieldError[] {
  const seen = new Set<string>();
  return list.flatMap((element, i): FieldError[] => {
    const key = JSON.stringify(keyOf(element));
    if (!seen.has(key)) {
      seen.add(key);
      return [];
    }
    return [{ reason: "FieldValueDuplicate", field: `${path}[${i}]`, message: `Duplicate value: ${key}` }];
  });
}

function objectErrors(schema: Members, value: Members, path: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  const at = (name: string) => (path === "" ? name : `${path}.${name}`);
  const properties = membersAt(schema, "properties");
  const additional = schema["additionalProperties"];
  for (const name of Array.isArray(schema["required"]) ? schema["required"].map(String) : []) {
    if (value[name] === undefined) errors.push(required(at(name)));
  }
  for (const name of Object.keys(value).sort()) {
    const property = Object.hasOwn(properties, name) ? properties[name] : additional;
    if (isMembers(property))
      errors.push(...schemaErrors(property, value[name], Object.hasOwn(properties, name) ? at(name) : `${path}.${name}`));
  }
  const { minProperties, maxProperties } = schema;
  const count = Object.keys(value).length;
  if (typeof minProperties === "number" && count < minProperties)
    errors.push(invalid(path, count, `${path} in body should have at least ${minProperties} properties`));
  if (typeof maxProperties === "number" && count > maxProperties) {
    errors.push({ reason: "FieldValueTooMany", field: path, message: `Too many: ${count}: must have at most ${maxProperties} items` });
  }
  return errors;
}
