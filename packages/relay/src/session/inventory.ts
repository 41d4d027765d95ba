import { type ClusterObjectRef, keyOf, SortedMap } from "@isthmus/core";
import { type Hash, hashOf, hexOf, minus, plus, ZERO } from "./digest.ts";

/** Which objects one end holds, without their content: the two ends of a stream compare inventories. By `kindKeyOf`; immutable. */
export type Inventory = ReadonlyMap<string, Holding>;

/** The objects of one kind. */
export interface Holding {
  /** Each object's hash by `keyOf`: no text of its own, as there are millions. */
  readonly hashes: SortedMap<Hash>;
  /** The sum of all hashes. */
  readonly sum: Hash;
}

/** One change of an inventory; without a hash the object is gone. */
export interface InventoryChange {
  /** `kindKeyOf` */
  readonly kind: string;
  /** `keyOf` */
  readonly key: string;
  readonly hash: Hash | undefined;
}

/** An object that is there, with its body, or that is gone. `kind` is its `kindKeyOf`. */
export function noted(kind: string, ref: ClusterObjectRef, body: Uint8Array | undefined): InventoryChange {
  const key = keyOf(ref);
  return { kind, key, hash: body === undefined ? undefined : hashOf(key, body) };
}

export const emptyInventory: Inventory = new Map();

const NONE: Holding = { hashes: SortedMap.empty(), sum: ZERO };

export function withChanges(inventory: Inventory, changes: readonly InventoryChange[]): Inventory {
  if (changes.length === 0) return inventory;
  const byKind = new Map<string, Map<string, Hash | undefined>>();
  for (const { kind, key, hash } of changes) {
    const latest = byKind.get(kind);
    if (latest === undefined) byKind.set(kind, new Map([[key, hash]]));
    else latest.set(key, hash);
  }
  const next = new Map(inventory);
  for (const [kind, latest] of byKind) next.set(kind, changed(next.get(kind) ?? NONE, latest));
  return next;
}

function changed({ hashes, sum }: Holding, latest: ReadonlyMap<string, Hash | undefined>): Holding {
  let total = sum;
  for (const [key, hash] of latest) {
    const before = hashes.get(key);
    if (before !== undefined) total = minus(total, before);
    if (hash !== undefined) total = plus(total, hash);
  }
  return { hashes: hashes.update(latest), sum: total };
}

/** The inventory with nothing of a kind. */
export function withoutKind(inventory: Inventory, kind: string): Inventory {
  return onlyWhere(inventory, (other) => other !== kind);
}

/** The inventory of some kinds alone. */
export function onlyKinds(inventory: Inventory, kinds: Iterable<string>): Inventory {
  const kept = new Set(kinds);
  return onlyWhere(inventory, (kind) => kept.has(kind));
}

function onlyWhere(inventory: Inventory, isKept: (kind: string) => boolean): Inventory {
  return new Map([...inventory].filter(([kind]) => isKept(kind)));
}

/** Whether an object is in it, by `kindKeyOf` and `keyOf`. */
export function holds(inventory: Inventory, kind: string, key: string): boolean {
  return inventory.get(kind)?.hashes.has(key) === true;
}

/** How many objects there are. */
export function sizeOf(inventory: Inventory): number {
  return [...inventory.values()].reduce((sum, { hashes }) => sum + hashes.size, 0);
}

/** The keys (`keyOf`) of a kind's objects. */
export function keysOfKind(inventory: Inventory, kind: string): ReadonlySet<string> {
  return new Set([...(inventory.get(kind) ?? NONE).hashes].map(([key]) => key));
}

/** Count and digest of one kind. */
export function digestOfKind(inventory: Inventory, kind: string): { readonly count: number; readonly digest: string } {
  const { hashes, sum } = inventory.get(kind) ?? NONE;
  return { count: hashes.size, digest: hexOf(sum) };
}

/** Count and digest of all kinds together. */
export function digestOfAll(inventory: Inventory): { readonly count: number; readonly digest: string } {
  let total = ZERO;
  for (const { sum } of inventory.values()) total = plus(total, sum);
  return { count: sizeOf(inventory), digest: hexOf(total) };
}
