import { type Change, emptyCollection, type Kind, type Resource, type Snapshot } from "@isthmus/core";

/** What is not as it was in an earlier snapshot. */
export interface Changes {
  /** Resources of one kind, in key order. Unchanged collections cost a comparison of pointers. */
  of<R extends Resource>(kind: Kind<R>): readonly Change<R>[];
  /** Whether some resource of one of these kinds came, changed or went. */
  some(...kinds: readonly Kind[]): boolean;
}

export function changesSince(before: Snapshot, now: Snapshot): Changes {
  // Several stages ask for the same.
  const known = new Map<Kind, readonly Change<Resource>[]>();
  const of = <R extends Resource>(kind: Kind<R>): readonly Change<R>[] => {
    const made = known.get(kind) ?? now.of(kind).changesSince(before.of(kind));
    known.set(kind, made);
    // What is kept under a kind was made of collections of that kind.
    return made as readonly Change<R>[];
  };
  return { of, some: (...kinds) => kinds.some((kind) => of(kind).length > 0) };
}

/** What of one kind is not as it was; everything, when there was nothing before. */
export function changesOf<R extends Resource>(kind: Kind<R>, now: Snapshot, before: Snapshot | undefined): readonly Change<R>[] {
  return now.of(kind).changesSince(before?.of(kind) ?? emptyCollection<R>());
}

/** Every changed row, as it was and as it is. */
export function* versionsOf<V>(changes: Iterable<Change<V>>): Iterable<V> {
  for (const { before, after } of changes) {
    if (before !== undefined) yield before;
    if (after !== undefined) yield after;
  }
}
