import { Ajv, type ValidateFunction } from "ajv";
import { expect } from "vitest";
import { OUTPUTS } from "./catalogue.ts";
import { isWhole, type Schema } from "./schema.ts";

/** The schema of a command, by its words: the longest of its own, or that of a command above. */
export function outputOf(words: readonly string[]): string | undefined {
  for (let length = words.length; length > 0; length--) {
    const path = words.slice(0, length).join(" ");
    const found = Object.entries(OUTPUTS).find(([, { commands }]) => commands.includes(path));
    if (found !== undefined) return found[0];
  }
  return undefined;
}

/** What a command line printed with `-o json` is as its schema says, and has no member that the schema does not. Other command lines pass. */
export function expectOutput(args: readonly string[], out: string): void {
  const isJson = args.some((arg, i) => arg === "json" && ["-o", "--output"].includes(args[i - 1] ?? ""));
  // With --follow each entry is a text of its own.
  if (!isJson || out === "" || (args[0] === "logs" && args.some((arg) => ["-f", "--follow"].includes(arg)))) return;
  const flag = args.findIndex((arg) => arg.startsWith("-"));
  const name = outputOf(args.slice(0, flag)) ?? expect.unreachable(`no schema of ${args.join(" ")}`);
  const validate = validatorOf(name);
  const isValid = validate(JSON.parse(out));
  expect({ output: name, errors: isValid ? [] : validate.errors }).toEqual({ output: name, errors: [] });
}

const validators = new Map<string, ValidateFunction>();

function validatorOf(name: string): ValidateFunction {
  const known = validators.get(name);
  if (known !== undefined) return known;
  const output = OUTPUTS[name] ?? expect.unreachable(`no schema is called ${name}`);
  const validate = new Ajv({ allErrors: true, formats: { "date-time": isTime } }).compile(closed(output.schema));
  validators.set(name, validate);
  return validate;
}

function isTime(value: string): boolean {
  return !Number.isNaN(Date.parse(value));
}

/** The same schema, without other members than it names; published ones let members be added. Objects of Kubernetes have schemas of their own. */
function closed(schema: Schema): Schema {
  const mapped = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closedValue(value)]));
  return isWhole(schema) ? { ...mapped, additionalProperties: false } : mapped;
}

function closedValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closedValue);
  return typeof value === "object" && value !== null ? closed(value as Schema) : value;
}
