import { type ClusterObjectRef, keyOf, SortedMap } from "@isthmus/core";
import { type Hash, hashOf, hexOf, minus, plus, ZERO } from "./digest.ts";

/** Which objects one end holds, without their content: the two ends of a stream compare inventories. By `kindKeyOf`; immutable. */
export type Inventory = ReadonlyMap<string, Holding>;

/** The objects of one kind. */
export interface Holding {
  /** The two halves of each object's hash by the key of its changes: neither texts nor objects of their own, as there are millions. */
  readonly a: SortedMap<number>;
  readonly b: SortedMap<number>;
  /** The sum of all hashes. */
  readonly sum: Hash;
}

/** One change of an inventory; without a hash the object is gone. */
export interface InventoryChange {
  /** `kindKeyOf` */
  readonly kind: string;
  /** `keyOf`, or what else its inventory knows objects by. */
  readonly key: string;
  readonly hash: Hash | undefined;
}

/**
 * An object that is there, with its body, or that is gone. `kind` is its `kindKeyOf`. `known`: a key by which the inventory is to
 * know it, where one is kept anyhow; its hash is of its `keyOf` all the same.
 */
export function withObject(kind: string, ref: ClusterObjectRef, body: Uint8Array | undefined, known?: string): InventoryChange {
  const key = keyOf(ref);
  return { kind, key: known ?? key, hash: body === undefined ? undefined : hashOf(key, body) };
}

export const emptyInventory: Inventory = new Map();

const NONE: Holding = { a: SortedMap.empty(), b: SortedMap.empty(), sum: ZERO };

/** The inventory after changes of which the last of each object counts; kinds without a change are shared with the one before. */
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

function changed(holding: Holding, latest: ReadonlyMap<string, Hash | undefined>): Holding {
  let { sum } = holding;
  for (const [key, hash] of latest) {
    const [a, b] = [holding.a.get(key), holding.b.get(key)];
    if (a !== undefined && b !== undefined) sum = minus(sum, { a, b });
    if (hash !== undefined) sum = plus(sum, hash);
  }
  const a = holding.a.update(halves(latest, "a"));
  return { a, b: holding.b.update(halves(latest, "b")).withKeysOf(a), sum };
}

function* halves(latest: ReadonlyMap<string, Hash | undefined>, half: keyof Hash): Iterable<readonly [string, number | undefined]> {
  for (const [key, hash] of latest) yield [key, hash?.[half]];
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

/** Whether an object is in it, by `kindKeyOf` and the key that its change named. */
export function holds(inventory: Inventory, kind: string, key: string): boolean {
  return inventory.get(kind)?.a.has(key) === true;
}

/** How many objects there are. */
export function inventorySize(inventory: Inventory): number {
  return [...inventory.values()].reduce((sum, { a }) => sum + a.size, 0);
}

/** The keys of a kind's objects, as their changes named them. */
export function keysOfKind(inventory: Inventory, kind: string): ReadonlySet<string> {
  return new Set([...(inventory.get(kind) ?? NONE).a].map(([key]) => key));
}

/** Count and digest of one kind. */
export function digestOfKind(inventory: Inventory, kind: string): { readonly count: number; readonly digest: string } {
  const { a, sum } = inventory.get(kind) ?? NONE;
  return { count: a.size, digest: hexOf(sum) };
}

/** Count and digest of all kinds together. */
export function digestOfAll(inventory: Inventory): { readonly count: number; readonly digest: string } {
  let total = ZERO;
  for (const { sum } of inventory.values()) total = plus(total, sum);
  return { count: inventorySize(inventory), digest: hexOf(total) };
}
