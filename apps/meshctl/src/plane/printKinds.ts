import type { Cluster } from "@isthmus/ports";
import type { Io } from "../io.ts";
import { plainText } from "../output/plainText.ts";
import { type KindName, kindsNamed } from "./kinds.ts";
import { type Format, objectsText } from "./printObjects.ts";
import { type Listed, requireNamed, type Selection, selectedObjects, withNames } from "./selectedObjects.ts";

interface Printing {
  readonly io: Io;
  readonly now: () => number;
  readonly cluster: Cluster;
  readonly kinds: readonly KindName[];
  readonly selection: Selection;
  /** `name`, or `namespace/name`; none: all. */
  readonly names: readonly string[];
  readonly format: Format;
}

/** Prints objects of some kinds. Objects that are not of their kind are named beside. */
export async function printKinds({ io, now, cluster, kinds, selection, names, format }: Printing, signal: AbortSignal): Promise<void> {
  const found = [];
  const known = [];
  for (const kind of await kindsNamed(kinds)) {
    const all = await selectedObjects(cluster, kind, selection, signal);
    known.push(all);
    found.push({ kind, items: withNames(all.items, names) });
    noteMalformed(io, all);
  }
  const { columns } = io;
  const text = objectsText(found, { format, now: now(), ...(columns === undefined ? {} : { width: columns }) });
  await io.out(text);
  if (typeof format === "object" && text.trim() === "" && found.some(({ items }) => items.length > 0)) io.note(NO_VALUE);
  requireNamed(names, known);
  if (known.every(({ items, malformed }) => items.length + malformed.length === 0)) io.note("No resources found.\n");
}

/** Says which objects could not be read. */
export function noteMalformed(io: Io, { malformed }: Listed): void {
  const yellow = io.colors.yellow("warning:");
  for (const { message } of malformed.slice(0, MOST_NOTES)) io.err(`${yellow} ${plainText(message)}\n`);
  if (malformed.length > MOST_NOTES) io.err(`${yellow} ${malformed.length - MOST_NOTES} more objects cannot be read\n`);
}

// Most often the template was made for one object.
const NO_VALUE = "No value matches the template. It is read over a List: {.items[*].metadata.name}\n";

// There may be one for each object.
const MOST_NOTES = 20;
