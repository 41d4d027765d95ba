import type { MomentChanges } from "@isthmus/console/wire";
import { isInScope, type Scope } from "../scope.ts";

/** How much changed in each cluster from one moment to the next, the latest moment first. */
export interface MomentGrid {
  /** Those in which something changed, by name, the management cluster ("") first; of more than `most`, those in which most changed. */
  readonly clusters: readonly string[];
  readonly rows: readonly {
    /** In ISO 8601. */
    readonly at: string;
    /** One for each of `clusters`. */
    readonly counts: readonly number[];
    /** In clusters that are not among them. */
    readonly others: number;
    /** Whether it is the oldest, of which nothing is counted. */
    readonly isFirst: boolean;
  }[];
  readonly hasOthers: boolean;
}

/** The grid of the clusters of a scope. */
export function momentGrid({ moments }: MomentChanges, scope: Scope, most: number): MomentGrid {
  const sums = new Map<string, number>();
  const shown = moments.map(({ at, clusters }) => ({ at, clusters: clusters.filter(({ name }) => isInScope(scope, [name])) }));
  for (const { clusters } of shown) for (const { name, count } of clusters) sums.set(name, (sums.get(name) ?? 0) + count);
  const largest = [...sums].sort(([, a], [, b]) => b - a).map(([name]) => name);
  const names = largest.slice(0, most).sort();
  const rows = shown.map(({ at, clusters }, i) => {
    const counts = new Map(clusters.map(({ name, count }) => [name, count]));
    const all = clusters.reduce((sum, { count }) => sum + count, 0);
    const own = names.map((name) => counts.get(name) ?? 0);
    return { at, counts: own, others: all - own.reduce((sum, count) => sum + count, 0), isFirst: i === 0 };
  });
  return { clusters: names, rows: rows.reverse(), hasOthers: sums.size > names.length };
}

/** How dark a count is shown, from 0 to 4: by its order of magnitude. */
export function shadeOf(count: number): number {
  return count === 0 ? 0 : Math.min(4, 1 + Math.floor(Math.log10(count)));
}
