import { type ClusterObjectRef, keyOf } from "./ref.ts";
import { keyOfResource, type Resource } from "./resource.ts";
import { SortedMap } from "./sortedMap.ts";

/** Names the values under which a resource can be found. Define it once, at module level: an index is kept by identity. */
export type Index<R extends Resource> = (resource: R) => readonly string[];

/** An immutable set of resources of one kind, in key order. */
export interface Collection<R extends Resource> extends Iterable<R> {
  readonly size: number;
  get(ref: ClusterObjectRef): R | undefined;
  /** Resources whose `index` values include `key`, in key order. An index is built on first use and carried along by `with`. */
  where(index: Index<R>, key: string): readonly R[];
  /** This collection with `changes` made: by key, a resource or `undefined` to remove it. Shares all that did not change. */
  with(changes: ReadonlyMap<string, R | undefined>): Collection<R>;
}

/** An empty collection. */
export function emptyCollection<R extends Resource>(): Collection<R> {
  return new IndexedCollection<R>(SortedMap.empty<R>(), new Map());
}

class IndexedCollection<R extends Resource> implements Collection<R> {
  readonly #resources: SortedMap<R>;
  readonly #indexes: Map<Index<R>, SortedMap<R>>;

  constructor(resources: SortedMap<R>, indexes: Map<Index<R>, SortedMap<R>>) {
    this.#resources = resources;
    this.#indexes = indexes;
  }

  get size(): number {
    return this.#resources.size;
  }

  get(ref: ClusterObjectRef): R | undefined {
    return this.#resources.get(keyOf(ref));
  }

  [Symbol.iterator](): Iterator<R> {
    return this.#resources.values();
  }

  where(index: Index<R>, key: string): readonly R[] {
    // Not kept: the empty collection is one for all kinds, and an index of one must not be carried to another.
    if (this.size === 0) return [];
    let entries = this.#indexes.get(index);
    if (entries === undefined) {
      entries = SortedMap.empty<R>().update(this.#entriesOf(index));
      this.#indexes.set(index, entries);
    }
    return entries.withPrefix(`${key}${SEPARATOR}`);
  }

  with(changes: ReadonlyMap<string, R | undefined>): Collection<R> {
    const effective = [...changes].filter(([key, value]) => this.#resources.get(key) !== value);
    if (effective.length === 0) return this;
    const indexes = new Map<Index<R>, SortedMap<R>>();
    for (const [index, entries] of this.#indexes) indexes.set(index, entries.update(this.#indexChanges(index, effective)));
    return new IndexedCollection(this.#resources.update(effective), indexes);
  }

  *#entriesOf(index: Index<R>): Iterable<[string, R]> {
    for (const [key, resource] of this.#resources) {
      for (const value of index(resource)) yield [`${value}${SEPARATOR}${key}`, resource];
    }
  }

  *#indexChanges(index: Index<R>, changes: readonly (readonly [string, R | undefined])[]): Iterable<[string, R | undefined]> {
    for (const [key, resource] of changes) {
      const before = this.#resources.get(key);
      if (before !== undefined) for (const value of index(before)) yield [`${value}${SEPARATOR}${key}`, undefined];
      if (resource !== undefined) for (const value of index(resource)) yield [`${value}${SEPARATOR}${key}`, resource];
    }
  }
}

// Sorts before every character that a Kubernetes name may hold, so that one index value is never a prefix of another's entries.
const SEPARATOR = "\u0000";

/** Groups resources by key, for `Collection.with`. */
export function putAll<R extends Resource>(resources: Iterable<R>): Map<string, R | undefined> {
  const changes = new Map<string, R | undefined>();
  for (const resource of resources) changes.set(keyOfResource(resource), resource);
  return changes;
}
