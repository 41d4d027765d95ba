import type { Clock } from "@isthmus/core";
import { SYNC_BOUNDS } from "../../replication/clusterActivity.ts";

/** How long changes took until they were applied in a cluster, of the last hour. */
export interface SyncDurations {
  record(clusterName: string, ms: number): void;
  /** How many took how long: by the buckets of `SYNC_BOUNDS`, and one for what took longer. */
  lastHour(clusterName: string): readonly number[];
  forget(clusterName: string): void;
}

/** Of each cluster sixty minutes with a number for each bucket, whatever happens. */
export function syncDurations(clock: Pick<Clock, "now">): SyncDurations {
  const clusters = new Map<string, Map<number, number[]>>();
  const minuteNow = () => Math.floor(clock.now() / MINUTE_MS);

  function recent(clusterName: string): Map<number, number[]> {
    const minutes = clusters.get(clusterName) ?? new Map<number, number[]>();
    const now = minuteNow();
    // A clock that was set back leaves minutes that have not been yet.
    for (const minute of minutes.keys()) if (minute <= now - MINUTES || minute > now) minutes.delete(minute);
    return minutes;
  }

  return {
    record(clusterName, ms) {
      const minutes = recent(clusterName);
      clusters.set(clusterName, minutes);
      const counts = minutes.get(minuteNow()) ?? noCounts();
      minutes.set(minuteNow(), counts);
      const found = SYNC_BOUNDS.findIndex((most) => ms / 1_000 <= most);
      const at = found < 0 ? SYNC_BOUNDS.length : found;
      counts[at] = (counts[at] ?? 0) + 1;
    },
    lastHour(clusterName) {
      const sum = noCounts();
      for (const counts of recent(clusterName).values()) for (const [at, count] of counts.entries()) sum[at] = (sum[at] ?? 0) + count;
      return sum;
    },
    forget: (clusterName) => void clusters.delete(clusterName),
  };
}

const MINUTE_MS = 60_000;
const MINUTES = 60;

function noCounts(): number[] {
  return new Array<number>(SYNC_BOUNDS.length + 1).fill(0);
}
