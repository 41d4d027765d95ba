import { type Clock, kindKeyOf } from "@isthmus/core";
import type { Cluster } from "@isthmus/ports";
import { startPace } from "../runtime/pace.ts";
import { interceptWrites } from "./interceptWrites.ts";

export interface PaceOptions {
  /** `kindKeyOf` of what has to wait; everything else is written at once, and counts. */
  readonly kinds: ReadonlySet<string>;
  /** Writes per second, and as many at once after a quiet second. */
  readonly perSecond: number;
  readonly clock: Clock;
}

/** A cluster whose API server is not asked for more writes of some kinds than it can take beside its other work. */
export function pacedCluster(cluster: Cluster, { kinds, perSecond, clock }: PaceOptions): Cluster {
  const pace = startPace(perSecond, clock);
  return interceptWrites(cluster, async ({ apiVersion, kind }, write, signal) => {
    // What does not wait leaves no debt: those that wait hold a worker each.
    if (kinds.has(kindKeyOf({ apiVersion, kind }))) await pace.turn(signal);
    else pace.count();
    return write();
  });
}
