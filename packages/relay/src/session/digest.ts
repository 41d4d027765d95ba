/**
 * Digests that tell whether two ends hold the same objects. They guard against mistakes, not against forgers: the stream is
 * authenticated. `relay.proto` (KindDigest) defines them for clients in other languages.
 */

/** Two independent 32-bit numbers, signed: V8 holds those in place, and larger ones each in an object of its own. */
export interface Hash {
  readonly a: number;
  readonly b: number;
}

export const ZERO: Hash = { a: 0, b: 0 };

/** The hash of one object under its key (`keyOf`): of its JSON text, as a string or in UTF-8. */
export function hashOf(key: string, body: Uint8Array | string): Hash {
  const name = inUtf8(key);
  const seeds = murmur3(SEEDS, name.bytes, name.length);
  const { bytes, length } = typeof body === "string" ? inUtf8(body) : { bytes: body, length: body.length };
  return murmur3(seeds, bytes, length);
}

const SEEDS: Hash = { a: 0, b: 1 };

/** A text in bytes that are good until the next call: a replica that starts hashes a million of them. */
function inUtf8(text: string): { readonly bytes: Uint8Array; readonly length: number } {
  // No code unit takes more than three bytes.
  if (text.length * 3 > scratch.length) scratch = new Uint8Array(text.length * 3);
  return { bytes: scratch, length: encoder.encodeInto(text, scratch).written };
}

/** Sums are modulo 2^32, so that the digest of a set does not depend on its order and follows each change in one step. */
export function plus(sum: Hash, hash: Hash): Hash {
  return { a: (sum.a + hash.a) | 0, b: (sum.b + hash.b) | 0 };
}

/** The sum without a hash that is in it, modulo 2^32: the inverse of `plus`. */
export function minus(sum: Hash, hash: Hash): Hash {
  return { a: (sum.a - hash.a) | 0, b: (sum.b - hash.b) | 0 };
}

/** 16 hex digits. */
export function hexOf({ a, b }: Hash): string {
  return (a >>> 0).toString(16).padStart(8, "0") + (b >>> 0).toString(16).padStart(8, "0");
}

const encoder = new TextEncoder();
let scratch = new Uint8Array(16_384);

/**
 * MurmurHash3_x86_32 of the first `length` bytes, with each of two seeds. Source: Austin Appleby's reference code, in the public domain
 * (smhasher).
 */
export function murmur3({ a, b }: Hash, bytes: Uint8Array, length = bytes.length): Hash {
  const whole = length & ~3;
  let [first, second] = [a, b];
  for (let i = 0; i < whole; i += 4) {
    const word = scrambled(
      (bytes[i] as number) | ((bytes[i + 1] as number) << 8) | ((bytes[i + 2] as number) << 16) | ((bytes[i + 3] as number) << 24),
    );
    first = mixed(first, word);
    second = mixed(second, word);
  }
  let tail = 0;
  for (let i = length - 1; i >= whole; i--) tail = (tail << 8) | (bytes[i] as number);
  const last = whole < length ? scrambled(tail) : 0;
  return { a: avalanche(first ^ last ^ length), b: avalanche(second ^ last ^ length) };
}

function scrambled(word: number): number {
  const product = Math.imul(word, 0xcc9e2d51);
  return Math.imul((product << 15) | (product >>> 17), 0x1b873593);
}

function mixed(hash: number, word: number): number {
  const sum = hash ^ word;
  return (Math.imul((sum << 13) | (sum >>> 19), 5) + 0xe6546b64) | 0;
}

function avalanche(value: number): number {
  let hash = value;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}
