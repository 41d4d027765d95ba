import { isMembers, type Members, membersAt } from "../../apply/json.ts";

const OBJECT_FIELDS: ReadonlySet<string> = new Set(["apiVersion", "kind", "metadata"]);

/**
 * A value without what its schema does not name, as API servers store objects of CustomResourceDefinitions, and the paths of what went. Objects within that say that
 * they are whole objects keep their type and metadata.
 */
export function pruned(
  schema: Members,
  value: unknown,
  { path = "", isRoot = true } = {},
): { readonly value: unknown; readonly unknown: readonly string[] } {
  const unknown: string[] = [];
  const result = prunedValue(schema, value, { path, isRoot, keeps: false }, unknown);
  return { value: result, unknown };
}

interface Place {
  readonly path: string;
  readonly isRoot: boolean;
  readonly keeps: boolean;
}

function prunedValue(schema: Members, value: unknown, { path, isRoot, keeps }: Place, unknown: string[]): unknown {
  const keepsHere =
    schema["x-kubernetes-preserve-unknown-fields"] === true ||
    (keeps && schema["properties"] === undefined && schema["items"] === undefined);
  if (Array.isArray(value)) {
    const { items } = schema;
    if (!isMembers(items)) return value;
    return value.map((element: unknown, i) =>
      prunedValue(items, element, { path: `${path}[${i}]`, isRoot: false, keeps: keepsHere }, unknown),
    );
  }
  if (!isMembers(value)) return value;
  const properties = membersAt(schema, "properties");
  const additional = schema["additionalProperties"];
  const isObject = isRoot || schema["x-kubernetes-embedded-resource"] === true;
  const result: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(value)) {
    const at = path === "" ? name : `${path}.${name}`;
    let kept: unknown = member;
    if (isObject && OBJECT_FIELDS.has(name)) kept = member;
    else if (Object.hasOwn(properties, name) && isMembers(properties[name])) {
      kept = prunedValue(properties[name] as Members, member, { path: at, isRoot: false, keeps: false }, unknown);
    } else if (isMembers(additional)) kept = prunedValue(additional, member, { path: at, isRoot: false, keeps: keepsHere }, unknown);
    else if (additional !== true && !keepsHere) {
      unknown.push(at);
      continue;
    }
    Object.defineProperty(result, name, { value: kept, enumerable: true, writable: true, configurable: true });
  }
  return result;
}

/** A value with the defaults of its schema; the same value where none is missing. */
export function defaulted(schema: Members, value: unknown): unknown {
  if (Array.isArray(value)) {
    const { items } = schema;
    return isMembers(items) ? value.map((element: unknown) => defaulted(items, element)) : value;
  }
  if (!isMembers(value)) return value;
  const result: Record<string, unknown> = { ...value };
  for (const [name, property] of Object.entries(membersAt(schema, "properties"))) {
    if (!isMembers(property)) continue;
    const isNull = result[name] === null && property["nullable"] !== true;
    if ((result[name] === undefined || isNull) && property["default"] !== undefined) result[name] = structuredClone(property["default"]);
    else if (isNull) delete result[name];
    if (result[name] !== undefined) result[name] = defaulted(property, result[name]);
  }
  const additional = schema["additionalProperties"];
  if (!isMembers(additional)) return result;
  const properties = membersAt(schema, "properties");
  for (const [name, member] of Object.entries(result)) if (!Object.hasOwn(properties, name)) result[name] = defaulted(additional, member);
  return result;
}
