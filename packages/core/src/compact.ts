/**
 * JSON values in little memory. A fleet is millions of small objects whose texts recur (namespaces, nodes, images), and so do whole
 * parts of them (the labels, owners and containers of the pods of one ReplicaSet): those are held once. And objects as `JSON.parse` makes
 * them share their hidden classes, where ones that were made of conditional or leading spreads have one each, which takes more than
 * what is in them (docs/decisions/0026). What this gives must not be changed, as others may hold parts of it.
 */

/** The value of a JSON text. Throws SyntaxError. */
export function parseCompact(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (typeof value === "object" && value !== null) shareParts(value);
  return value;
}

/** A copy of a JSON value. */
export function compact<T extends object>(value: T): T {
  return parseCompact(JSON.stringify(value)) as T;
}

/**
 * Replaces texts and parts by equal ones, in place: nobody else has seen the value. Gives a text that equal values alone have;
 * undefined for one that is too long to recur.
 */
function shareParts(value: object): string | undefined {
  const fields = value as Record<string, unknown>;
  const isList = Array.isArray(value);
  let text: string | undefined = isList ? "[" : "{";
  for (const key in fields) {
    const field = fields[key];
    let part: string | undefined;
    if (typeof field === "string") {
      fields[key] = sharedText(field);
      // The length tells where it ends.
      part = `${field.length}"${field}`;
    } else if (typeof field === "object" && field !== null) {
      part = shareParts(field);
      if (part !== undefined) fields[key] = sharedPart(field, part);
    } else part = String(field);
    if (text === undefined || part === undefined) text = undefined;
    else {
      text += isList ? `${part},` : `${key.length}"${key}:${part},`;
      if (text.length > LONGEST_PART) text = undefined;
    }
  }
  return text;
}

/** What recurs is found in one of two generations and moves on; what came once falls out. Together a few megabytes. */
interface Generations<T> {
  young: Map<string, T>;
  old: Map<string, T>;
}

const GENERATION = 32_768;
// Longer texts seldom recur, and would keep much alive.
const LONGEST = 128;
const LONGEST_PART = 384;
const texts: Generations<string> = { young: new Map(), old: new Map() };
const parts: Generations<object> = { young: new Map(), old: new Map() };

function sharedText(text: string): string {
  if (text.length > LONGEST) return text;
  return found(texts, text) ?? kept(texts, text, text);
}

// Hashes of parts that came once: only what comes again is kept, as most parts never do.
const seenOnce = new Int32Array(1 << 16);

function sharedPart(part: object, text: string): object {
  const known = found(parts, text);
  if (known !== undefined) return known;
  const hash = hashOf(text);
  const place = hash & (seenOnce.length - 1);
  if (seenOnce[place] === hash) return kept(parts, text, part);
  seenOnce[place] = hash;
  return part;
}

function found<T>(generations: Generations<T>, text: string): T | undefined {
  const known = generations.young.get(text);
  if (known !== undefined) return known;
  const old = generations.old.get(text);
  return old === undefined ? undefined : kept(generations, text, old);
}

function kept<T>(generations: Generations<T>, text: string, value: T): T {
  if (generations.young.size >= GENERATION) {
    generations.old = generations.young;
    generations.young = new Map();
  }
  generations.young.set(text, value);
  return value;
}

/** FNV-1a: two parts with one hash cost a place among those that are kept, and nothing else. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash | 0;
}
