import { equalJson, resourceKeyOf, type Table } from "@isthmus/core";
import type { DatedInsight, DatedObject } from "@isthmus/insights";
import type { ObjectInsightList } from "../events/fleet.ts";
import type { ConsoleInsight } from "../wire.ts";

type Objects = Table<DatedObject> | readonly DatedObject[];

/**
 * Insights as they are shown. `rows` are those of the objects `before`, and keep their identity where nothing changed: of two tables that costs what differs; where one is a
 * list, all of it is compared.
 */
export function insightRows(rows: Table<ObjectInsightList>, now: Objects, before: Objects): Table<ObjectInsightList> {
  if (!isList(now) && !isList(before)) {
    return rows.with(now.changesSince(before).map(({ key, after }) => [key, after && listOf(after)] as const));
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

function listOf({ object, insights }: DatedObject): ObjectInsightList | undefined {
  return insights.length === 0 ? undefined : { object, insights: insights.map(shown) };
}

function shown({ insight, since, suppression }: DatedInsight): ConsoleInsight {
  const { reason, until } = suppression ?? {};
  return {
    ...insight,
    since: new Date(since).toISOString(),
    ...(reason === undefined ? {} : { suppressed: { reason, ...(until === undefined ? {} : { until }) } }),
  };
}
