import type { Problem } from "@isthmus/core";
import type { ErrorObject, ValidateFunction } from "ajv";
import { pointerOf, pointerSteps, problemOf } from "./problem.ts";

/** At most so many mistakes of one object are named: each costs one more validation, and who reads twenty knows enough. */
export const MOST_PROBLEMS = 20;

/**
 * The mistakes in a value, in the order in which validation meets them. Validation ends at the first mistake, as an object may hold a
 * million; so what is wrong is left out, and the rest validated again. What an object requires can't be left out of it: then the rest
 * of that object is not validated. None: the value is valid.
 */
export function problemsIn(validate: ValidateFunction, value: unknown): readonly Problem[] {
  if (validate(value)) return NONE;
  const problems: Problem[] = [];
  const copies: Copies = new Map();
  let rest: unknown = value;
  // Of the first round `validate` has reported already.
  while (problems.length < MOST_PROBLEMS && (rest === value || !validate(rest))) {
    const [error] = (validate.errors ?? []) as readonly ErrorObject[];
    if (error === undefined) return [...problems, { path: "", problem: "is not valid" }];
    if (!isOwnGap(error, copies)) problems.push(problemOf({ ...error, instancePath: givenPointer(rest, error.instancePath, copies) }));
    for (const steps of mistaken(error)) {
      // Nothing would be left.
      if (steps.length === 0) return problems;
      rest = without(rest, steps, copies);
    }
  }
  return problems;
}

const NONE: readonly Problem[] = [];

/** The copies from which something was left out. */
type Copies = Map<object, LeftOut>;
interface LeftOut {
  /** Of an array: where what is left of its elements stood. */
  readonly places: number[];
  /** Of an object: the members that were wrong. */
  readonly members: Set<string>;
}

/** Whether what is missing was given, and left out since it was wrong. */
function isOwnGap({ keyword, params, data }: ErrorObject, copies: Copies): boolean {
  return keyword === "required" && copies.get(data as object)?.members.has(String(params["missingProperty"])) === true;
}

/** What to leave out, so that the rest can be validated. */
function mistaken({ instancePath, keyword, params, schema, data }: ErrorObject): readonly (readonly string[])[] {
  const steps = pointerSteps(instancePath);
  if (keyword === "additionalProperties") return [[...steps, String(params["additionalProperty"])]];
  if (keyword !== "atMostOneOf") return [steps];
  const [, ...excess] = (schema as readonly string[]).filter((member) => (data as Readonly<Record<string, unknown>>)[member] !== undefined);
  return excess.map((member) => [...steps, member]);
}

/** A place in what is left as a place in what was given. */
function givenPointer(rest: unknown, pointer: string, copies: Copies): string {
  const steps: string[] = [];
  let value = rest;
  for (const step of pointerSteps(pointer)) {
    steps.push(Array.isArray(value) ? String(copies.get(value)?.places[Number(step)] ?? step) : step);
    value = (value as Readonly<Record<string, unknown>>)[step];
  }
  return pointerOf(steps);
}

/** The same value without what is at a place. Only what is above the place is copied, and once, however often something is left out. */
function without(value: unknown, [name = "", ...deeper]: readonly string[], copies: Copies): unknown {
  const copy = ownCopy(value as object, copies) as Record<string, unknown>;
  if (deeper.length > 0) copy[name] = without(copy[name], deeper, copies);
  else if (Array.isArray(copy)) for (const list of [copy, copies.get(copy)?.places]) list?.splice(Number(name), 1);
  else {
    delete copy[name];
    copies.get(copy)?.members.add(name);
  }
  return copy;
}

function ownCopy(value: object, copies: Copies): object {
  if (copies.has(value)) return value;
  const copy = Array.isArray(value) ? [...value] : { ...value };
  copies.set(copy, { places: Array.isArray(copy) ? [...copy.keys()] : [], members: new Set() });
  return copy;
}
