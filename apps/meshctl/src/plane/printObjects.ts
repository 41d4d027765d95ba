import type { DefinedKind } from "@isthmus/api";
import { groupOf, plainJson, type Resource } from "@isthmus/core";
import { yamlText } from "../offline/yamlText.ts";
import { columnsText } from "../output/columns.ts";
import type { Template } from "../output/jsonPath/template.ts";
import { templateText } from "../output/jsonPath/templateText.ts";
import { plainText } from "../output/plainText.ts";
import { type Column, cellOf } from "../output/printerColumn.ts";

/** How objects are printed: those of `kubectl get`. */
export type Format = "table" | "wide" | "yaml" | "json" | "name" | { readonly jsonPath: Template };

/** Objects of one kind. */
export interface Printed {
  readonly kind: DefinedKind<Resource>;
  readonly items: readonly Resource[];
}

export interface PrintOptions {
  readonly format: Format;
  /** Milliseconds since 1970, for ages. */
  readonly now: number;
  /** Of the terminal. */
  readonly width?: number;
}

/** The text of objects. Of a kind without objects a table shows nothing. */
export function objectsText(groups: readonly Printed[], { format, now, width }: PrintOptions): string {
  const items = groups.flatMap((group) => group.items.map((resource) => shown(group.kind, resource)));
  const list = { apiVersion: "v1", kind: "List", metadata: {}, items };
  if (typeof format === "object") return templateText(format.jsonPath, list);
  switch (format) {
    case "json":
      return `${JSON.stringify(list, undefined, 2)}\n`;
    case "yaml":
      return items.map((item) => `---\n${yamlText(item)}`).join("");
    case "name":
      return groups.map((group) => group.items.map((resource) => `${fullName(group.kind, resource)}\n`).join("")).join("");
    default: {
      const tables = groups.filter((group) => group.items.length > 0);
      return tables.map((group) => table(group, { isWide: format === "wide", isOneOfMany: groups.length > 1, now, width })).join("\n");
    }
  }
}

/** The text of one object in a stream of them: JSON and YAML as objects of their own, not in a List. */
export function objectText(kind: DefinedKind<Resource>, resource: Resource, format: Exclude<Format, "table" | "wide">): string {
  if (format === "json") return `${JSON.stringify(shown(kind, resource), undefined, 2)}\n`;
  return objectsText([{ kind, items: [resource] }], { format, now: 0 });
}

/** The object without the API server's record of who wrote what. */
function shown({ apiVersion, kind }: DefinedKind<Resource>, resource: Resource): unknown {
  const { managedFields: _, ...metadata } = resource.metadata;
  return plainJson({ ...resource, apiVersion: resource.apiVersion || apiVersion, kind: resource.kind || kind, metadata });
}

/** `trafficpolicy.networking.mesh.gloo.solo.io/slow`, as kubectl names an object. */
function fullName({ apiVersion, kind }: DefinedKind<Resource>, { metadata }: Resource): string {
  return `${kind.toLowerCase()}.${groupOf(apiVersion)}/${plainText(metadata.name)}`;
}

interface TableOptions {
  readonly isWide: boolean;
  /** Names then say the kind. */
  readonly isOneOfMany: boolean;
  readonly now: number;
  readonly width: number | undefined;
}

function table(printed: Printed, options: TableOptions): string {
  const { headers, rows } = tableCells(printed, options);
  return columnsText(headers, rows, { width: options.width, isSentenceLast: isSentenceLast(headers) });
}

/** Whether the last column has sentences. */
export function isSentenceLast(headers: readonly string[]): boolean {
  return headers.at(-1) === "MESSAGE";
}

/** The cells of a table of one kind: a row for each object. */
export function tableCells(
  { kind, items }: Printed,
  { isWide, isOneOfMany, now }: Omit<TableOptions, "width">,
): { readonly headers: readonly string[]; readonly rows: readonly (readonly string[])[] } {
  const columns = (kind.definition.crd?.printerColumns ?? []).filter(({ priority = 0 }: Column) => isWide || priority === 0);
  const headers = ["NAMESPACE", "NAME", ...columns.map(({ name }) => name.toUpperCase())];
  const rows = items.map((item) => [
    item.metadata.namespace ?? "",
    isOneOfMany ? `${kind.kind.toLowerCase()}/${item.metadata.name}` : item.metadata.name,
    ...columns.map((column) => cellOf(item, column, now)),
  ]);
  return { headers, rows };
}
