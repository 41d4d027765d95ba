/** Counts removals for which nobody asked, for the rule that a mass deletion of them waits. */
export interface Landslides {
  /**
   * A process has removed an object whose origin merely is not seen any more; `owned` objects of ours are left there. Says whether
   * it was one too many within a minute.
   */
  removed(process: string, cluster: string, owned: number): boolean;
  /** How many such objects processes have removed since `rested`. */
  removedBy(processes: readonly string[]): number;
  /** Somebody said that what is on hold in a cluster may go, until `rested`. */
  resumed(cluster: string): void;
  isResumed(cluster: string): boolean;
  rested(): void;
}

// Source: decisions on safety, rule 3.
const WINDOW_MS = 60_000;
export const SMALLEST_BUDGET = 50;
const SHARE = 0.2;

export function landslides(now: () => number): Landslides {
  const removals = new Map<string, number[]>();
  const counts = new Map<string, number>();
  const resumed = new Set<string>();
  return {
    removed(process, cluster, owned) {
      const recent = [...(removals.get(process) ?? []).filter((at) => now() - at < WINDOW_MS), now()];
      removals.set(process, recent);
      counts.set(process, (counts.get(process) ?? 0) + 1);
      return !resumed.has(cluster) && recent.length > Math.max(SMALLEST_BUDGET, Math.floor((owned + recent.length) * SHARE));
    },
    removedBy: (processes) => processes.reduce((sum, process) => sum + (counts.get(process) ?? 0), 0),
    isResumed: (cluster) => resumed.has(cluster),
    resumed: (cluster) => void resumed.add(cluster),
    rested() {
      resumed.clear();
      removals.clear();
      counts.clear();
    },
  };
}
