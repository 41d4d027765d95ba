import { MAX_DEPTH } from "@isthmus/core";
import type { InputDocument, Unreadable } from "./documents.ts";

/** One object of the input, and where it stands. */
export interface InputObject {
  readonly value: Readonly<Record<string, unknown>> & { readonly apiVersion: string; readonly kind: string };
  readonly file: string;
  readonly document: number;
  /** The line of a field, given as messages name it: `spec.meshes[0].name`. "" is the object itself. */
  lineOf(field: string): number;
}

/** The objects of a document: itself, or the items of a List, and of Lists in it. What is no Kubernetes object is unreadable. */
export function unfold(document: InputDocument): { readonly objects: readonly InputObject[]; readonly unreadable: readonly Unreadable[] } {
  const objects: InputObject[] = [];
  const unreadable: Unreadable[] = [];
  const visit = (value: unknown, path: readonly (string | number)[], type: Partial<TypeMeta>): void => {
    const object = isRecord(value) ? { ...type, ...value } : value;
    const problem = path.length > MAX_DEPTH ? `is nested deeper than ${MAX_DEPTH} levels: reduce its nesting` : problemOf(object);
    if (isList(object) && path.length <= MAX_DEPTH) {
      const itemType = itemTypeOf(object);
      for (const [index, item] of object.items.entries()) visit(item, [...path, "items", index], itemType);
    } else if (problem !== undefined) {
      unreadable.push({ file: document.file, number: document.number, line: document.lineOf(path), problem });
    } else {
      objects.push({
        value: object as InputObject["value"],
        file: document.file,
        document: document.number,
        lineOf: (field) => document.lineOf([...path, ...stepsOf(field)]),
      });
    }
  };
  visit(document.value, [], {});
  return { objects, unreadable };
}

interface TypeMeta {
  readonly apiVersion: string;
  readonly kind: string;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isList(value: unknown): value is TypeMeta & { readonly items: readonly unknown[] } {
  return isRecord(value) && typeof value["kind"] === "string" && value["kind"].endsWith("List") && Array.isArray(value["items"]);
}

/** What was to be a List; null is an empty one where Go has written it. */
function isBrokenList({ apiVersion, kind, items }: Readonly<Record<string, unknown>>): boolean {
  return apiVersion === "v1" && kind === "List" && items !== null && !Array.isArray(items);
}

/** The items of a typed list, such as DeploymentList, need not repeat their type, as the API server leaves it out. */
function itemTypeOf({ apiVersion, kind }: TypeMeta): Partial<TypeMeta> {
  return kind === "List" ? {} : { apiVersion, kind: kind.slice(0, -"List".length) };
}

function problemOf(value: unknown): string | undefined {
  if (Array.isArray(value)) return "is a list: use one object per document, or a List with items";
  if (!isRecord(value)) return `is ${JSON.stringify(value)}, not an object with apiVersion and kind`;
  for (const field of ["apiVersion", "kind"]) {
    if (typeof value[field] !== "string" || value[field] === "") return `has no ${field}: Kubernetes objects require apiVersion and kind`;
  }
  return isBrokenList(value) ? "is a List without a list of items: set items, or leave it out" : undefined;
}

/** `spec.meshes[0].name` in steps. */
export function stepsOf(field: string): readonly (string | number)[] {
  return field
    .split(/[.[\]]/)
    .filter((step) => step !== "")
    .map((step) => (/^\d+$/.test(step) ? Number(step) : step));
}
