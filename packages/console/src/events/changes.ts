import { deltaBetween, emptySnapshot, equalJson, type Resource, type ResourceRef, type Snapshot } from "@isthmus/core";
import type { ConsoleActivity, ConsoleEvents } from "../wire.ts";
import type { FleetMoment, ObjectInsightList } from "./fleet.ts";
import { shownObject } from "./shownObject.ts";

/** An event as it is sent: `data` is JSON. */
export interface ConsoleEvent {
  readonly name: keyof ConsoleEvents;
  readonly data: string;
}

/** An event with something in it. */
export function consoleEvent<N extends keyof ConsoleEvents>(name: N, data: ConsoleEvents[N]): ConsoleEvent {
  return { name, data: JSON.stringify(data) };
}

/**
 * What leads from one moment to another, as events of bounded size, one at a time: between two of them others may have their turn. Costs what
 * differs. An object that is larger than an event may be has an event of its own.
 */
export function* eventsBetween(before: FleetMoment, after: FleetMoment): Iterable<ConsoleEvent> {
  yield* objectEvents("change", before.objects, after.objects);
  yield* objectEvents("generated", before.generated, after.generated);
  yield* insightEvents(before.insights, after.insights);
  yield* endedEvents(before.insights.ended, after.insights.ended);
  if (before.certificates !== after.certificates && !equalJson(before.certificates, after.certificates))
    yield consoleEvent("certificates", after.certificates);
  yield* activityEvents(before.activity, after.activity);
  if (after.viewer !== undefined && !equalJson(before.viewer, after.viewer)) yield consoleEvent("viewer", after.viewer);
}

type Parts = ReadonlyMap<string, Snapshot>;

function* objectEvents(name: "change" | "generated", before: Parts, after: Parts): Iterable<ConsoleEvent> {
  const put: Resource[][] = [];
  const remove: ResourceRef[] = [];
  for (const part of new Set([...after.keys(), ...before.keys()])) {
    const [older, newer] = [before.get(part) ?? NOTHING, after.get(part) ?? NOTHING];
    if (older === newer) continue;
    const delta = deltaBetween(older, newer);
    put.push([...delta.put]);
    remove.push(...delta.remove.filter(({ kind }) => kind !== "Secret"));
  }
  // First of all, as an object may have gone from one part to another.
  for (const texts of packed(remove.map((ref) => JSON.stringify(ref)))) yield { name, data: `{"put":[],"remove":[${texts.join(",")}]}` };
  for (const texts of packed(shownTexts(put))) yield { name, data: `{"put":[${texts.join(",")}],"remove":[]}` };
}

const NOTHING = emptySnapshot();

function* shownTexts(parts: readonly (readonly Resource[])[]): Iterable<string> {
  for (const part of parts) {
    for (const resource of part) {
      const shown = shownObject(resource);
      if (shown !== undefined) yield JSON.stringify(shown);
    }
  }
}

type MomentInsights = FleetMoment["insights"];

function* insightEvents(before: MomentInsights, after: MomentInsights): Iterable<ConsoleEvent> {
  const { at, objects, unknown, forgotten } = after;
  const told = `{"at":${JSON.stringify(at)},"unknown":${JSON.stringify(unknown)},"forgotten":${JSON.stringify(forgotten)},"changed":[`;
  let isTold = at === before.at && equalJson(unknown, before.unknown) && equalJson(forgotten, before.forgotten);
  for (const texts of packed(insightTexts(before.objects, objects))) {
    isTold = true;
    yield { name: "insights", data: `${told}${texts.join(",")}]}` };
  }
  if (!isTold) yield { name: "insights", data: `${told}]}` };
}

/** They never change: only what is new is sent. Browsers forget as servers do. */
function* endedEvents(before: MomentInsights["ended"], after: MomentInsights["ended"]): Iterable<ConsoleEvent> {
  if (before === after) return;
  const known = new Set(before.map((one) => JSON.stringify(one)));
  for (const texts of packed(after.map((one) => JSON.stringify(one)).filter((text) => !known.has(text))))
    yield { name: "ended", data: `[${texts.join(",")}]` };
}

/** Those of a cluster are one event: they are as much as one large object. */
function* activityEvents(
  before: FleetMoment["activity"] = NO_ACTIVITY,
  after: FleetMoment["activity"] = NO_ACTIVITY,
): Iterable<ConsoleEvent> {
  for (const [cluster, activity] of after) if (before.get(cluster) !== activity) yield consoleEvent("activity", activity);
  for (const cluster of before.keys())
    if (!after.has(cluster)) yield consoleEvent("activity", { cluster, at: null, sync: [], syncBounds: [] });
}

const NO_ACTIVITY: ReadonlyMap<string, ConsoleActivity> = new Map();

function* insightTexts(before: MomentInsights["objects"], after: MomentInsights["objects"]): Iterable<string> {
  for (const { before: was, after: is } of after.changesSince(before)) {
    const list = is ?? (was === undefined ? undefined : { object: was.object, insights: [] });
    if (list !== undefined) yield JSON.stringify(list satisfies ObjectInsightList);
  }
}

/** Texts in lists of bounded length. */
function* packed(texts: Iterable<string>): Iterable<readonly string[]> {
  let list: string[] = [];
  let length = 0;
  for (const text of texts) {
    if (list.length > 0 && (list.length >= MOST_IN_EVENT || length + text.length > MOST_CHARACTERS)) {
      yield list;
      list = [];
      length = 0;
    }
    list.push(text);
    length += text.length;
  }
  if (list.length > 0) yield list;
}

/** Objects in one event, at most. */
const MOST_IN_EVENT = 200;
/** Characters in one event, unless one object has more. */
const MOST_CHARACTERS = 64 * 1024;
