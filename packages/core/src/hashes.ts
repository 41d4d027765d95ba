import { md5 } from "@noble/hashes/legacy.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";

/**
 * MD5 of a UTF-8 text as 32 hex digits. Names of long objects carry it (see `names.ts`), and they must be equal to those
 * that the published product gave; node:crypto is not available where this package runs too, in a browser.
 */
export function md5Hex(text: string): string {
  return bytesToHex(md5(utf8ToBytes(text)));
}

/** SHA-256 of a UTF-8 text as 64 hex digits, at once, which Web Crypto does not give. */
export function sha256Hex(text: string): string {
  return bytesToHex(sha256(utf8ToBytes(text)));
}
