/** The SHA-256 of a CertificateRequest's text, in hex: by it an agent names the request that is its own. */
export async function requestDigest(text: string): Promise<string> {
  const digest = await globalThis.crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
