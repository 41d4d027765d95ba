import {
  type CooperativeTask,
  type EntryChange,
  type Index,
  type Kind,
  kindKeyOf,
  type Resource,
  refOf,
  resourceKeyOf,
  type Snapshot,
} from "@isthmus/core";
import type { LookupTable } from "./lookupTable.ts";
import { memoizeRow } from "./memoizeRow.ts";

/** The resources of several kinds as one table, by `resourceKeyOf`. */
export function unionOfKinds<R extends Resource>(kinds: readonly Kind<R>[]): (snapshot: Snapshot) => LookupTable<R> {
  const sorted = [...kinds].sort((a, b) => (kindKeyOf(a) < kindKeyOf(b) ? -1 : 1));
  return memoizeRow((snapshot: Snapshot) => new UnionTable(snapshot, sorted));
}

class UnionTable<R extends Resource> implements LookupTable<R> {
  readonly #snapshot: Snapshot;
  /** In the order of their keys. */
  readonly #kinds: readonly Kind<R>[];

  constructor(snapshot: Snapshot, kinds: readonly Kind<R>[]) {
    this.#snapshot = snapshot;
    this.#kinds = kinds;
  }

  row(key: string): R | undefined {
    const end = key.indexOf("|");
    const kindKey = key.slice(0, end);
    const kind = this.#kinds.find((one) => kindKeyOf(one) === kindKey);
    return kind === undefined ? undefined : this.#snapshot.of(kind).row(key.slice(end + 1));
  }

  where(index: Index<R>, value: string): readonly R[] {
    const found = this.#kinds.map((kind) => this.#snapshot.of(kind).where(index, value)).filter(({ length }) => length > 0);
    return found.length < 2 ? (found[0] ?? []) : found.flat();
  }

  *indexed(...indexes: readonly Index<R>[]): CooperativeTask<void> {
    for (const kind of this.#kinds) yield* this.#snapshot.of(kind).indexed(...indexes);
  }

  *entries(): Iterable<readonly [string, R]> {
    for (const kind of this.#kinds) for (const resource of this.#snapshot.of(kind)) yield [resourceKeyOf(refOf(resource)), resource];
  }

  changesSince(older: LookupTable<R>): readonly EntryChange<R>[] {
    if (!(older instanceof UnionTable)) throw new Error("a union of kinds is compared with an earlier version of itself only");
    const before: Snapshot = older.#snapshot;
    return this.#kinds.flatMap((kind) =>
      this.#snapshot
        .of(kind)
        .changesSince(before.of(kind))
        .map(({ key, ...versions }) => ({ key: `${kindKeyOf(kind)}|${key}`, ...versions })),
    );
  }
}
