import { kindOf } from "@isthmus/api";
import type { Resource } from "@isthmus/core";
import { parseAllDocuments, stringify } from "yaml";

/** The content of an input file. */
export interface GoldenInput {
  /** What a document without `apiVersion` says; {} when there is none. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly resources: readonly Resource[];
}

/** The JSON values of a multi-document YAML text. Throws on YAML that is not valid; empty documents are left out. */
export function readDocuments(text: string): readonly unknown[] {
  return parseAllDocuments(text)
    .map((document) => {
      if (document.errors[0] !== undefined) throw document.errors[0];
      return document.toJS() as unknown;
    })
    .filter((value) => value !== null && value !== undefined);
}

/** Options and parsed resources of a text. Throws on an object of no known kind, or that is not of its kind. */
export function readInput(text: string): GoldenInput {
  let options = {};
  const resources: Resource[] = [];
  for (const value of readDocuments(text)) {
    if (isResource(value)) resources.push(parsed(value));
    else options = value as object;
  }
  return { options, resources };
}

function isResource(value: unknown): value is Resource {
  return typeof value === "object" && value !== null && "apiVersion" in value;
}

function parsed(value: Resource): Resource {
  const kind = kindOf(value.apiVersion, value.kind);
  if (kind === undefined) throw new Error(`${value.apiVersion} ${value.kind} is no kind in roles.ts`);
  return kind.parse(value);
}

/** Values as multi-document YAML, keys in order, so that files differ only where values do. */
export function printDocuments(values: readonly object[]): string {
  return values.map((value) => stringify(value, { sortMapEntries: true, lineWidth: 0, aliasDuplicateObjects: false })).join("---\n");
}
