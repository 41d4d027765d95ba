/**
 * JSON values in little memory. A fleet is millions of small objects whose texts recur (namespaces, nodes, images, labels):
 * those are held once. And objects as `JSON.parse` makes them share their hidden classes, where ones that were made of
 * conditional or leading spreads have one each, which takes more than what is in them (docs/decisions/0026).
 */

/** The value of a JSON text. Throws SyntaxError. */
export function parseCompact(text: string): unknown {
  const value: unknown = JSON.parse(text);
  shareStrings(value);
  return value;
}

/** A copy of a JSON value. */
export function compact<T extends object>(value: T): T {
  return parseCompact(JSON.stringify(value)) as T;
}

/** Replaces texts by equal ones, in place: nobody else has seen the value. */
function shareStrings(value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  const fields = value as Record<string, unknown>;
  for (const key in fields) {
    const field = fields[key];
    if (typeof field === "string") fields[key] = shared(field);
    else shareStrings(field);
  }
}

// Two generations: what recurs is found in one of them and moves on, what came once falls out. Together a few megabytes.
const GENERATION = 32_768;
// Longer texts seldom recur, and would keep much alive.
const LONGEST = 128;
let young = new Map<string, string>();
let old = new Map<string, string>();

function shared(text: string): string {
  if (text.length > LONGEST) return text;
  const known = young.get(text);
  if (known !== undefined) return known;
  const kept = old.get(text) ?? text;
  if (young.size >= GENERATION) {
    old = young;
    young = new Map();
  }
  young.set(kept, kept);
  return kept;
}
