import { bytesOfBase64 } from "./base64.ts";

/** A text that is no certificate, no key or no certificate request. */
export class InvalidPem extends Error {
  override readonly name = "InvalidPem";
}

/** One block of a PEM text. */
export interface PemBlock {
  /** `CERTIFICATE`, `PRIVATE KEY`. */
  readonly label: string;
  readonly der: Uint8Array<ArrayBuffer>;
}

/** The longest base64 text of a block: an RSA key of 8,192 bits takes 6.5 kB. */
const MAX_BLOCK_BYTES = 8 * 1024;
/** The most blocks that a text may hold: a chain, or the roots of a company. */
const MAX_BLOCKS = 32;

const MAX_TEXT = 2 * MAX_BLOCKS * MAX_BLOCK_BYTES;
const [BEGIN, END, DASHES] = ["-----BEGIN ", "-----END ", "-----"];
const SEQUENCE = 0x30;

/**
 * The blocks of a PEM text. Strict within a block: no headers, base64 and nothing else, at most 8 KiB; lines outside of blocks are
 * comments. Each character is looked at once, and no regular expression sees any: libraries' own readers of PEM have taken for ever
 * over 400 bytes. Throws InvalidPem. Source: RFC 7468 §3.
 */
export function pemBlocks(text: string, maxBlocks = MAX_BLOCKS): readonly PemBlock[] {
  if (text.length > MAX_TEXT) throw new InvalidPem(`it is larger than ${MAX_TEXT / 1024} KiB`);
  const blocks: PemBlock[] = [];
  let label: string | undefined;
  let base64 = "";
  for (const line of text.split("\n").map((line) => line.trimEnd())) {
    if (label === undefined) {
      label = labelOf(line, BEGIN);
      base64 = "";
      continue;
    }
    const ending = labelOf(line, END);
    if (ending === undefined) {
      if (!isBase64(line))
        throw new InvalidPem(`its block ${label} has a line that is not base64; headers, as in encrypted keys, are not supported`);
      base64 += line;
      if (base64.length > MAX_BLOCK_BYTES) throw new InvalidPem(`its block ${label} is larger than ${MAX_BLOCK_BYTES / 1024} KiB`);
      continue;
    }
    if (ending !== label) throw new InvalidPem(`its block ${label} has the end line of ${ending}`);
    if (blocks.length === maxBlocks) throw new InvalidPem(`it has more than ${maxBlocks} ${maxBlocks === 1 ? "block" : "blocks"}`);
    blocks.push({ label, der: derOf(label, base64) });
    label = undefined;
  }
  if (label !== undefined) throw new InvalidPem(`its block ${label} has no end line`);
  return blocks;
}

/** To be asked before the library is given DER: anything else it takes for a text, and guesses of what. Throws InvalidPem. */
export function requireSequence(der: Uint8Array): void {
  if (der[0] !== SEQUENCE) throw new InvalidPem("its content is not DER-encoded X.509");
}

function labelOf(line: string, boundary: string): string | undefined {
  if (!line.startsWith(boundary) || !line.endsWith(DASHES) || line.length < boundary.length + DASHES.length) return undefined;
  return line.slice(boundary.length, -DASHES.length);
}

function isBase64(line: string): boolean {
  for (let i = 0; i < line.length; i++) if (!BASE64.has(line.charCodeAt(i))) return false;
  return true;
}

const BASE64: ReadonlySet<number> = new Set(
  Array.from("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=", (character) => character.charCodeAt(0)),
);

function derOf(label: string, base64: string): Uint8Array<ArrayBuffer> {
  try {
    return bytesOfBase64(base64);
  } catch (cause) {
    throw new InvalidPem(`its block ${label} is not base64`, { cause });
  }
}
