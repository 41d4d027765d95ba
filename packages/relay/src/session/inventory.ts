import { SortedMap } from "@isthmus/core";
import { type Hash, hexOf, minus, plus, ZERO } from "./digest.ts";

/** Which objects one end holds, without their content: the two ends of a stream compare inventories. Immutable. */
export interface Inventory {
  readonly hashes: SortedMap<Entry>;
  readonly kinds: ReadonlyMap<string, Summary>;
}

/** How many objects there are of a kind, and the sum of their hashes. */
export interface Summary {
  readonly count: number;
  readonly sum: Hash;
}

/** One object: there are millions, so its hash is not an object of its own. */
interface Entry extends Hash {
  readonly key: string;
}

/** One change of an inventory; without a hash the object is gone. */
export interface InventoryChange {
  /** `kindKeyOf` */
  readonly kind: string;
  /** `resourceKeyOf` */
  readonly key: string;
  readonly hash: Hash | undefined;
}

export const emptyInventory: Inventory = { hashes: SortedMap.empty(), kinds: new Map() };

const NONE: Summary = { count: 0, sum: ZERO };

export function withChanges(inventory: Inventory, changes: readonly InventoryChange[]): Inventory {
  if (changes.length === 0) return inventory;
  const latest = new Map(changes.map((change) => [change.key, change]));
  const kinds = new Map(inventory.kinds);
  for (const { kind, key, hash } of latest.values()) {
    const before = inventory.hashes.get(key);
    let { count, sum } = kinds.get(kind) ?? NONE;
    if (before !== undefined) [count, sum] = [count - 1, minus(sum, before)];
    if (hash !== undefined) [count, sum] = [count + 1, plus(sum, hash)];
    kinds.set(kind, { count, sum });
  }
  const hashes = inventory.hashes.update(
    [...latest.values()].map(({ key, hash }) => [key, hash === undefined ? undefined : { key, a: hash.a, b: hash.b }] as const),
  );
  return { hashes, kinds };
}

/** The inventory with nothing of a kind. */
export function withoutKind(inventory: Inventory, kind: string): Inventory {
  const entries = inventory.hashes.withPrefix(`${kind}|`);
  const kinds = new Map(inventory.kinds);
  kinds.delete(kind);
  return { hashes: inventory.hashes.update(entries.map(({ key }) => [key, undefined])), kinds };
}

/** The inventory of some kinds alone. */
export function onlyKinds(inventory: Inventory, kinds: Iterable<string>): Inventory {
  const kept = new Set(kinds);
  let rest = inventory;
  for (const kind of inventory.kinds.keys()) if (!kept.has(kind)) rest = withoutKind(rest, kind);
  return rest;
}

/** The keys (`keyOf`) of a kind's objects. */
export function keysOfKind(inventory: Inventory, kind: string): ReadonlySet<string> {
  return new Set(inventory.hashes.withPrefix(`${kind}|`).map(({ key }) => key.slice(kind.length + 1)));
}

/** Count and digest of one kind. */
export function digestOfKind(inventory: Inventory, kind: string): { readonly count: number; readonly digest: string } {
  const { count, sum } = inventory.kinds.get(kind) ?? NONE;
  return { count, digest: hexOf(sum) };
}

/** Count and digest of all kinds together. */
export function digestOfAll(inventory: Inventory): { readonly count: number; readonly digest: string } {
  let total = ZERO;
  for (const { sum } of inventory.kinds.values()) total = plus(total, sum);
  return { count: inventory.hashes.size, digest: hexOf(total) };
}
