import { nearestName, UsageError } from "@isthmus/core";
import type { CertificateEntry } from "@isthmus/plane";

/** An entry as a page of a server shows it. */
export type Entry = CertificateEntry;

/** The entries of one page. What is none is left out: a server of another version may know more. Throws UsageError. */
export function entriesIn(page: string): readonly Entry[] {
  try {
    const { items } = JSON.parse(page) as { readonly items?: unknown };
    if (Array.isArray(items)) return items.filter(isEntry);
  } catch {
    // The same as any other page.
  }
  throw new UsageError("the server's page /certificates is no list: it is of an earlier version: upgrade it");
}

function isEntry(one: Partial<Entry> | null): one is Entry {
  const texts = [one?.use, one?.name, one?.namespace, one?.cluster, one?.state, one?.next];
  return texts.every((text) => typeof text === "string");
}

/** What several replicas know, as one: of two entries that whose certificate is known counts. Those that need somebody come first. */
export function mergedEntries(pages: readonly (readonly Entry[])[]): readonly Entry[] {
  const merged = new Map<string, Entry>();
  for (const entry of pages.flat()) {
    const key = [entry.use, entry.cluster, entry.namespace, entry.name].join("/");
    const before = merged.get(key);
    if (before === undefined || knowledge(entry) > knowledge(before)) merged.set(key, entry);
  }
  return [...merged.values()].sort(
    (a, b) => rank(a) - rank(b) || compare(a.notAfter ?? "9", b.notAfter ?? "9") || compare(fullName(a), fullName(b)),
  );
}

function knowledge({ notAfter, certificate, forecast }: Entry): number {
  return (notAfter === undefined ? 0 : 4) + (certificate === undefined ? 0 : 2) + (forecast?.isConnected === true ? 1 : 0);
}

function rank({ state }: Entry): number {
  return ["EXPIRED", "EXPIRING", "UNKNOWN"].indexOf(state) + 1 || 4;
}

/** `use/name`, as it can be passed to a command. */
export function fullName({ use, name }: Pick<Entry, "use" | "name">): string {
  return `${use}/${name}`;
}

/** The entry that is named: `name`, or `use/name`. Throws UsageError for none and for several, with what is meant perhaps. */
export function namedEntry(entries: readonly Entry[], wanted: string): Entry {
  const found = entries.filter((entry) => entry.name === wanted || fullName(entry) === wanted);
  const [one, ...more] = found;
  if (one !== undefined && more.length === 0) return one;
  if (one !== undefined) {
    const names = found.map(fullName);
    throw new UsageError(`${wanted} names ${found.length} certificates: use one of ${[...new Set(names)].join(", ")}`);
  }
  const nearest = nearestName(wanted, entries.map(wanted.includes("/") ? fullName : ({ name }) => name));
  throw new UsageError(
    `certificate ${wanted} not found${nearest === undefined ? ": meshctl cert list shows all of them" : `: did you mean ${nearest}?`}`,
  );
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
