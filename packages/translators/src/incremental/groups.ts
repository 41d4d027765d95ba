import { SortedMap } from "@isthmus/core";

/**
 * Immutable maps by the group that they belong to; none is empty. A hundred thousand entries under one text for group and key would
 * keep as many texts (docs/decisions/0026).
 */
export type Groups<V> = SortedMap<SortedMap<V>>;

/** What is to become of entries, by group and key: a value, or `undefined` to take one out. */
export class GroupEdits<V> {
  readonly #byGroup = new Map<string, Map<string, V | undefined>>();

  /** The last edit of an entry counts. */
  set(group: string, key: string, value: V | undefined): void {
    const entries = this.#byGroup.get(group);
    if (entries === undefined) this.#byGroup.set(group, new Map([[key, value]]));
    else entries.set(key, value);
  }

  /** The groups with all edits made. */
  madeIn(groups: Groups<V>): Groups<V> {
    return groups.update([...this.#byGroup].map(([group, entries]) => [group, edited(groups.get(group), entries)] as const));
  }
}

function edited<V>(group: SortedMap<V> | undefined, entries: ReadonlyMap<string, V | undefined>): SortedMap<V> | undefined {
  const after = (group ?? SortedMap.empty<V>()).update(entries);
  return after.size === 0 ? undefined : after;
}
