/** Letters that need no quoting anywhere: 64 of them, six bits each. */
const URL_SAFE = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/** Random text without bias: bytes beyond the last whole multiple of the alphabet are not used. */
export function randomText(length: number, alphabet = URL_SAFE): string {
  const limit = 256 - (256 % alphabet.length);
  let text = "";
  while (text.length < length) {
    const [byte = 255] = globalThis.crypto.getRandomValues(new Uint8Array(1));
    if (byte < limit) text += alphabet[byte % alphabet.length];
  }
  return text;
}
