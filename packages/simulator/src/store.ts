import { type AnyResource, SortedMap } from "@isthmus/core";
import type { ClusterError } from "@isthmus/ports";
import type { FieldManager } from "./apply/fieldManagers.ts";

/** An object as it is kept: without `managedFields`, which readers seldom want, and with `clusterName`. */
export interface Stored {
  readonly resource: AnyResource;
  readonly managers: readonly FieldManager[];
}

/** One change of one object. */
export interface StoreChange {
  readonly revision: number;
  readonly before: AnyResource | undefined;
  readonly after: AnyResource | undefined;
}

/** One reader of changes. It keeps no queue: it reads on from the last revision that it has seen. */
export interface Watcher {
  /** Called at each change, bookmark and end. */
  wake(): void;
  /** Set when the watch must end, with an error or in order. */
  ended?: { readonly error?: ClusterError };
  /** Set when a bookmark is due. */
  bookmark?: boolean;
}

/** All objects of one kind with their latest changes. Objects are shared with all readers, and never change. */
export class KindStore {
  #objects = SortedMap.empty<Stored>();
  #changes: StoreChange[] = [];
  #compacted: number;
  #lastForgotten = 0;
  #listed: readonly AnyResource[] | undefined;
  readonly #historyLimit: number;
  readonly watchers = new Set<Watcher>();

  /** Changes up to `revision` are not known; at least the latest `historyLimit` changes are kept. */
  constructor(revision: number, historyLimit: number) {
    this.#compacted = revision;
    this.#historyLimit = historyLimit;
  }

  get size(): number {
    return this.#objects.size;
  }

  /** Watching can begin here, but not before. */
  get compacted(): number {
    return this.#compacted;
  }

  /** The revision of the latest change that is forgotten: the one who has not seen it by now never will. */
  get lastForgotten(): number {
    return this.#lastForgotten;
  }

  get(namespace: string, name: string): Stored | undefined {
    return this.#objects.get(storeKey(namespace, name));
  }

  /** In order of namespace and name; all namespaces when `namespace` is undefined. */
  in(namespace: string | undefined): Iterable<Stored> {
    return namespace === undefined ? this.#objects.values() : this.#objects.withPrefix(storeKey(namespace, ""));
  }

  /** All objects in the same order; the same list until one changes. */
  get resources(): readonly AnyResource[] {
    this.#listed ??= Array.from(this.#objects.values(), ({ resource }) => resource);
    return this.#listed;
  }

  /** Puts objects, or removes them when `stored` is undefined, as one change each. */
  write(writes: readonly { readonly key: string; readonly stored: Stored | undefined; readonly revision: number }[]): void {
    for (const { key, stored, revision } of writes) {
      this.#changes.push({ revision, before: this.#objects.get(key)?.resource, after: stored?.resource });
    }
    this.#listed = undefined;
    this.#objects = this.#objects.update(writes.map(({ key, stored }) => [key, stored]));
    // Trimmed by halves, so that a change costs no copying on average.
    if (this.#changes.length > 2 * this.#historyLimit) this.#forget(this.#changes.length - this.#historyLimit);
    for (const watcher of this.watchers) watcher.wake();
  }

  /** The changes after `revision`, which must not be below `compacted`. */
  after(revision: number): readonly StoreChange[] {
    let low = 0;
    let high = this.#changes.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#changes[middle] as StoreChange).revision <= revision) low = middle + 1;
      else high = middle;
    }
    return low === this.#changes.length ? NO_CHANGES : this.#changes.slice(low);
  }

  /** In the same order, as it was at `revision`, which must not be below `compacted`. */
  inAsOf(namespace: string | undefined, revision: number): Iterable<AnyResource> {
    const objects = new Map([...this.in(namespace)].map(({ resource }) => [keyOf(resource), resource]));
    for (const { before, after } of [...this.after(revision)].reverse()) {
      if (namespace !== undefined && (before ?? after)?.metadata.namespace !== namespace) continue;
      if (after !== undefined) objects.delete(keyOf(after));
      if (before !== undefined) objects.set(keyOf(before), before);
    }
    return [...objects].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, resource]) => resource);
  }

  /** Puts other objects in the place of all that are there, with `revision` as the latest: no watch can begin before. */
  reset(objects: readonly Stored[], revision: number): void {
    this.#listed = undefined;
    this.#objects = SortedMap.empty<Stored>().update(objects.map((stored) => [keyOf(stored.resource), stored]));
    this.#changes = [];
    this.#compacted = revision;
    this.#lastForgotten = revision;
    this.end();
  }

  /** Forgets all changes up to `revision`. */
  compact(revision: number): void {
    this.#forget(this.#changes.length - this.after(revision).length);
    this.#compacted = Math.max(this.#compacted, revision);
  }

  /** Ends every watch. */
  end(error?: ClusterError): void {
    for (const watcher of this.watchers) {
      watcher.ended = error === undefined ? {} : { error };
      watcher.wake();
    }
    this.watchers.clear();
  }

  #forget(count: number): void {
    const last = this.#changes[count - 1];
    if (last === undefined) return;
    this.#changes = this.#changes.slice(count);
    this.#lastForgotten = last.revision;
    this.#compacted = Math.max(this.#compacted, last.revision);
  }
}

const NO_CHANGES: readonly StoreChange[] = [];

function keyOf({ metadata: { namespace = "", name } }: AnyResource): string {
  return storeKey(namespace, name);
}

/** The key of an object within its kind; sorts as an API server lists. */
export function storeKey(namespace: string, name: string): string {
  return `${namespace}/${name}`;
}
