import { type Collection, formatRef, type Kind, type Resource, refOf, type Snapshot } from "@isthmus/core";

/** A snapshot that remembers which of its resources were read. */
export interface WatchedSnapshot {
  readonly snapshot: Snapshot;
  /** What was read so far, as `formatRef` names it. */
  readRefs(): ReadonlySet<string>;
}

/** Watches the reading of a snapshot, and of those made from it. */
export function watchedSnapshot(snapshot: Snapshot): WatchedSnapshot {
  const read = new Set<Resource>();
  return { snapshot: watched(snapshot, read), readRefs: () => new Set([...read].map((resource) => formatRef(refOf(resource)))) };
}

function watched(snapshot: Snapshot, read: Set<Resource>): Snapshot {
  return {
    of: <R extends Resource>(kind: Kind<R>) => watchedCollection(snapshot.of(kind), read),
    apply: (delta) => {
      const next = snapshot.apply(delta);
      return next === snapshot ? watched(snapshot, read) : watched(next, read);
    },
    withCollection: (kind, collection) => watched(snapshot.withCollection(kind, collection), read),
    collections: () => new Map([...snapshot.collections()].map(([key, collection]) => [key, watchedCollection(collection, read)])),
  };
}

function watchedCollection<R extends Resource>(collection: Collection<R>, read: Set<Resource>): Collection<R> {
  return {
    get size() {
      return collection.size;
    },
    get(ref) {
      const resource = collection.get(ref);
      if (resource !== undefined) read.add(resource);
      return resource;
    },
    row(key) {
      const resource = collection.row(key);
      if (resource !== undefined) read.add(resource);
      return resource;
    },
    where(index, key) {
      const found = collection.where(index, key);
      for (const resource of found) read.add(resource);
      return found;
    },
    *entries() {
      for (const [key, resource] of collection.entries()) {
        read.add(resource);
        yield [key, resource] as const;
      }
    },
    *[Symbol.iterator]() {
      for (const resource of collection) {
        read.add(resource);
        yield resource;
      }
    },
    indexed: (...indexes) => collection.indexed(...indexes),
    with: (changes) => watchedCollection(collection.with(changes), read),
    // What changed is known by its key: only who asks for the object reads it.
    changesSince: (older) => collection.changesSince(older),
  };
}
