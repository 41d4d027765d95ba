import { createHash } from "node:crypto";
import type { AccessLog } from "@isthmus/dataplane";

/** Which entries a reader was shown, or would have been if they were selected: their digests, of each cluster so many that its agent takes none of others'. */
export interface SeenEntries {
  /** Those of an answer that no earlier one of the cluster had, in their order. `bytes` of all as JSON, in characters. */
  take(cluster: string, entries: readonly AccessLog[]): { readonly fresh: readonly AccessLog[]; readonly bytes: number };
}

/** Nothing was seen yet. `most`: entries of one cluster, of which those that were answered longest ago are forgotten. */
export function seenEntries(most: number): SeenEntries {
  const clusters = new Map<string, Set<string>>();
  return {
    take(cluster, entries) {
      const seen = clusters.get(cluster) ?? new Set<string>();
      clusters.set(cluster, seen);
      let bytes = 0;
      const fresh = entries.filter((entry) => {
        const text = JSON.stringify(entry);
        bytes += text.length;
        const digest = createHash("sha256").update(text).digest("base64").slice(0, DIGEST_LENGTH);
        const isFresh = !seen.delete(digest);
        seen.add(digest);
        return isFresh;
      });
      for (const digest of seen) {
        if (seen.size <= most) break;
        seen.delete(digest);
      }
      return { fresh, bytes };
    },
  };
}

// 120 bits: nobody finds a request whose entry hides another.
const DIGEST_LENGTH = 20;
