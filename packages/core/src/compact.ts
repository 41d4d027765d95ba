import { internPool, knownText, textHashOf } from "./intern.ts";
import { excessOf, excessOfText, ResourceExcess } from "./limits.ts";

/**
 * JSON values in little memory. A fleet is millions of small objects whose texts recur (namespaces, nodes, images), and so do whole
 * parts of them (the labels, owners and containers of the pods of one ReplicaSet): those are held once. And objects as `JSON.parse` makes
 * them share their hidden classes, where ones that were made of conditional or leading spreads have one each, which takes more than
 * what is in them (docs/decisions/0026). What this gives must not be changed, as others may hold parts of it.
 */

/** The value of a JSON text that is no more than a resource may be. Throws SyntaxError, and ResourceExcess. */
export function parseCompact(text: string): unknown {
  const tooLarge = excessOfText(text);
  if (tooLarge !== undefined) throw new ResourceExcess(tooLarge);
  const value: unknown = JSON.parse(text);
  const excess = excessOf(value);
  if (excess !== undefined) throw new ResourceExcess(excess);
  if (typeof value === "object" && value !== null) shareParts(value);
  return value;
}

/** A copy of a JSON value. Throws ResourceExcess. */
export function compact<T extends object>(value: T): T {
  return parseCompact(JSON.stringify(value)) as T;
}

/** Replaces texts and parts by equal ones, in place: nobody else has seen the value. Gives a hash, which equal values have in common. */
function shareParts(value: object): number {
  if (Array.isArray(value)) {
    let hash = value.length;
    for (let i = 0; i < value.length; i++) {
      const item: unknown = value[i];
      const part = hashAfterSharing(item);
      hash = mixed(hash, part);
      const known = knownAs(item, part);
      if (known !== undefined) value[i] = known;
    }
    return hash;
  }
  const fields = value as Record<string, unknown>;
  let hash = OBJECT;
  for (const key in fields) {
    const field = fields[key];
    const part = hashAfterSharing(field);
    // Enough of the key to tell most from one another: equality is found out otherwise.
    hash = mixed(hash, part ^ ((key.length << 8) + key.charCodeAt(0)));
    const known = knownAs(field, part);
    if (known !== undefined) fields[key] = known;
  }
  return hash;
}

/** What is equal to a text or part and is to take its place; undefined: nothing does. */
function knownAs(value: unknown, hash: number): unknown {
  if (typeof value === "string") return value.length > SHORT ? knownText(value, hash) : undefined;
  return typeof value === "object" && value !== null ? internedPart(value, hash) : undefined;
}

// V8 itself holds equal values of a parsed text once when they are no longer than this.
const SHORT = 10;

// Signed, as the hashes that it is compared with.
const OBJECT = 0x811c9dc5 | 0;

function hashAfterSharing(value: unknown): number {
  if (typeof value === "string") return textHashOf(value);
  if (typeof value === "object" && value !== null) return shareParts(value);
  return typeof value === "number" ? value | 0 : value === true ? 1 : 2;
}

function mixed(hash: number, part: number): number {
  const sum = Math.imul(hash ^ part, 0x85ebca6b);
  return sum ^ (sum >>> 13);
}

// Three quarters of a megabyte, and what it keeps alive.
const PARTS = 1 << 16;
const parts = internPool<object>(PARTS);
// Hashes of parts that came once: only what comes again is kept, as most parts never do.
const seenOnce = new Int32Array(PARTS);

/** An equal part that came before, if one is known. */
function internedPart(part: object, hash: number): object | undefined {
  const known = parts.withHash(hash);
  if (known !== undefined && isSame(known, part)) return known;
  const place = hash & (PARTS - 1);
  if (seenOnce[place] === hash) parts.keep(part, hash);
  else seenOnce[place] = hash;
  return undefined;
}

// Of one object at a time; a list for each would be garbage.
const names: string[] = [];

/** Whether two values, whose parts have been shared, have the same fields in the same order: texts that are made of them must not differ. */
function isSame(a: object, b: object): boolean {
  if (a === b) return true;
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false;
    for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
    return true;
  }
  if (Array.isArray(b)) return false;
  const [fields, others] = [a as Record<string, unknown>, b as Record<string, unknown>];
  let count = 0;
  for (const key in fields) {
    if (fields[key] !== others[key]) return false;
    names[count++] = key;
  }
  let position = 0;
  for (const key in others) if (names[position++] !== key) return false;
  return count === position;
}
