import type { CooperativeTask, EntryChange } from "@isthmus/core";
import type { InsightCode, InsightSeverity } from "./insight.ts";
import type { ObjectInsights } from "./suppression.ts";

/** How many insights there are of a code and severity. */
export interface CodeCount {
  readonly code: InsightCode;
  readonly severity: InsightSeverity;
  readonly shown: number;
  readonly suppressed: number;
}

/** The counts after objects have changed, by code. Costs what changed. */
export function* countsAfter(
  before: readonly CodeCount[],
  changes: Iterable<EntryChange<ObjectInsights>>,
): CooperativeTask<readonly CodeCount[]> {
  const counts = new Map(before.map((count) => [keyOf(count), { ...count }]));
  const add = ({ shown, suppressed }: ObjectInsights, by: 1 | -1): void => {
    for (const insight of shown) countOf(insight).shown += by;
    for (const { insight } of suppressed) countOf(insight).suppressed += by;
  };
  const countOf = ({ code, severity }: Pick<CodeCount, "code" | "severity">) => {
    const key = keyOf({ code, severity });
    const count = counts.get(key) ?? { code, severity, shown: 0, suppressed: 0 };
    counts.set(key, count);
    return count;
  };
  for (const change of changes) {
    if (change.before !== undefined) add(change.before, -1);
    if (change.after !== undefined) add(change.after, 1);
    yield;
  }
  return [...counts.values()].filter(({ shown, suppressed }) => shown + suppressed > 0).sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}

function keyOf({ code, severity }: Pick<CodeCount, "code" | "severity">): string {
  return `${code}/${severity}`;
}
