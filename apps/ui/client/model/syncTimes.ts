import type { ConsoleActivity } from "@isthmus/console/wire";
import { bucketQuantile } from "@isthmus/core";

/** How long changes took to be applied within the last hour, in seconds. */
export interface SyncTimes {
  readonly count: number;
  readonly p50: number;
  readonly p95: number;
}

/** Of one cluster, or of several together; undefined where there was no change, or none is known. */
export function syncTimes(activity: Iterable<ConsoleActivity>): SyncTimes | undefined {
  let [bounds, sums]: [readonly number[], number[]] = [[], []];
  for (const { sync, syncBounds } of activity) {
    // Those of a server of another version do not add up with these.
    if (bounds.length > 0 && bounds.join() !== syncBounds.join()) continue;
    bounds = syncBounds;
    sums = sync.map((count, at) => count + (sums[at] ?? 0));
  }
  const [p50, p95] = [0.5, 0.95].map((part) => bucketQuantile(sums, bounds, part));
  return p50 === undefined || p95 === undefined ? undefined : { count: sums.reduce((sum, count) => sum + count, 0), p50, p95 };
}

/** Seconds, as people read them. */
export function secondsText(seconds: number): string {
  return seconds < 1 ? `${Math.max(1, Math.round(seconds * 1_000))} ms` : `${seconds.toFixed(1)} s`;
}
