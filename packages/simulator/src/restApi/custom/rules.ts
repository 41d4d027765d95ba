import { messageOf } from "@isthmus/core";
import type { Environment, ParseResult } from "@marcbachmann/cel-js";
import { isMembers, type Members, membersAt } from "../../apply/json.ts";
import type { FieldError } from "../apiError.ts";
import { celEnvironment } from "./celEnvironment.ts";

interface Rule {
  readonly rule: string;
  readonly message: string | undefined;
  readonly messageExpression: string | undefined;
  readonly reason: string | undefined;
  readonly fieldPath: string | undefined;
  readonly optionalOldSelf: boolean;
}

const parsed = new WeakMap<Environment, Map<string, ParseResult | string>>();
const environment = { shared: undefined as Environment | undefined };
// Rules and values come from anybody: a rule is not tried more often than this for one object.
const MOST_EVALUATIONS = 20_000;

/** What is wrong with a value by the rules (`x-kubernetes-validations`) of its schema. `before`: the value that it replaces, for rules about transitions. */
export function ruleErrors(schema: Members, value: unknown, before: unknown, path: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  check(schema, { value, before, path }, { errors, left: MOST_EVALUATIONS });
  return errors;
}

interface Place {
  readonly value: unknown;
  readonly before: unknown;
  readonly path: string;
}

interface Checking {
  readonly errors: FieldError[];
  left: number;
}

function check(schema: Members, { value, before, path }: Place, checking: Checking): void {
  if (value === undefined || value === null) return;
  for (const rule of rulesOf(schema)) {
    if (checking.left-- <= 0) return;
    const usesOld = /\boldSelf\b/.test(rule.rule);
    if (usesOld && before === undefined && !rule.optionalOldSelf) continue;
    const error = problemOf(rule, schema, { value, before, path });
    if (error !== undefined) checking.errors.push(error);
  }
  if (Array.isArray(value) && isMembers(schema["items"])) {
    const items = schema["items"];
    const keys = schema["x-kubernetes-list-map-keys"];
    value.forEach((element: unknown, i) => {
      check(items, { value: element, before: counterpart(element, before, keys), path: `${path}[${i}]` }, checking);
    });
  }
  if (!isMembers(value)) return;
  const properties = membersAt(schema, "properties");
  const additional = schema["additionalProperties"];
  for (const name of Object.keys(value).sort()) {
    const property = Object.hasOwn(properties, name) ? properties[name] : additional;
    const old = isMembers(before) ? before[name] : undefined;
    if (isMembers(property)) check(property, { value: value[name], before: old, path: path === "" ? name : `${path}.${name}` }, checking);
  }
}

/** The element of the list before that is the same one by its keys. */
function counterpart(element: unknown, before: unknown, keys: unknown): unknown {
  if (!Array.isArray(before) || !Array.isArray(keys) || !isMembers(element)) return undefined;
  return before.find((each: unknown) => isMembers(each) && keys.every((key) => each[String(key)] === element[String(key)]));
}

function rulesOf(schema: Members): readonly Rule[] {
  const list = schema["x-kubernetes-validations"];
  if (!Array.isArray(list)) return [];
  return list.filter(isMembers).map((each) => ({
    rule: String(each["rule"]),
    message: typeof each["message"] === "string" ? each["message"] : undefined,
    messageExpression: typeof each["messageExpression"] === "string" ? each["messageExpression"] : undefined,
    reason: typeof each["reason"] === "string" ? each["reason"] : undefined,
    fieldPath: typeof each["fieldPath"] === "string" ? each["fieldPath"] : undefined,
    optionalOldSelf: each["optionalOldSelf"] === true,
  }));
}

/** The expression, or why it cannot be used. */
export function parsedRule(expression: string): ParseResult | string {
  environment.shared ??= celEnvironment();
  let known = parsed.get(environment.shared);
  if (known === undefined) {
    known = new Map();
    parsed.set(environment.shared, known);
  }
  let result = known.get(expression);
  if (result === undefined) {
    try {
      result = environment.shared.parse(expression);
    } catch (error) {
      result = messageOf(error);
    }
    if (known.size < 10_000) known.set(expression, result);
  }
  return result;
}

function problemOf(rule: Rule, schema: Members, { value, before, path }: Place): FieldError | undefined {
  const program = parsedRule(rule.rule);
  const at = rule.fieldPath === undefined ? path : `${path}${rule.fieldPath}`;
  const bound = { self: celValue(value, schema), oldSelf: celValue(before, schema) };
  if (typeof program !== "string") {
    try {
      if (program(bound) === true) return undefined;
    } catch (error) {
      return { reason: "FieldValueInvalid", field: at, message: `Invalid value: ${shown(value)}: ${failure(rule, messageOf(error))}` };
    }
  }
  const message = messageFrom(rule, bound) ?? rule.message ?? `failed rule: ${rule.rule.trim()}`;
  const reason =
    rule.reason === "FieldValueForbidden" || rule.reason === "FieldValueRequired" || rule.reason === "FieldValueDuplicate"
      ? rule.reason
      : "FieldValueInvalid";
  const words =
    reason === "FieldValueForbidden"
      ? `Forbidden: ${message}`
      : reason === "FieldValueRequired"
        ? `Required value: ${message}`
        : reason === "FieldValueDuplicate"
          ? `Duplicate value: ${shown(value)}`
          : `Invalid value: ${shown(value)}: ${message}`;
  return { reason, field: at, message: words };
}

function messageFrom({ messageExpression }: Rule, bound: Members): string | undefined {
  if (messageExpression === undefined) return undefined;
  const program = parsedRule(messageExpression);
  if (typeof program === "string") return undefined;
  try {
    const text: unknown = program(bound);
    return typeof text === "string" && text.trim() !== "" && !text.includes("\n") ? text : undefined;
  } catch {
    return undefined;
  }
}

function failure({ rule, message }: Rule, problem: string): string {
  return `${message === undefined ? "" : `${message}: `}rule evaluation error: ${problem.split("\n")[0] ?? ""}${message === undefined ? `: ${rule}` : ""}`;
}

/** Values that rules are about are shown whole where they are plain, objects and lists by their type. */
function shown(value: unknown): string {
  if (Array.isArray(value)) return '"array"';
  return isMembers(value) ? '"object"' : JSON.stringify(value);
}

/** A JSON value as rules see it: whole numbers are integers. */
function celValue(value: unknown, schema: unknown): unknown {
  if (value === undefined || value === null) return null;
  const type = isMembers(schema) ? schema["type"] : undefined;
  if (typeof value === "number") {
    return type === "number" || !Number.isSafeInteger(value) ? value : BigInt(value);
  }
  if (Array.isArray(value)) return value.map((each: unknown) => celValue(each, isMembers(schema) ? schema["items"] : undefined));
  if (!isMembers(value)) return value;
  const properties = isMembers(schema) ? membersAt(schema, "properties") : {};
  const additional = isMembers(schema) ? schema["additionalProperties"] : undefined;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      celValue(member, Object.hasOwn(properties, name) ? properties[name] : additional),
    ]),
  );
}
