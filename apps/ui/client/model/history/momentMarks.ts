import type { MomentChanges } from "@isthmus/console/wire";

/** How many objects changed in all clusters together, by the time since when they are so. */
export function changedAt({ moments }: MomentChanges): ReadonlyMap<string, number> {
  return new Map(moments.map(({ at, clusters }) => [at, clusters.reduce((sum, { count }) => sum + count, 0)]));
}

/** A mark at the place of a time, of a height from 0 to 1. */
export interface MomentMark {
  readonly place: number;
  readonly height: number;
}

/** Those of the times at which something changed. One object is seen beside a thousand, so heights grow with the digits of a number. */
export function heightsOf(times: readonly string[], changed: ReadonlyMap<string, number>): readonly MomentMark[] {
  const counts = times.map((time) => changed.get(time) ?? 0);
  const most = Math.max(0, ...counts);
  return counts.flatMap((count, place) => (count === 0 ? [] : [{ place, height: LEAST + (1 - LEAST) * share(count, most) }]));
}

function share(count: number, most: number): number {
  return Math.log(1 + count) / Math.log(1 + most);
}

const LEAST = 0.2;
