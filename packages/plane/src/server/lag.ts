/** Since when a cluster has been behind what is wanted of it. */
export interface Lags {
  /** `wanted` is any value that stands for everything that is wanted in the cluster; the same again is no news. */
  wanted(clusterName: string, wanted: object): void;
  /** The cluster's agent has answered `wanted`. */
  acknowledged(clusterName: string, wanted: object): void;
  forget(clusterName: string): void;
  /** When the oldest was wanted that is not acknowledged, in milliseconds since 1970; undefined when all is. */
  behindSince(clusterName: string): number | undefined;
}

/** `now` gives milliseconds since 1970. */
export function lags(now: () => number): Lags {
  /** What is not acknowledged, oldest first; at most MAX_KEPT of a cluster. */
  const pending = new Map<string, readonly Wish[]>();
  const latest = new Map<string, object>();
  return {
    wanted(clusterName, wanted) {
      if (latest.get(clusterName) === wanted) return;
      latest.set(clusterName, wanted);
      const before = pending.get(clusterName) ?? [];
      const last = before.at(-1);
      // Beyond the bound the newest takes the place of the one before it, with that one's time: a lag may look longer, never shorter.
      const wish = { wanted, at: before.length >= MAX_KEPT && last !== undefined ? last.at : now() };
      pending.set(clusterName, [...before.slice(0, MAX_KEPT - 1), wish]);
    },
    acknowledged(clusterName, wanted) {
      const before = pending.get(clusterName) ?? [];
      const answered = before.findIndex((wish) => wish.wanted === wanted);
      pending.set(clusterName, before.slice(answered + 1));
    },
    forget(clusterName) {
      pending.delete(clusterName);
      latest.delete(clusterName);
    },
    behindSince: (clusterName) => pending.get(clusterName)?.[0]?.at,
  };
}

interface Wish {
  readonly wanted: object;
  readonly at: number;
}

const MAX_KEPT = 16;
