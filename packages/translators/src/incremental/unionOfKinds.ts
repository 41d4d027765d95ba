import {
  type CooperativeTask,
  type EntryChange,
  type Index,
  intern,
  type Kind,
  kindKeyOf,
  type Resource,
  type Snapshot,
} from "@isthmus/core";
import type { LookupTable } from "./lookupTable.ts";
import { memoizeRow } from "./memoizeRow.ts";

/** The resources of several kinds as one table, by `resourceKeyOf`, or by another prefix before `keyOf` for each kind. */
export function unionOfKinds<R extends Resource>(
  kinds: readonly Kind<R>[],
  prefixOf: (kind: Kind) => string = (kind) => `${kindKeyOf(kind)}|`,
): (snapshot: Snapshot) => LookupTable<R> {
  const prefixed = kinds.map((kind) => ({ kind, prefix: prefixOf(kind) }));
  const sorted = prefixed.sort((a, b) => (a.prefix < b.prefix ? -1 : 1));
  return memoizeRow((snapshot: Snapshot) => new UnionTable(snapshot, sorted));
}

interface PrefixedKind<R extends Resource> {
  readonly kind: Kind<R>;
  readonly prefix: string;
}

class UnionTable<R extends Resource> implements LookupTable<R> {
  readonly #snapshot: Snapshot;
  /** In the order of their keys. */
  readonly #kinds: readonly PrefixedKind<R>[];

  constructor(snapshot: Snapshot, kinds: readonly PrefixedKind<R>[]) {
    this.#snapshot = snapshot;
    this.#kinds = kinds;
  }

  get size(): number {
    return this.#kinds.reduce((sum, { kind }) => sum + this.#snapshot.of(kind).size, 0);
  }

  row(key: string): R | undefined {
    const found = this.#kinds.find(({ prefix }) => key.startsWith(prefix));
    return found && this.#snapshot.of(found.kind).row(key.slice(found.prefix.length));
  }

  where(index: Index<R>, value: string): readonly R[] {
    const found = this.#kinds.map(({ kind }) => this.#snapshot.of(kind).where(index, value)).filter(({ length }) => length > 0);
    return found.length < 2 ? (found[0] ?? []) : found.flat();
  }

  *indexed(...indexes: readonly Index<R>[]): CooperativeTask<void> {
    for (const { kind } of this.#kinds) yield* this.#snapshot.of(kind).indexed(...indexes);
  }

  *entries(): Iterable<readonly [string, R]> {
    for (const { kind, prefix } of this.#kinds) {
      for (const [key, resource] of this.#snapshot.of(kind).entries()) yield [intern(`${prefix}${key}`), resource];
    }
  }

  changesSince(older: LookupTable<R>): readonly EntryChange<R>[] {
    if (!(older instanceof UnionTable)) throw new Error("a union of kinds is compared with an earlier version of itself only");
    const before: Snapshot = older.#snapshot;
    return this.#kinds.flatMap(({ kind, prefix }) =>
      this.#snapshot
        .of(kind)
        .changesSince(before.of(kind))
        .map(({ key, ...versions }) => ({ key: intern(`${prefix}${key}`), ...versions })),
    );
  }
}
