import type { ErrorObject } from "ajv";

/** What is wrong with a value, and where: the first finding of a validation, in words. */
export function problemOf(errors: readonly ErrorObject[]): { path: string; problem: string } {
  const error = errors[0];
  if (error === undefined) return { path: "", problem: "is not valid" };
  const path = pathOf(error.instancePath);
  const schema = (error.parentSchema ?? {}) as { wanted?: string };
  const value = error.data;
  // A schema may say in words what it wants: `wanted: 'a duration such as "5s"'`.
  if (schema.wanted !== undefined) return { path, problem: `${show(value)} is not ${schema.wanted}` };
  switch (error.keyword) {
    case "type":
      return { path, problem: `must be ${article(String(error.params["type"]))}, is ${show(value)}` };
    case "enum":
      return { path, problem: `${show(value)} is not one of ${(error.params["allowedValues"] as unknown[]).join(", ")}` };
    case "required":
      return { path: join(path, String(error.params["missingProperty"])), problem: "is required" };
    case "additionalProperties":
      return { path: join(path, String(error.params["additionalProperty"])), problem: "is not a known field" };
    case "atMostOneOf":
      return { path, problem: `at most one of ${(error.schema as string[]).join(", ")} may be set` };
    case "minimum":
    case "maximum":
      return { path, problem: `${show(value)} must be ${String(error.params["comparison"])} ${String(error.params["limit"])}` };
    default:
      return { path, problem: `${show(value)} ${error.message ?? "is not valid"}` };
  }
}

/** `/spec/meshes/0/name` as people write it: `spec.meshes[0].name`. */
function pathOf(pointer: string): string {
  return pointer
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"))
    .reduce((path, part) => (/^\d+$/.test(part) ? `${path}[${part}]` : join(path, part)), "");
}

function join(path: string, part: string): string {
  return path === "" ? part : `${path}.${part}`;
}

function article(type: string): string {
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`;
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}
