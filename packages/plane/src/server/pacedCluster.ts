import { kindKeyOf } from "@isthmus/core";
import { aroundWrites } from "../aroundWrites.ts";
import type { Clock, Cluster } from "../ports.ts";

export interface PaceOptions {
  /** `kindKeyOf` of what has to wait; everything else is written at once, and counts. */
  readonly kinds: ReadonlySet<string>;
  /** Writes per second, and as many at once after a quiet second. */
  readonly perSecond: number;
  readonly clock: Clock;
}

/**
 * A cluster whose API server is not asked for more writes of some kinds than it can take beside its other work: a token bucket,
 * from which writes of other kinds take without waiting.
 */
export function pacedCluster(cluster: Cluster, { kinds, perSecond, clock }: PaceOptions): Cluster {
  /** Up to when the allowance is used up; it does not grow for longer than a second. */
  let usedUntil = clock.now() - 1000;

  return aroundWrites(cluster, async ({ apiVersion, kind }, write, signal) => {
    const now = clock.now();
    const until = Math.max(usedUntil, now - 1000) + 1000 / perSecond;
    const isPaced = kinds.has(kindKeyOf({ apiVersion, kind }));
    // What does not wait leaves no debt either: those that wait hold a worker each.
    usedUntil = isPaced ? until : Math.max(usedUntil, Math.min(until, now));
    if (isPaced && until > now) await clock.sleep(until - now, signal);
    return write();
  });
}
