import { equalJson, resourceKeyOf, type Table } from "@isthmus/core";
import type { DatedInsight, DatedObject, Insight } from "@isthmus/insights";
import type { ObjectInsightList } from "../events/fleet.ts";
import type { ConsoleInsight } from "../wire.ts";

type Objects = Table<DatedObject> | readonly DatedObject[];

/** What insights follow from. */
export interface InsightChange {
  readonly now: Objects;
  readonly before: Objects;
  /** Gives the same insight, with what was probably meant, which is looked for in the whole fleet: so of a few insights at a time, where it is known what changed. Default: none has it. */
  readonly withNearMiss?: (insight: Insight) => Insight;
}

/**
 * Insights as they are shown. `rows` are those of the objects `before`, and keep their identity where nothing changed: of two tables that costs what differs; where one is a
 * list, all of it is compared.
 */
export function insightRows(rows: Table<ObjectInsightList>, { now, before, withNearMiss = same }: InsightChange): Table<ObjectInsightList> {
  if (!isList(now) && !isList(before)) {
    let asked = 0;
    const hinted = (insight: Insight) => (asked++ < MOST_HINTED ? withNearMiss(insight) : insight);
    return rows.with(now.changesSince(before).map(({ key, after }) => [key, after && listOf(after, hinted)] as const));
  }
  const changed = new Map<string, ObjectInsightList | undefined>();
  for (const [key] of rows.entries()) changed.set(key, undefined);
  for (const object of now) {
    const key = resourceKeyOf(object.object);
    const list = listOf(object);
    if (equalJson(rows.row(key), list)) changed.delete(key);
    else changed.set(key, list);
  }
  return rows.with(changed);
}

function isList(objects: Objects): objects is readonly DatedObject[] {
  return Array.isArray(objects);
}

function same(insight: Insight): Insight {
  return insight;
}

// Each is compared with every service of the fleet, if it is about one that does not exist.
const MOST_HINTED = 100;

function listOf({ object, insights }: DatedObject, withNearMiss = same): ObjectInsightList | undefined {
  return insights.length === 0 ? undefined : { object, insights: insights.map((dated) => shown(dated, withNearMiss)) };
}

function shown({ insight, since, suppression }: DatedInsight, withNearMiss: (insight: Insight) => Insight): ConsoleInsight {
  return {
    ...withNearMiss(insight),
    since: new Date(since).toISOString(),
    ...(suppression === undefined ? {} : { suppressed: suppression }),
  };
}
