import type { Resource } from "@isthmus/core";
import { type Hash, hashOf, hexOf, minus, plus, ZERO } from "@isthmus/relay/session";
import type { KindDigest } from "../../ports.ts";

/** Count and sum of the hashes of the objects of one kind: it follows each change in one step, and does not depend on order. */
export interface KindSum {
  readonly count: number;
  readonly sum: Hash;
}

export type KindSums = ReadonlyMap<string, KindSum>;

const NOTHING: KindSum = { count: 0, sum: ZERO };

/** An object as text: equal objects have equal texts, whatever the order of their members. */
export function canonicalText(resource: Resource): string {
  return JSON.stringify(ordered(resource));
}

/** The same value with the members of each object in order; what is in order already is not copied. */
function ordered(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const items = value.map(ordered);
    return items.every((item, i) => item === value[i]) ? value : items;
  }
  const members = value as Readonly<Record<string, unknown>>;
  const keys = Object.keys(members);
  let isSame = true;
  for (let i = 1; i < keys.length && isSame; i++) isSame = (keys[i - 1] as string) < (keys[i] as string);
  if (!isSame) keys.sort();
  // Without a prototype, as a member may be called `__proto__`.
  const copy: Record<string, unknown> = Object.create(null);
  for (const key of keys) {
    const member = ordered(members[key]);
    if (member !== members[key]) isSame = false;
    copy[key] = member;
  }
  return isSame ? value : copy;
}

/** The sum of a kind after one object (by `keyOf`) has another text than before; undefined: there is none. */
export function sumAfter(sum: KindSum | undefined, key: string, before: string | undefined, after: string | undefined): KindSum {
  let { count, sum: total } = sum ?? NOTHING;
  if (before !== undefined) [count, total] = [count - 1, minus(total, textHash(key, before))];
  if (after !== undefined) [count, total] = [count + 1, plus(total, textHash(key, after))];
  return { count, sum: total };
}

function textHash(key: string, text: string): Hash {
  return hashOf(key, encoder.encode(text));
}

const encoder = new TextEncoder();

export function digestOf({ count, sum }: KindSum): KindDigest {
  return { count, digest: hexOf(sum) };
}

/** The digests of all kinds that hold something. */
export function digestsOf(sums: KindSums): Readonly<Record<string, KindDigest>> {
  const held = [...sums].filter(([, { count }]) => count > 0);
  return Object.fromEntries(held.sort(([a], [b]) => (a < b ? -1 : 1)).map(([kindKey, sum]) => [kindKey, digestOf(sum)]));
}

export function isSameDigest(a: KindDigest | undefined, b: KindDigest | undefined): boolean {
  return (a?.count ?? 0) === (b?.count ?? 0) && ((a?.count ?? 0) === 0 || a?.digest === b?.digest);
}

/** One digest of several kinds. */
export function digestOfAll(sums: Iterable<KindSum>): KindDigest {
  let [count, sum] = [0, ZERO];
  for (const one of sums) [count, sum] = [count + one.count, plus(sum, one.sum)];
  return digestOf({ count, sum });
}
