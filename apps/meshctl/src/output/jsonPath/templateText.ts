import { UsageError } from "@isthmus/core";
import type { Filter, Path, PathStep, Slice, Template } from "./template.ts";
import { valueText } from "./valueText.ts";

/**
 * The text of a template over JSON, as `kubectl get -o jsonpath=TEMPLATE` prints it. What is not there, or is of another type than a step needs,
 * yields nothing. Throws UsageError when the template visits more values or yields more text than fit in memory.
 */
export function templateText(template: Template, data: unknown): string {
  return new Evaluation().text(template, data);
}

// Some hundred for each object of the largest fleet; a template such as {..[*]..[*]} reaches any number.
const MOST_VALUES = 20_000_000;
// Half of what a string can have.
const MOST_CHARACTERS = 1 << 28;

class Evaluation {
  #values = 0;
  #characters = 0;

  text(template: Template, current: unknown): string {
    const parts: string[] = [];
    for (const part of template) {
      if ("text" in part) parts.push(this.#counted(part.text));
      else if ("range" in part) for (const value of this.#follow(part.range, [current])) parts.push(this.text(part.body, value));
      else parts.push(this.#path(part.path, current));
    }
    return parts.join("");
  }

  #path(path: Path, current: unknown): string {
    return this.#follow(path, [current])
      .map((value) => this.#counted(valueText(value)))
      .join(" ");
  }

  #counted(text: string): string {
    this.#characters += text.length + 1;
    if (this.#characters > MOST_CHARACTERS)
      throw new UsageError("jsonpath: the template yields too much text: select fewer objects or fields");
    return text;
  }

  #follow(path: Path, from: readonly unknown[]): readonly unknown[] {
    let values = from;
    for (const step of path) values = this.#step(step, values);
    return values;
  }

  #step(step: PathStep, values: readonly unknown[]): readonly unknown[] {
    if ("union" in step) return step.union.flatMap((path) => this.#follow(path, values));
    const found: unknown[] = [];
    for (const value of values) {
      if ("descend" in step) this.#descend(value, found);
      else for (const next of this.#below(step, value)) this.#add(found, next);
    }
    return found;
  }

  #below(step: Exclude<PathStep, { readonly union: unknown } | { readonly descend: true }>, value: unknown): readonly unknown[] {
    if ("field" in step) return fieldOf(value, step.field);
    if ("every" in step) return membersOf(value);
    if (!Array.isArray(value)) return [];
    return "filter" in step ? value.filter((item: unknown) => this.#passes(step.filter, item)) : sliceOf(value, step);
  }

  /** The value, then what is in it; of those without anything in them only texts, as kubectl has it. */
  #descend(value: unknown, found: unknown[]): void {
    const members = membersOf(value);
    if (members.length === 0 && (typeof value !== "string" || value === "")) return;
    this.#add(found, value);
    for (const member of members) this.#descend(member, found);
  }

  #passes({ left, test }: Filter, item: unknown): boolean {
    this.#count();
    const lefts = this.#follow(left, [item]);
    if (test === undefined) return lefts.length > 0;
    const rights = "literal" in test.right ? [test.right.literal] : this.#follow(test.right, [item]);
    // Of several values none is the one to compare.
    if (lefts.length !== 1 || rights.length !== 1) return false;
    const [a] = lefts;
    const [b] = rights;
    if (test.operator === "==" || test.operator === "!=") return isScalar(a) && isScalar(b) && (a === b) === (test.operator === "==");
    if (typeof a === "number" && typeof b === "number") return isOrdered(test.operator, a - b);
    return typeof a === "string" && typeof b === "string" && isOrdered(test.operator, a < b ? -1 : Number(a > b));
  }

  #add(found: unknown[], value: unknown): void {
    this.#count();
    found.push(value);
  }

  #count(): void {
    this.#values++;
    if (this.#values > MOST_VALUES)
      throw new UsageError("jsonpath: the template visits too many values: use .. less, or select fewer objects");
  }
}

function isOrdered(operator: "<" | "<=" | ">" | ">=", difference: number): boolean {
  switch (operator) {
    case "<":
      return difference < 0;
    case "<=":
      return difference <= 0;
    case ">":
      return difference > 0;
    case ">=":
      return difference >= 0;
  }
}

function isScalar(value: unknown): boolean {
  return typeof value !== "object" || value === null;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Only what the object itself has: a label may be called `constructor`. */
function fieldOf(value: unknown, name: string): readonly unknown[] {
  return isObject(value) && Object.hasOwn(value, name) ? [value[name]] : [];
}

/** Of objects in the order of their keys, so that the text is the same each time. */
function membersOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  if (!isObject(value)) return [];
  return Object.keys(value)
    .sort()
    .map((key) => value[key]);
}

function sliceOf(items: readonly unknown[], { from, to, step, isIndex }: Slice): readonly unknown[] {
  if (isIndex) {
    const index = from < 0 ? from + items.length : from;
    return index in items ? [items[index]] : [];
  }
  const part = items.slice(from, to);
  return step === 1 ? part : part.filter((_, i) => i % step === 0);
}
