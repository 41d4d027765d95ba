import { type Collection, emptyCollection } from "./collection.ts";
import { type CooperativeTask, withEach } from "./cooperativeTask.ts";
import type { Delta } from "./delta.ts";
import type { Kind } from "./kind.ts";
import { keyOf, kindKeyOf } from "./ref.ts";
import { keyOfResource, type Resource, refOf } from "./resource.ts";

/** Everything known at one instant. Applying a delta makes a new snapshot that shares unchanged collections. */
export interface Snapshot {
  of<R extends Resource>(kind: Kind<R>): Collection<R>;
  /** Resources must already be parsed: `put` trusts them to be of their kind. A removal wins over a put of the same ref. */
  apply(delta: Delta): Snapshot;
  /** This snapshot with another collection of one kind. */
  withCollection<R extends Resource>(kind: Kind<R>, collection: Collection<R>): Snapshot;
  /** The collections that hold something, by `kindKeyOf`; for code that serves every kind. */
  collections(): ReadonlyMap<string, Collection<Resource>>;
}

/** Nothing known. */
export function emptySnapshot(): Snapshot {
  return new CollectionSnapshot(new Map());
}

/** A snapshot of the given resources. */
export function snapshotOf(resources: Iterable<Resource>): Snapshot {
  return emptySnapshot().apply({ put: [...resources], remove: [] });
}

/** A snapshot with a delta applied in steps. */
export function* applyDelta(snapshot: Snapshot, { put, remove }: Delta): CooperativeTask<Snapshot> {
  let next = snapshot;
  for (let from = 0; from < put.length; from += PART) {
    next = next.apply({ put: put.length <= PART ? put : put.slice(from, from + PART), remove: [] });
    yield;
  }
  for (let from = 0; from < remove.length; from += PART) {
    next = next.apply({ put: [], remove: remove.slice(from, from + PART) });
    yield;
  }
  return next;
}

// A few milliseconds.
const PART = 1_024;

/**
 * Snapshots as one, in steps; the objects of later ones win, and all keep their keys. The keys of clusters interleave: to join
 * many at once copies what is there once, and not once for each.
 */
export function* mergeSnapshots(snapshot: Snapshot, others: readonly Snapshot[]): CooperativeTask<Snapshot> {
  const collections = new Map(snapshot.collections());
  for (const kindKey of new Set(others.flatMap((other) => [...other.collections().keys()]))) {
    const entries: (readonly [string, Resource])[] = [];
    for (const other of others) {
      for (const entry of other.collections().get(kindKey)?.entries() ?? []) {
        if (entries.push(entry) % PART === 0) yield;
      }
    }
    collections.set(kindKey, yield* withEach(collections.get(kindKey) ?? NOTHING, entries));
  }
  return new CollectionSnapshot(collections);
}

/** What turns one snapshot into another, at the cost of what differs where one came from the other. */
export function deltaBetween(before: Snapshot, after: Snapshot): Delta {
  const [put, remove]: [Resource[], Delta["remove"][number][]] = [[], []];
  const [older, newer] = [before.collections(), after.collections()];
  for (const kindKey of new Set([...older.keys(), ...newer.keys()])) {
    const changes = (newer.get(kindKey) ?? NOTHING).changesSince(older.get(kindKey) ?? NOTHING);
    for (const change of changes) {
      if (change.after !== undefined) put.push(change.after);
      else if (change.before !== undefined) remove.push(refOf(change.before));
    }
  }
  return { put, remove };
}

class CollectionSnapshot implements Snapshot {
  readonly #collections: ReadonlyMap<string, Collection<Resource>>;

  constructor(collections: ReadonlyMap<string, Collection<Resource>>) {
    this.#collections = collections;
  }

  of<R extends Resource>(kind: Kind<R>): Collection<R> {
    // The key names the kind, and `apply` files each resource under its own kind's key.
    return (this.#collections.get(keyOfKind(kind)) ?? NOTHING) as Collection<R>;
  }

  apply(delta: Delta): Snapshot {
    const byKind = new Map<string, Map<string, Resource | undefined>>();
    const changesOf = (kindKey: string): Map<string, Resource | undefined> => {
      let changes = byKind.get(kindKey);
      if (changes === undefined) {
        changes = new Map();
        byKind.set(kindKey, changes);
      }
      return changes;
    };
    for (const resource of delta.put) changesOf(kindKeyOf(resource)).set(keyOfResource(resource), resource);
    for (const ref of delta.remove) changesOf(kindKeyOf(ref)).set(keyOf(ref), undefined);

    const collections = new Map(this.#collections);
    let changed = false;
    for (const [kindKey, changes] of byKind) {
      const before = collections.get(kindKey) ?? NOTHING;
      const after = before.with(changes);
      if (after === before) continue;
      collections.set(kindKey, after);
      changed = true;
    }
    return changed ? new CollectionSnapshot(collections) : this;
  }

  withCollection<R extends Resource>(kind: Kind<R>, collection: Collection<R>): Snapshot {
    if (collection === this.of(kind)) return this;
    return new CollectionSnapshot(new Map(this.#collections).set(kindKeyOf(kind), collection));
  }

  collections(): ReadonlyMap<string, Collection<Resource>> {
    return this.#collections;
  }
}

const NOTHING: Collection<Resource> = emptyCollection();

// Translation asks for collections a hundred times in a run, always by the same objects.
const kindKeys = new WeakMap<Kind, string>();

function keyOfKind(kind: Kind): string {
  let key = kindKeys.get(kind);
  if (key === undefined) {
    key = kindKeyOf(kind);
    kindKeys.set(kind, key);
  }
  return key;
}
