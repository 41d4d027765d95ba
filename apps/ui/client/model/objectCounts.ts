import { clusterNameIn, deltaBetween, emptySnapshot, keyOf, kindKeyOf, type Snapshot } from "@isthmus/core";

/** How many objects there are, by cluster and by kind; "" is the management cluster. */
export interface ObjectCounts {
  readonly byCluster: ReadonlyMap<string, number>;
  /** By `kindKeyOf`, then cluster. */
  readonly byKind: ReadonlyMap<string, ReadonlyMap<string, number>>;
}

interface Counted extends ObjectCounts {
  readonly snapshot: Snapshot;
}

const NOTHING: Counted = { snapshot: emptySnapshot(), byCluster: new Map(), byKind: new Map() };
// Of the snapshots that were counted last: that of objects, and that of generated ones.
const MOST_KEPT = 2;
let kept: readonly Counted[] = [];

/** Counts of a snapshot's objects. Costs what changed since one that was counted before. */
export function objectCounts(snapshot: Snapshot): ObjectCounts {
  const known = kept.find((counted) => counted.snapshot === snapshot);
  if (known !== undefined) return known;
  const before = kept.find((counted) => sharesSomething(counted.snapshot, snapshot)) ?? NOTHING;
  const counted = countsAfter(before, snapshot);
  kept = [counted, ...kept.filter((each) => each !== before)].slice(0, MOST_KEPT);
  return counted;
}

/** The counts of a snapshot, from those of an earlier one. */
export function countsAfter(before: Counted, snapshot: Snapshot): Counted {
  const byCluster = new Map(before.byCluster);
  const byKind = new Map([...before.byKind].map(([kind, counts]) => [kind, new Map(counts)]));
  const add = (kindKey: string, cluster: string, change: number): void => {
    const ofKind = byKind.get(kindKey) ?? new Map<string, number>();
    byKind.set(kindKey, ofKind);
    for (const counts of [byCluster, ofKind]) {
      const count = (counts.get(cluster) ?? 0) + change;
      if (count === 0) counts.delete(cluster);
      else counts.set(cluster, count);
    }
    if (ofKind.size === 0) byKind.delete(kindKey);
  };
  const older = before.snapshot.collections();
  const { put, remove } = deltaBetween(before.snapshot, snapshot);
  for (const { apiVersion, kind, metadata } of put) {
    const { name, namespace = "", clusterName = "" } = metadata;
    const kindKey = kindKeyOf({ apiVersion, kind });
    if (older.get(kindKey)?.row(keyOf({ name, namespace, clusterName })) === undefined) add(kindKey, clusterName, 1);
  }
  for (const ref of remove) add(kindKeyOf(ref), clusterNameIn(keyOf(ref)), -1);
  return { snapshot, byCluster, byKind };
}

/** Nothing counted yet. */
export const NO_OBJECTS: Counted = NOTHING;

function sharesSomething(a: Snapshot, b: Snapshot): boolean {
  const others = b.collections();
  return [...a.collections()].some(([kind, collection]) => others.get(kind) === collection);
}
