import type { Cell } from "../../output/boxedTable.ts";

/** What a ref names; parts that are empty are left out. */
interface NamedRef {
  readonly name?: string | undefined;
  readonly namespace?: string | undefined;
  readonly clusterName?: string | undefined;
}

/** `Key: value` for each member that is not empty. */
export function fieldLines(fields: Readonly<Record<string, string | number | readonly string[] | undefined>>): Cell {
  return Object.entries(fields).flatMap(([key, value]) => {
    const text = typeof value === "object" ? value.join(", ") : String(value ?? "");
    return text === "" ? [] : [`${key}: ${text}`];
  });
}

/** An object's name, over several lines. */
export function refLines({ name, namespace, clusterName }: NamedRef): Cell {
  return fieldLines({ Name: name, Namespace: namespace, Cluster: clusterName });
}

/** Refs with an empty line between them; above `most` the rest is counted. */
export function refsLines(refs: readonly NamedRef[], most = MOST_REFS): Cell {
  const shown = paragraphs(refs.slice(0, most).map(refLines));
  return refs.length > most ? [...shown, "", `... and ${refs.length - most} more`] : shown;
}

// As many as a person reads; `meshctl get -o yaml` has all.
const MOST_REFS = 50;

/** Groups of lines with an empty line between them; empty groups are left out. */
export function paragraphs(groups: readonly Cell[]): Cell {
  return groups.filter(({ length }) => length > 0).flatMap((lines, i) => (i === 0 ? lines : ["", ...lines]));
}

/** A title in upper case, and labels below it, sorted. */
export function labelLines(title: string, labels: Readonly<Record<string, string>> | undefined): Cell {
  const lines = Object.entries(labels ?? {})
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${key}: ${value}`);
  return lines.length === 0 ? [] : [title, ...lines];
}
