import type { Quota } from "@isthmus/ports";

/** What all agents together may have reported to a server. */
export interface SharedQuota {
  /** How much has been taken of the agent of a cluster, as bytes of JSON. */
  booked(clusterName: string, bytes: number): void;
  forget(clusterName: string): void;
  /** The quota of an agent: its own one, or what all together leave of it. */
  of(own: Quota, mostBytes: number): Quota;
}

/**
 * Shares so that the largest are refused first: below a level everybody may report more, above it nobody, and the level is the highest one at which all
 * together stay within `mostBytes`. What has been taken stays. Together that is less than twice `mostBytes`, where it was reported by few before it was by many.
 */
export function sharedQuota(): SharedQuota {
  const sizes = new Map<string, number>();
  let together = 0;
  /** Of the sizes, for a bound. */
  let known: { readonly mostBytes: number; readonly level: number } | undefined;

  function levelOf(mostBytes: number): number {
    // Nearly always: what is asked with each message must not cost more with each agent.
    if (together <= mostBytes) return Number.POSITIVE_INFINITY;
    if (known?.mostBytes === mostBytes) return known.level;
    let [left, level] = [mostBytes, Number.POSITIVE_INFINITY];
    const all = [...sizes.values()].sort((a, b) => a - b);
    for (const [i, size] of all.entries()) {
      const share = left / (all.length - i);
      if (size > share) {
        level = Math.floor(share);
        break;
      }
      left -= size;
    }
    known = { mostBytes, level };
    return level;
  }

  return {
    booked(clusterName, bytes) {
      together += bytes - (sizes.get(clusterName) ?? 0);
      sizes.set(clusterName, bytes);
      known = undefined;
    },
    forget(clusterName) {
      together -= sizes.get(clusterName) ?? 0;
      sizes.delete(clusterName);
      known = undefined;
    },
    of(own, mostBytes) {
      const level = levelOf(mostBytes);
      return level < own.bytes ? { ...own, bytes: level, isShared: true } : own;
    },
  };
}
