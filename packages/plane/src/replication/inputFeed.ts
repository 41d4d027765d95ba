import type { EntryChange, Resource, Snapshot } from "@isthmus/core";
import type { PartitionChange, PartitionContent } from "./partitionWriter.ts";

/** What clusters have reported, and what changed of it. */
export interface InputFeed {
  /** Tells what has changed since the last call, and holds on to what is there now. */
  advance(): void;
  /** One cluster as it is now; advances. */
  contentOf(clusterName: string): PartitionContent;
  forget(clusterName: string): void;
}

/** Follows the clusters that `names` gives, each from where it is first seen. */
export function inputFeed(
  { names, snapshotIn }: { readonly names: () => Iterable<string>; readonly snapshotIn: (clusterName: string) => Snapshot },
  changed: (clusterName: string, changes: readonly PartitionChange[]) => void,
): InputFeed {
  const last = new Map<string, Snapshot>();

  function advance(): void {
    for (const clusterName of names()) {
      const before = last.get(clusterName);
      const now = snapshotIn(clusterName);
      if (now === before) continue;
      last.set(clusterName, now);
      if (before === undefined) continue;
      const changes = [...changesBetween(before, now)];
      if (changes.length > 0) changed(clusterName, changes);
    }
  }

  return {
    advance,
    contentOf(clusterName) {
      advance();
      return contentIn(snapshotIn(clusterName));
    },
    forget: (clusterName) => void last.delete(clusterName),
  };
}

/** A snapshot of one cluster as the content of its partition. */
export function contentIn(snapshot: Snapshot): PartitionContent {
  const collections = snapshot.collections();
  return {
    get kinds() {
      return [...collections]
        .filter(([, { size }]) => size > 0)
        .map(([kindKey]) => kindKey)
        .sort();
    },
    objects: (kindKey) => [...(collections.get(kindKey) ?? [])],
    at: (kindKey, key) => collections.get(kindKey)?.row(key),
  };
}

function* changesBetween(before: Snapshot, now: Snapshot): Iterable<PartitionChange> {
  const [older, newer] = [before.collections(), now.collections()];
  for (const kindKey of new Set([...older.keys(), ...newer.keys()])) {
    const [was, is] = [older.get(kindKey), newer.get(kindKey)];
    if (was === is) continue;
    if (is === undefined) for (const [key, resource] of was?.entries() ?? []) yield { kindKey, key, before: resource };
    else if (was === undefined) for (const [key] of is.entries()) yield { kindKey, key, before: undefined };
    else
      for (const change of is.changesSince(was) as readonly EntryChange<Resource>[])
        yield { kindKey, key: change.key, before: change.before };
  }
}
