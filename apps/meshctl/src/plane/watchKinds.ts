import type { DefinedKind } from "@isthmus/api";
import { formatRef, type Resource, refOf, resourceKeyOf } from "@isthmus/core";
import { systemClock } from "@isthmus/plane/clock";
import { type ReflectorEvent, runReflector } from "@isthmus/plane/reflector";
import type { Cluster } from "@isthmus/ports";
import type { Io } from "../io.ts";
import { columnsText, columnWidths } from "../output/columns.ts";
import { plainText } from "../output/plainText.ts";
import { type KindName, kindsNamed } from "./kinds.ts";
import { noteMalformed } from "./printKinds.ts";
import { type Format, isSentenceLast, objectText, tableCells } from "./printObjects.ts";
import { isSelected, type Listed, requireNamed, type Selection, selectedObjects, withNames } from "./selectedObjects.ts";

/** What is watched, and how it is printed. */
export interface Watching {
  readonly io: Io;
  readonly now: () => number;
  readonly cluster: Cluster;
  readonly kinds: readonly KindName[];
  readonly selection: Selection;
  /** `name`, or `namespace/name`; none: all. */
  readonly names: readonly string[];
  readonly format: Format;
  /** Not what there is when the watch begins. */
  readonly isChangesOnly: boolean;
  /** Each row begins with what happened: ADDED, MODIFIED or DELETED. */
  readonly hasEvents: boolean;
}

type Change = "ADDED" | "MODIFIED" | "DELETED";

/** Prints objects of some kinds, and each again when it changes, until `signal` is aborted. `first`: limits the first answer of the API server. */
export async function watchKinds(
  watching: Watching,
  first: <T>(read: (signal: AbortSignal) => Promise<T>) => Promise<T>,
  signal: AbortSignal,
): Promise<void> {
  const { io, cluster, kinds, selection, names, isChangesOnly } = watching;
  // Asked once as `get` asks, which says what is refused, and what is not there; from then on nothing is missed.
  const listed = await first(async (within) => {
    const all: Listed[] = [];
    for (const kind of await kindsNamed(kinds)) all.push(await selectedObjects(cluster, kind, selection, within));
    return all;
  });
  for (const each of listed) noteMalformed(io, each);
  requireNamed(names, listed);
  if (!isChangesOnly && listed.every(({ items }) => withNames(items, names).length === 0)) io.note("No resources found.\n");
  const defined = await kindsNamed(kinds);
  const rows = rowPrinter(watching, defined.length > 1);
  let isWritten = Promise.resolve();
  const print = (text: string): void => {
    isWritten = isWritten.then(() => io.out(text));
  };
  const watches = defined.map((kind, i) => {
    const items = withNames(listed[i]?.items ?? [], names);
    if (items.length > 0 && !isChangesOnly) print(rows(kind, items, "ADDED"));
    const seen = changesSeen(items, (resource) => isSelected(resource, selection) && withNames([resource], names).length > 0, {
      changed: (resource, change) => print(rows(kind, [resource], change)),
    });
    return runReflector(
      {
        cluster,
        kind,
        ...(selection.namespace === undefined ? {} : { list: { namespace: selection.namespace } }),
        clock: systemClock,
        random: Math.random,
        emit: (event) => {
          sayTrouble(io, event);
          seen(event);
        },
      },
      signal,
    );
  });
  await Promise.all(watches);
  await isWritten;
}

/** Folds events, and says of each object that is meant what has changed since it was seen last. */
function changesSeen(
  items: readonly Resource[],
  isMeant: (resource: Resource) => boolean,
  { changed }: { readonly changed: (resource: Resource, change: Change) => void },
): (event: ReflectorEvent<Resource>) => void {
  const known = new Map<string, Resource>(items.map((item) => [resourceKeyOf(refOf(item)), item]));
  const put = (resource: Resource): void => {
    const key = resourceKeyOf(refOf(resource));
    const before = known.get(key);
    if (!isMeant(resource)) remove(key);
    else {
      known.set(key, resource);
      if (before === undefined) changed(resource, "ADDED");
      else if (before.metadata.resourceVersion !== resource.metadata.resourceVersion) changed(resource, "MODIFIED");
    }
  };
  const remove = (key: string): void => {
    const before = known.get(key);
    if (known.delete(key) && before !== undefined) changed(before, "DELETED");
  };
  return (event) => {
    if (event.type === "put") put(event.resource);
    else if (event.type === "removed") remove(resourceKeyOf(event.ref));
    else if (event.type === "listed") {
      // One that cannot be read is there still.
      const there = new Set([...event.items.map(refOf), ...event.malformed.map(({ ref }) => ref)].map(resourceKeyOf));
      for (const key of [...known.keys()]) if (!there.has(key)) remove(key);
      for (const item of event.items) put(item);
    }
  };
}

/** Gives the text of objects of a kind, below those that were printed before. */
function rowPrinter(
  { io, now, format, hasEvents }: Watching,
  isOneOfMany: boolean,
): (kind: DefinedKind<Resource>, items: readonly Resource[], change: Change) => string {
  const widths = new Map<string, readonly number[]>();
  let last: string | undefined;
  return (kind, items, change) => {
    if (format !== "table" && format !== "wide") return items.map((item) => objectText(kind, item, format)).join("");
    const cells = tableCells({ kind, items }, { isWide: format === "wide", isOneOfMany, now: now() });
    const headers = hasEvents ? ["EVENT", ...cells.headers] : cells.headers;
    const rows = hasEvents ? cells.rows.map((row) => [change, ...row]) : cells.rows;
    const least = widths.get(kind.kind) ?? (hasEvents ? [LONGEST_CHANGE] : []);
    const fitting = columnWidths(headers, rows).map((own, i) => Math.max(own, least[i] ?? 0));
    widths.set(kind.kind, fitting);
    // Other kinds have other columns: their headers are printed again.
    const isContinued = last === kind.kind;
    const gap = last === undefined || isContinued ? "" : "\n";
    last = kind.kind;
    const { columns } = io;
    return gap + columnsText(headers, rows, { width: columns, isSentenceLast: isSentenceLast(headers), least: fitting, isContinued });
  };
}

const LONGEST_CHANGE = "MODIFIED".length;

function sayTrouble(io: Io, event: ReflectorEvent<Resource>): void {
  const say = (text: string): void => io.err(`${io.colors.yellow("warning:")} ${plainText(text)}\n`);
  if (event.type === "unavailable") say(`management cluster: ${event.message}: trying again`);
  else if (event.type === "unserved") say("management cluster: the kind is not served any more: trying again");
  else if (event.type === "malformed") say(`${formatRef(event.malformed.ref)}: ${event.malformed.message}`);
}
