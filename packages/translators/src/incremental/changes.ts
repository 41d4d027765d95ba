import { type EntryChange, emptyCollection, type Kind, type Resource, type Snapshot } from "@isthmus/core";
import type { LookupTable } from "./lookupTable.ts";

/** Differences from the run before. */
export interface Changes {
  /** Resources of one kind, in key order. Unchanged collections cost a comparison of pointers. */
  of<R extends Resource>(kind: Kind<R>): readonly EntryChange<R>[];
  /** Whether some resource of one of these kinds came, changed or went. */
  some(...kinds: readonly Kind[]): boolean;
  /** Rows of a table that differ from its version in the run before. Each table is compared once in a run. */
  between<T extends object>(now: LookupTable<T>, before: LookupTable<T>): readonly EntryChange<T>[];
  /** Sets the result of `between` where it is known without a comparison: in key order. */
  note<T extends object>(now: LookupTable<T>, before: LookupTable<T>, changes: readonly EntryChange<T>[]): void;
}

interface Comparison {
  readonly before: object;
  readonly changes: readonly EntryChange<object>[];
}

/** Compares nothing before it is asked, and then each kind and each table once; `before` is the snapshot of the run before. */
export function changesSince(before: Snapshot, now: Snapshot): Changes {
  // By the current version of a table. Several stages ask for the same.
  const compared = new Map<object, Comparison>();
  const between = <T extends object>(after: LookupTable<T>, earlier: LookupTable<T>): readonly EntryChange<T>[] => {
    if (after === earlier) return NONE;
    const known = compared.get(after);
    // The current version of several tables may be the same empty one. Kept is what such tables gave, so rows of this type.
    if (known?.before === earlier) return known.changes as readonly EntryChange<T>[];
    const changes = after.changesSince(earlier);
    compared.set(after, { before: earlier, changes });
    return changes;
  };
  const ofKind = new Map<Kind, readonly EntryChange<Resource>[]>();
  const of = <R extends Resource>(kind: Kind<R>): readonly EntryChange<R>[] => {
    const made = ofKind.get(kind) ?? between(now.of(kind), before.of(kind));
    ofKind.set(kind, made);
    // What is kept under a kind was made of collections of that kind.
    return made as readonly EntryChange<R>[];
  };
  return {
    of,
    some: (...kinds) => kinds.some((kind) => of(kind).length > 0),
    between,
    note: (after, earlier, changes) => void compared.set(after, { before: earlier, changes }),
  };
}

const NONE: readonly never[] = [];

/** What of one kind is not as it was; everything, when there was nothing before. */
export function changesOf<R extends Resource>(kind: Kind<R>, now: Snapshot, before: Snapshot | undefined): readonly EntryChange<R>[] {
  return now.of(kind).changesSince(before?.of(kind) ?? emptyCollection<R>());
}

/** Every changed row, as it was and as it is. */
export function* versionsOf<V>(changes: Iterable<EntryChange<V>>): Iterable<V> {
  for (const { before, after } of changes) {
    if (before !== undefined) yield before;
    if (after !== undefined) yield after;
  }
}
