import type { Clock, OutputSet } from "@isthmus/core";

/** Since when a cluster has been behind what is desired of it. */
export interface Lags {
  /** Everything that is desired in the cluster; the same again is no news. */
  setDesired(clusterName: string, wanted: OutputSet): void;
  /** The cluster's agent has answered `wanted`, or a set that holds the same. */
  acknowledged(clusterName: string, wanted: OutputSet): void;
  forget(clusterName: string): void;
  /** When the oldest was desired that is not acknowledged, in milliseconds since 1970; undefined when all is. */
  behindSince(clusterName: string): number | undefined;
  /** The same, once it has lasted so long that somebody should know. */
  lateSince(clusterName: string): number | undefined;
}

/** For so long an agent may take without anybody being notified: it retries what an API server is too busy for. */
export const LAGGING_AFTER_MS = 30_000;

/** `late` is called when a cluster comes to be late. */
export function lags({ clock, late }: { readonly clock: Clock; readonly late: () => void }, signal: AbortSignal): Lags {
  /** What is not acknowledged, oldest first; at most MAX_KEPT of a cluster. */
  const pending = new Map<string, readonly Wish[]>();
  const latest = new Map<string, OutputSet>();
  const watched = new Set<string>();

  function behindSince(clusterName: string): number | undefined {
    return pending.get(clusterName)?.[0]?.at;
  }

  function lateSince(clusterName: string): number | undefined {
    const since = behindSince(clusterName);
    return since === undefined || clock.now() < since + LAGGING_AFTER_MS ? undefined : since;
  }

  /** Until the cluster is late, or no longer behind. */
  async function watch(clusterName: string): Promise<void> {
    watched.add(clusterName);
    for (let since = behindSince(clusterName); since !== undefined; since = behindSince(clusterName)) {
      // Not longer, if the date is set back meanwhile.
      await clock.sleep(Math.min(LAGGING_AFTER_MS, Math.max(1, since + LAGGING_AFTER_MS - clock.now())), signal);
      if (lateSince(clusterName) === undefined) continue;
      late();
      break;
    }
    watched.delete(clusterName);
  }

  return {
    setDesired(clusterName, wanted) {
      const known = latest.get(clusterName);
      latest.set(clusterName, wanted);
      if (known !== undefined && isSame(known, wanted)) return;
      const before = pending.get(clusterName) ?? [];
      const last = before.at(-1);
      // Beyond the bound the newest takes the place of the one before it, with that one's time: a lag may look longer, never shorter.
      const wish = { wanted, at: before.length >= MAX_KEPT && last !== undefined ? last.at : clock.now() };
      pending.set(clusterName, [...before.slice(0, MAX_KEPT - 1), wish]);
      // Rejects when there is nothing to be sent any more.
      if (!watched.has(clusterName)) watch(clusterName).catch(() => undefined);
    },
    acknowledged(clusterName, wanted) {
      const before = pending.get(clusterName) ?? [];
      const answered = before.findLastIndex((wish) => isSame(wish.wanted, wanted));
      pending.set(clusterName, before.slice(answered + 1));
    },
    forget(clusterName) {
      pending.delete(clusterName);
      latest.delete(clusterName);
    },
    behindSince,
    lateSince,
  };
}

interface Wish {
  readonly wanted: OutputSet;
  readonly at: number;
}

const MAX_KEPT = 16;

/** Sets are made again without anything in them being another: then agents are not sent them, and don't answer. */
function isSame(a: OutputSet, b: OutputSet): boolean {
  return a === b || b.changesSince(a).length === 0;
}
