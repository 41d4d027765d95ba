/**
 * Texts that recur are held once: of equal ones, one is given to all who ask, as long as nothing else has taken its place. Keys of
 * objects are made again wherever they are needed, and each would be kept for itself.
 */
export function sharedText(text: string): string {
  return textAt(text, hashOf(text));
}

/** The same, by the hash that `hashOf` gives. */
export function textAt(text: string, hash: number): string {
  if (text.length > LONGEST) return text;
  const place = hash & (PLACES - 1);
  // What is far away in memory is looked at only where it is nearly always the same.
  if (hashes[place] === hash) {
    const known = texts[place];
    if (known === text) return known;
  }
  hashes[place] = hash;
  texts[place] = text;
  return text;
}

/** A number that equal texts have in common, of 32 bits: FNV-1a of a text, or of the beginning of one that is longer than `longest`. */
export function hashOf(text: string, longest = LONGEST): number {
  let hash = text.length;
  const end = Math.min(text.length, longest);
  for (let i = 0; i < end; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash ^ (hash >>> 15);
}

// Longer texts seldom recur, and would keep much alive.
const LONGEST = 128;
// About as many as one cluster of a thousand services has names and keys.
const PLACES = 1 << 17;
const hashes = new Int32Array(PLACES);
const texts: (string | undefined)[] = new Array<undefined>(PLACES).fill(undefined);
