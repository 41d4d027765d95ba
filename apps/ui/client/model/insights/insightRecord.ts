import type { ConsoleEndedInsight, ConsoleInsight } from "@isthmus/console/wire";
import { resourceKeyOf } from "@isthmus/core";
import type { Fleet } from "../../data/fleet.ts";
import { millisecondsOf } from "../age.ts";
import { isInScope, NO_SCOPE, type Scope } from "../scope.ts";
import { clustersOfInsight, NO_COUNTS, type SeverityCounts } from "./insightIndex.ts";

/** An insight as it stands, or as it ended. */
export type RecordedInsight = ConsoleInsight | ConsoleEndedInsight;

/** When insights began and ended, as far as it is known. */
export interface InsightRecord {
  /** Milliseconds since 1970: what was, is known from here on. Undefined: nothing was ever found. */
  readonly start: number | undefined;
  readonly current: readonly ConsoleInsight[];
  readonly ended: readonly ConsoleEndedInsight[];
}

/** What became of an insight between two times. */
export interface InsightChange {
  readonly what: "new" | "gone" | "suppressed";
  readonly insight: RecordedInsight;
}

/** The record of the clusters of a scope. It begins with the first insight that is known, and after the last one that is forgotten: earlier, nothing found and nothing known look alike. */
export function insightRecord(fleet: Fleet, scope: Scope = NO_SCOPE): InsightRecord {
  const isShown = (insight: RecordedInsight) => scope.size === 0 || isInScope(scope, clustersOfInsight(insight, fleet));
  const current = [...fleet.insights].flatMap(({ insights }) => insights.filter(isShown));
  const ended = fleet.ended.filter(isShown);
  const first = [...current, ...ended].reduce(
    (least, { since }) => Math.min(least, millisecondsOf(since) ?? least),
    Number.POSITIVE_INFINITY,
  );
  if (first === Number.POSITIVE_INFINITY) return { start: undefined, current, ended };
  const start = fleet.forgottenInsights.reduce((latest, { before }) => Math.max(latest, millisecondsOf(before) ?? latest), first);
  return { start, current, ended };
}

/** What is other than at a time, in milliseconds since 1970, that is not before the record: by what began and ended. Since when something is suppressed is not recorded. */
export function changesSince({ current, ended }: InsightRecord, time: number): readonly InsightChange[] {
  const then = new Map<string, RecordedInsight>();
  for (const insight of ended) if (beganBy(insight, time) && Date.parse(insight.until) > time) then.set(identityOf(insight), insight);
  const now = new Set(current.map(identityOf));
  const began = current.filter((insight) => insight.suppressed === undefined && !beganBy(insight, time) && !then.has(identityOf(insight)));
  const gone = [...then].flatMap(([identity, insight]) => (now.has(identity) ? [] : [insight]));
  return [...began.map((insight) => ({ what: "new", insight }) as const), ...gone.map((insight) => ({ what: "gone", insight }) as const)];
}

/** What is other in one fleet than in an earlier one; what is suppressed counts as if it were not there, and has a word of its own. */
export function changesBetween(before: Fleet, after: Fleet, scope: Scope = NO_SCOPE): readonly InsightChange[] {
  const changes: InsightChange[] = [];
  for (const { before: was, after: is } of after.insights.changesSince(before.insights)) {
    const [then, now] = [was, is].map((object) => new Map((object?.insights ?? []).map((insight) => [identityOf(insight), insight])));
    for (const [identity, insight] of now ?? []) {
      const earlier = then?.get(identity);
      const wasShown = earlier !== undefined && earlier.suppressed === undefined;
      if (insight.suppressed === undefined && !wasShown) changes.push({ what: "new", insight });
      if (insight.suppressed !== undefined && wasShown) changes.push({ what: "suppressed", insight });
    }
    for (const [identity, insight] of then ?? [])
      if (insight.suppressed === undefined && now?.has(identity) === false) changes.push({ what: "gone", insight });
  }
  const isShown = ({ what, insight }: InsightChange) => isInScope(scope, clustersOfInsight(insight, what === "gone" ? before : after));
  return scope.size === 0 ? changes : changes.filter(isShown);
}

/** How many insights there were at a time, suppressed or not. */
export interface TrendPoint {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly counts: SeverityCounts;
}

/** How many there were at `points` times, the last of which is `now`, the first `spanMs` earlier or where the record begins; none: nothing was ever found. */
export function insightTrend(
  { start, current, ended }: InsightRecord,
  { now, spanMs, points }: { readonly now: number; readonly spanMs: number; readonly points: number },
): readonly TrendPoint[] {
  if (start === undefined || start >= now) return [];
  const first = Math.max(start, now - spanMs);
  const times = Array.from({ length: points }, (_, i) => first + ((now - first) * i) / (points - 1));
  // How many more there are from one time to the next; those that end before the first begin and end nowhere.
  const steps = times.map(() => ({ ...NO_COUNTS }));
  const placeOf = (time: number) => times.findIndex((at) => time <= at);
  for (const insight of [...current, ...ended]) {
    const began = placeOf(Date.parse(insight.since));
    const over = "until" in insight ? placeOf(Date.parse(insight.until)) : -1;
    const [from, to] = [steps[began], steps[over]];
    if (from !== undefined) from[insight.severity]++;
    if (to !== undefined && from !== undefined) to[insight.severity]--;
  }
  let counts = NO_COUNTS;
  return times.map((at, i) => {
    const step = steps[i] ?? NO_COUNTS;
    counts = { error: counts.error + step.error, warning: counts.warning + step.warning, info: counts.info + step.info };
    return { at, counts };
  });
}

function beganBy({ since }: RecordedInsight, time: number): boolean {
  return Date.parse(since) <= time;
}

/** As servers tell insights apart: a message names counts, with which it is the same insight. */
function identityOf({ object, code, field }: RecordedInsight): string {
  return [resourceKeyOf(object), code, field].join("\n");
}
