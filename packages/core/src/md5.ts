/**
 * MD5 of a UTF-8 text as 32 hex digits. Names of long objects carry it (see `names.ts`), and they must be equal to those
 * that the published product gave; node:crypto is not available where this package runs too, in a browser.
 * Source: RFC 1321.
 */
export function md5Hex(text: string): string {
  const bytes = padded(new TextEncoder().encode(text));
  const words = new DataView(bytes.buffer);
  let [a0, b0, c0, d0] = [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476];
  for (let block = 0; block < bytes.length; block += 64) {
    let [a, b, c, d] = [a0, b0, c0, d0];
    for (let i = 0; i < 64; i++) {
      const round = i >> 4;
      const [mixed, word] =
        round === 0
          ? [(b & c) | (~b & d), i]
          : round === 1
            ? [(d & b) | (~d & c), (5 * i + 1) % 16]
            : round === 2
              ? [b ^ c ^ d, (3 * i + 5) % 16]
              : [c ^ (b | ~d), (7 * i) % 16];
      const sum = (a + mixed + (SINES[i] as number) + words.getUint32(block + 4 * word, true)) | 0;
      const shift = (SHIFTS[round] as readonly number[])[i % 4] as number;
      [a, d, c, b] = [d, c, b, (b + ((sum << shift) | (sum >>> (32 - shift)))) | 0];
    }
    [a0, b0, c0, d0] = [(a0 + a) | 0, (b0 + b) | 0, (c0 + c) | 0, (d0 + d) | 0];
  }
  const digest = new DataView(new ArrayBuffer(16));
  [a0, b0, c0, d0].forEach((word, i) => {
    digest.setUint32(4 * i, word, true);
  });
  return Array.from(new Uint8Array(digest.buffer), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

const SINES = Array.from({ length: 64 }, (_, i) => Math.floor(Math.abs(Math.sin(i + 1)) * 2 ** 32) | 0);
const SHIFTS = [
  [7, 12, 17, 22],
  [5, 9, 14, 20],
  [4, 11, 16, 23],
  [6, 10, 15, 21],
];

function padded(message: Uint8Array): Uint8Array<ArrayBuffer> {
  const result = new Uint8Array((((message.length + 8) >> 6) + 1) * 64);
  result.set(message);
  result[message.length] = 0x80;
  new DataView(result.buffer).setUint32(result.length - 8, message.length * 8, true);
  return result;
}
