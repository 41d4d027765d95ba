/** The bytes of a text in base64. Throws what `atob` throws for one that is not. */
export function bytesOfBase64(base64: string): Uint8Array<ArrayBuffer> {
  const characters = atob(base64);
  const bytes = new Uint8Array(characters.length);
  // `Uint8Array.from` calls a function for each of them, which takes ten times as long.
  for (let i = 0; i < characters.length; i++) bytes[i] = characters.charCodeAt(i);
  return bytes;
}
