import { keptText, nearestName, type Problem } from "@isthmus/core";
import type { ErrorObject } from "ajv";

/** What is wrong with a value, and where: a finding of a validation, in words. */
export function problemOf(error: ErrorObject): Problem {
  const path = pathOf(error.instancePath);
  const schema = (error.parentSchema ?? {}) as { wanted?: string };
  const value = error.data;
  // A schema may say in words what it wants: `wanted: 'a duration such as "5s"'`.
  if (schema.wanted !== undefined) return { path, problem: `${show(value)} is not ${schema.wanted}` };
  switch (error.keyword) {
    case "type":
      return { path, problem: `must be ${article(String(error.params["type"]))}, is ${show(value)}` };
    case "enum":
      return { path, problem: wordProblem(value, error.params["allowedValues"] as readonly string[]) };
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

/** A value that is none of the words of an enum. */
function wordProblem(value: unknown, words: readonly string[]): string {
  const near = typeof value === "string" ? (nearestName(value, words) ?? wordOfSwitch(value, words)) : undefined;
  return `${show(value)} is not one of ${words.join(", ")}${near === undefined ? "" : `: did you mean ${near}?`}`;
}

/** The word for what others write as a switch. */
function wordOfSwitch(value: string, words: readonly string[]): string | undefined {
  const meant = SWITCHES.get(value.toLowerCase()) ?? [];
  return words.find((word) => meant.includes(word));
}

// Among the words of one enum at most one is of each list.
const ON = ["ENABLED", "ISTIO_MUTUAL"];
const OFF = ["DISABLED", "DISABLE"];
// A Map: what users write may be the name of a member that every object has, such as "constructor".
const SWITCHES: ReadonlyMap<string, readonly string[]> = new Map([
  ...["on", "true", "yes", "enable"].map((word) => [word, ON] as const),
  ...["off", "false", "no", "disable"].map((word) => [word, OFF] as const),
]);

/** `/spec/meshes/0/name` in steps. */
export function pointerSteps(pointer: string): readonly string[] {
  return pointer
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** Steps as a JSON pointer. */
export function pointerOf(steps: readonly string[]): string {
  return steps.map((step) => `/${step.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

/** `/spec/meshes/0/name` as people write it: `spec.meshes[0].name`. */
function pathOf(pointer: string): string {
  return pointerSteps(pointer).reduce((path, part) => (/^\d+$/.test(part) ? `${path}[${part}]` : join(path, part)), "");
}

function join(path: string, part: string): string {
  return path === "" ? part : `${path}.${part}`;
}

function article(type: string): string {
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`;
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > 80 ? `${keptText(text, 77)}...` : text;
}
