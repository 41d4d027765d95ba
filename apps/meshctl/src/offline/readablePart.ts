import type { Problem } from "@isthmus/core";
import { stepsOf } from "./unfold.ts";

type Steps = readonly (string | number)[];

/**
 * An object without the members that are wrong in it, so that what it refers to can be checked in the same run; undefined where its name or
 * type is wrong. A member of a list is left out with its list: the places of the others would not be those of the input.
 */
export function withoutMembers(value: object, problems: readonly Problem[]): object | undefined {
  const copy = structuredClone(value);
  for (const { path } of problems) {
    const steps = removable(stepsOf(path));
    if (steps.length === 0 || NAMING.has(steps[0] ?? "")) return undefined;
    removeNearest(copy, steps);
  }
  return copy;
}

const NAMING: ReadonlySet<string | number> = new Set(["apiVersion", "kind", "metadata"]);

/** Up to the last step that is no place in a list. */
function removable(steps: Steps): Steps {
  return steps.slice(0, steps.findLastIndex((step) => typeof step === "string") + 1);
}

/** A member that is missing makes what should hold it wrong. */
function removeNearest(root: object, steps: Steps): void {
  for (let path = steps; path.length > 0; path = removable(path.slice(0, -1))) {
    const holder = path.slice(0, -1).reduce<unknown>(memberOf, root);
    const name = path.at(-1) ?? "";
    if (isObject(holder) && Object.hasOwn(holder, name)) {
      Reflect.deleteProperty(holder, name);
      return;
    }
  }
}

function memberOf(value: unknown, step: string | number): unknown {
  return isObject(value) && Object.hasOwn(value, step) ? Reflect.get(value, step) : undefined;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
