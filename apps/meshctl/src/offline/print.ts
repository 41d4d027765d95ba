import type { TranslateCommandOptions } from "./translateOptions.ts";
import { yamlText } from "./yamlText.ts";

/** A Kubernetes object as it is printed. */
export interface Printable {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly clusterName?: string };
  readonly status?: unknown;
}

/** By apiVersion, kind, clusterName, namespace, name, in byte order. */
export function inOrder<P extends Printable>(objects: Iterable<P>): readonly P[] {
  const keyed = [...objects].map((object) => ({ object, key: keyOf(object) }));
  keyed.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  return keyed.map(({ object }) => object);
}

// The separator sorts before every character of a name.
function keyOf({ apiVersion, kind, metadata }: Printable): string {
  return [apiVersion, kind, metadata.clusterName ?? "", metadata.namespace ?? "", metadata.name].join("\u0000");
}

/** An object as its own cluster takes it: no API server knows `metadata.clusterName`. */
export function inOneCluster<P extends Printable>(object: P): Printable {
  const { clusterName: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

/** As people write objects: what it is and its name first. Members that are undefined are not printed. */
function arranged({ apiVersion, kind, metadata, ...rest }: Printable): object {
  const { name, namespace, clusterName, ...others } = metadata;
  return { apiVersion, kind, metadata: { name, namespace, clusterName, ...others }, ...rest };
}

/** Multi-document YAML, or one JSON List, in pieces. */
export function* printed(objects: readonly Printable[], format: TranslateCommandOptions["output"]): Generator<string> {
  if (format === "json") {
    yield '{\n  "apiVersion": "v1",\n  "kind": "List",\n  "items": [';
    for (const [index, object] of objects.entries()) {
      yield `${index === 0 ? "" : ","}\n    ${JSON.stringify(arranged(object), undefined, 2).replaceAll("\n", "\n    ")}`;
    }
    yield objects.length === 0 ? "]\n}\n" : "\n  ]\n}\n";
    return;
  }
  for (const [index, object] of objects.entries()) yield `${index === 0 ? "" : "---\n"}${yamlText(arranged(object))}`;
}
