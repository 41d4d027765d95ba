import { createHash } from "node:crypto";
import { fingerprints } from "@isthmus/certificates";

/** A name for a set of roots, whatever their order in the text: so that two ends can tell whether they trust the same. Rejects with InvalidPem. */
export async function rootsDigest(pem: string): Promise<string> {
  const sorted = [...new Set(await fingerprints(pem))].sort();
  return createHash("sha256").update(sorted.join("\n")).digest("hex").slice(0, 32);
}
