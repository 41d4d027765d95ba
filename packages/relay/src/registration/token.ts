import { createHash, timingSafeEqual } from "node:crypto";

/** Whether a token is the expected one, in a time that says nothing about how much of it is right. An empty one never is. */
export function isSameToken(given: string, expected: string | undefined): boolean {
  // Digests, as the comparison needs equal lengths.
  const isEqual = timingSafeEqual(digestOf(given), digestOf(expected ?? ""));
  return isEqual && expected !== undefined && expected !== "";
}

function digestOf(text: string): Buffer {
  return createHash("sha256").update(text, "utf8").digest();
}
