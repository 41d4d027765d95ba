import type { ConsoleActivity } from "@isthmus/console/wire";
import { bucketQuantile } from "@isthmus/core";
import { millisecondsOf } from "../age.ts";
import { isInScope, type Scope } from "../scope.ts";

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

/** How many changes took how long: up to so many seconds, and longer than the span before; undefined: longer than any span. */
export interface SyncSpan {
  readonly upTo: number | undefined;
  readonly count: number;
}

/** From the quickest span in which there was a change to the slowest. */
export function syncSpans({ sync, syncBounds }: Pick<ConsoleActivity, "sync" | "syncBounds">): readonly SyncSpan[] {
  const [first, last] = [sync.findIndex((count) => count > 0), sync.findLastIndex((count) => count > 0)];
  if (first < 0) return [];
  return sync.slice(first, last + 1).map((count, i) => ({ upTo: syncBounds[first + i], count }));
}

/** How long changes took in several clusters together, and of how many of those clusters figures are known. */
export interface FleetSync {
  /** Undefined where there was no change, or no figures are known. */
  readonly times: SyncTimes | undefined;
  /** Clusters whose figures are of the last minutes, whether or not there was a change. */
  readonly known: number;
}

/** Of the clusters of a scope, at `now` in milliseconds since 1970. Figures that are old are left out: they are of an hour that is over. */
export function fleetSync(activity: ReadonlyMap<string, ConsoleActivity>, scope: Scope, now: number): FleetSync {
  // Of an agent that counts no changes nothing is known, not that there were none.
  const current = [...activity.values()].filter(
    (one) => isInScope(scope, [one.cluster]) && one.sync.length > 0 && !isOldActivity(one, now),
  );
  return { times: syncTimes(current), known: current.length };
}

// Servers write once a minute.
const OLD_MS = 180_000;

/** Whether nobody has said for a while what happens in a cluster. */
export function isOldActivity({ at }: Pick<ConsoleActivity, "at">, now: number): boolean {
  return now - (millisecondsOf(at) ?? 0) > OLD_MS;
}

/** Seconds, as people read them. */
export function secondsText(seconds: number): string {
  return seconds < 1 ? `${Math.max(1, Math.round(seconds * 1_000))} ms` : `${seconds.toFixed(1)} s`;
}
