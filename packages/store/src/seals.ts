import { createHmac, hash } from "node:crypto";
import type { Hash } from "@isthmus/ports";

/** What tells our own entries in Redis from everybody else's. Redis does not hold it. */
export interface StoreKeys {
  /** 32 random bytes or more: signs, and verifies. */
  readonly key: Uint8Array;
  /** Verifies too: the key that was in use before, or the one that comes next. */
  readonly previous?: Uint8Array;
}

/** What is signed. Each has a key of its own, so that nothing that was signed for one use counts for another. */
export type Use = "head" | "version" | "fence" | "record" | "object" | "digest" | "notice";

/**
 * Signs what is kept in Redis and verifies what comes from there: HMAC-SHA256 (RFC 2104), of which the first 132 bits are kept.
 * `place` says where a text belongs, so that one that was moved does not count.
 */
export interface Seals {
  /** The signature, and behind it the content. */
  seal(use: Use, place: readonly string[], content: string): string;
  /** The content; undefined for what nobody who has a key has written to this place. */
  open(use: Use, place: readonly string[], sealed: string): string | undefined;
  /** For many objects of one place. */
  objects(place: readonly string[]): ObjectSeals;
  /** The signature of bytes that begin a message. */
  signatureOf(bytes: Uint8Array): string;
  isSigned(bytes: Uint8Array, signature: string): boolean;
  /** What a sum of hashes looks like to those who have no key: equal sums look alike, and nothing else follows from it. */
  digestOf(place: readonly string[], sum: Hash): string;
  /** Whether a digest is of this sum, by any of the keys. */
  isDigest(place: readonly string[], sum: Hash, digest: string): boolean;
}

export interface ObjectSeals {
  seal(key: string, text: string): string;
  /** The hash is a part of the HMAC that is kept nowhere. */
  open(key: string, sealed: string): { readonly text: string; readonly hash: Hash } | undefined;
  hashOf(key: string, text: string): Hash;
}

/** Characters of a signature, in base64. */
export const SIGNATURE = 22;

/** `scope` tells the keys of one plane from those of another that was given the same ones. */
export function storeSeals({ key, previous }: StoreKeys, scope: string): Seals {
  const current = signer(key, scope);
  const signers = previous === undefined ? [current] : [current, signer(previous, scope)];

  return {
    seal: (use, place, content) => current.macOf(use, listed(place) + content).slice(0, SIGNATURE) + content,
    open(use, place, sealed) {
      const content = sealed.slice(SIGNATURE);
      const signed = listed(place) + content;
      return signers.some(({ macOf }) => begins(macOf(use, signed), sealed)) ? content : undefined;
    },
    objects(place) {
      const prefix = listed(place);
      const signed = (name: string, text: string) => `${prefix}${name.length}:${name}${text}`;
      return {
        seal: (name, text) => current.macOf("object", signed(name, text)).slice(0, SIGNATURE) + text,
        open(name, sealed) {
          const text = sealed.slice(SIGNATURE);
          const content = signed(name, text);
          for (const { macOf } of signers) {
            const mac = macOf("object", content);
            if (begins(mac, sealed)) return { text, hash: hiddenIn(mac) };
          }
          return undefined;
        },
        hashOf: (name, text) => hiddenIn(current.macOf("object", signed(name, text))),
      };
    },
    signatureOf: (bytes) => current.macOfBytes(bytes).slice(0, SIGNATURE),
    isSigned: (bytes, signature) => signers.some(({ macOfBytes }) => begins(macOfBytes(bytes), signature)),
    digestOf: (place, sum) => current.macOf("digest", listed(place) + sumText(sum)).slice(0, SIGNATURE),
    isDigest: (place, sum, digest) => signers.some(({ macOf }) => begins(macOf("digest", listed(place) + sumText(sum)), digest)),
  };
}

interface Signer {
  /** In base64: 44 characters. */
  macOf(use: Use, text: string): string;
  macOfBytes(bytes: Uint8Array): string;
}

function signer(master: Uint8Array, scope: string): Signer {
  // 64 characters, as long as a block of SHA-256: HMAC takes such a key as it is.
  const keyOf = (use: Use) => createHmac("sha256", master).update(`isthmus store ${use} ${scope}`).digest("hex");
  const macs = new Map(USES.map((use) => [use, hmacSha256(keyOf(use))]));
  const noticeKey = keyOf("notice");
  return {
    macOf: (use, text) => (macs.get(use) as (text: string) => string)(text),
    macOfBytes: (bytes) => createHmac("sha256", noticeKey).update(bytes).digest("base64"),
  };
}

const USES: readonly Use[] = ["head", "version", "fence", "record", "object", "digest"];

/**
 * HMAC-SHA256 of texts under a key of 64 ASCII characters, by two one-shot hashes: `createHmac` costs two to three times as much for
 * a text of some hundred bytes, and a replica that starts verifies a million of them.
 */
export function hmacSha256(key: string): (text: string) => string {
  // What is xored with 7 bits stays below 128, and is one byte in UTF-8.
  const padded = (pad: number) => String.fromCharCode(...Array.from(key, (character) => character.charCodeAt(0) ^ pad));
  const inner = padded(0x36);
  const outer = Buffer.alloc(key.length + 32);
  outer.write(padded(0x5c), "latin1");
  return (text) => {
    outer.write(hash("sha256", inner + text, "binary"), key.length, "latin1");
    return hash("sha256", outer, "base64");
  };
}

/** Texts in a row, so that no other row gives the same. */
function listed(parts: readonly string[]): string {
  return parts.map((part) => `${part.length}:${part}`).join("");
}

/** Whether a text begins with the part of a MAC that is kept; takes as long wherever they differ. */
function begins(mac: string, text: string): boolean {
  if (text.length < SIGNATURE) return false;
  let differing = 0;
  for (let i = 0; i < SIGNATURE; i++) differing |= mac.charCodeAt(i) ^ text.charCodeAt(i);
  return differing === 0;
}

/** 64 bits of a MAC (base64) behind those that are kept. */
function hiddenIn(mac: string): Hash {
  return { a: bitsIn(mac, SIGNATURE + 1), b: bitsIn(mac, SIGNATURE + 7) };
}

/** 32 of the 36 bits of six characters. */
function bitsIn(mac: string, from: number): number {
  let bits = 0;
  for (let i = from; i < from + 6; i++) bits = (bits << 6) | (VALUES[mac.charCodeAt(i)] as number);
  return bits;
}

const VALUES = new Uint8Array(128);
for (const [value, character] of [..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"].entries())
  VALUES[character.charCodeAt(0)] = value;

function sumText({ a, b }: Hash): string {
  return `${a},${b}`;
}
