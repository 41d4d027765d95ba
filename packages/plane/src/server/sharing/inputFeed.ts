import { type Collection, clusterNameIn, emptySnapshot, type Index, type Resource, type Snapshot } from "@isthmus/core";
import type { AreaChange, AreaContent } from "./areaWriter.ts";

/** What all clusters have reported, cluster by cluster, and what changed of it. */
export interface InputFeed {
  /** Tells what has changed since the last call, and holds on to what is there now. */
  advance(): void;
  /** One cluster as it is now; advances. */
  contentOf(clusterName: string): AreaContent;
}

export function inputFeed(current: () => Snapshot, changed: (clusterName: string, changes: readonly AreaChange[]) => void): InputFeed {
  let last = emptySnapshot();

  function advance(): void {
    const before = last;
    last = current();
    if (last === before) return;
    const byCluster = new Map<string, AreaChange[]>();
    for (const kindKey of new Set([...last.collections().keys(), ...before.collections().keys()])) {
      for (const change of changesOf(last.collections().get(kindKey), before.collections().get(kindKey))) {
        const clusterName = clusterNameIn(change.key);
        const changes = byCluster.get(clusterName) ?? [];
        changes.push({ kindKey, key: change.key, before: change.before });
        byCluster.set(clusterName, changes);
      }
    }
    for (const [clusterName, changes] of byCluster) changed(clusterName, changes);
  }

  return {
    advance,
    contentOf(clusterName) {
      advance();
      return contentIn(last, clusterName);
    },
  };
}

/** What a snapshot has of one cluster. */
export function contentIn(snapshot: Snapshot, clusterName: string): AreaContent {
  const collections = snapshot.collections();
  const objects = (kindKey: string): readonly Resource[] => collections.get(kindKey)?.where(byCluster, clusterName) ?? [];
  return {
    get kinds() {
      return [...collections.keys()].filter((kindKey) => objects(kindKey).length > 0).sort();
    },
    objects,
    at: (kindKey, key) => collections.get(kindKey)?.row(key),
  };
}

function changesOf(now: Collection<Resource> | undefined, before: Collection<Resource> | undefined) {
  if (now === before) return [];
  if (now === undefined) return [...(before?.entries() ?? [])].map(([key, resource]) => ({ key, before: resource }));
  if (before === undefined) return [...now.entries()].map(([key]) => ({ key, before: undefined }));
  return now.changesSince(before);
}

const byCluster: Index<Resource> = (resource) => [resource.metadata.clusterName ?? ""];
