import {
  type CooperativeTask,
  clusterNameIn,
  type EntryChange,
  emptyTable,
  type Index,
  keptText,
  md5Hex,
  type ResourceRef,
  resourceKeyOf,
  type Table,
  withEach,
} from "@isthmus/core";
import type { Insight, InsightCode, InsightSeverity } from "./insight.ts";
import type { ObjectInsights, Suppression } from "./suppression.ts";

/** An insight, and when it began. */
export interface DatedInsight {
  readonly insight: Insight;
  /** Milliseconds since 1970: since when there has been one of this code about this field of the object. */
  readonly since: number;
  /** Why it is not shown. */
  readonly suppression?: Suppression;
}

/** What is said of one object, and since when. */
export interface DatedObject {
  readonly object: ResourceRef;
  readonly insights: readonly DatedInsight[];
  /** Suppressions on the object that are not in force. */
  readonly problems: readonly string[];
}

/** An insight that is no more. */
export interface EndedInsight {
  readonly object: ResourceRef;
  readonly code: InsightCode;
  readonly severity: InsightSeverity;
  readonly field: string;
  readonly message: string;
  /** Milliseconds since 1970. */
  readonly since: number;
  readonly until: number;
}

/** When insights began and ended. */
export interface InsightHistory {
  /** By `resourceKeyOf`. */
  readonly current: Table<DatedObject>;
  /** Those of them that an earlier server has found, and that this one knows nothing of yet. */
  readonly lastKnown: ReadonlySet<string>;
  /** By `endedKey`: the last hundred of each cluster, so that one in which much comes and goes takes nothing from others. */
  readonly ended: Table<EndedInsight>;
}

const NO_DATED = emptyTable<DatedObject>(({ object }) => resourceKeyOf(object));
const NO_ENDED = emptyTable<EndedInsight>((ended) => endedKeyOf(ended));

/** Nothing has begun. */
export const NO_HISTORY: InsightHistory = { current: NO_DATED, lastKnown: new Set(), ended: NO_ENDED };

/** Names one that has ended among those of its cluster: later ones come later. Can be the name of an object. */
export function endedNameOf({ object, code, field, until }: EndedInsight): string {
  return `${String(until).padStart(15, "0")}-${md5Hex([resourceKeyOf(object), code, field].join("\n"))}`;
}

/** The key of such a one in `InsightHistory.ended`. */
export function endedKey(clusterName: string, name: string): string {
  return `${clusterName}|${name}`;
}

/** Tables ask for the key of a row again and again, and a digest costs more than all else of it. */
function endedKeyOf(ended: EndedInsight): string {
  const known = KEYS.get(ended);
  if (known !== undefined) return known;
  const key = endedKey(ended.object.clusterName, endedNameOf(ended));
  KEYS.set(ended, key);
  return key;
}

const KEYS = new WeakMap<EndedInsight, string>();

interface Moment {
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Whether all of a cluster is known: else nothing that was found there before has ended. */
  readonly isKnown: (clusterName: string) => boolean;
}

/** The history after insights about some objects have changed. Costs what changed; an object is a step. */
export function* historyAfter(
  { current, lastKnown, ended }: InsightHistory,
  changes: Iterable<EntryChange<ObjectInsights>>,
  { at, isKnown }: Moment,
): CooperativeTask<InsightHistory> {
  const waiting = new Set(lastKnown);
  const rows: (readonly [string, DatedObject | undefined])[] = [];
  const over: EndedInsight[] = [];
  for (const { key, after } of changes) {
    const before = current.row(key);
    // Gone before it was known: an earlier server's word stands until all is known.
    if (after === undefined && waiting.has(key)) continue;
    waiting.delete(key);
    if (after !== undefined) rows.push([key, dated(after, before, at)]);
    else if (before !== undefined) rows.push([key, undefined]);
    if (before !== undefined) over.push(...endedIn(before, after, at));
    yield;
  }
  for (const key of waiting) {
    const before = current.row(key);
    if (before !== undefined && !isKnown(clusterNameIn(key))) continue;
    waiting.delete(key);
    rows.push([key, undefined]);
    if (before !== undefined) over.push(...endedIn(before, undefined, at));
    yield;
  }
  if (rows.length === 0 && waiting.size === lastKnown.size) return { current, lastKnown, ended };
  return { current: yield* withEach(current, rows), lastKnown: waiting, ended: yield* withEnded(ended, over) };
}

/** The history with what an earlier server knew: what began before, began then; what is not known yet is neither there nor gone. */
export function* withLastKnown(
  history: InsightHistory,
  objects: Iterable<DatedObject>,
  past: Iterable<EndedInsight>,
): CooperativeTask<InsightHistory> {
  const lastKnown = new Set(history.lastKnown);
  const rows: (readonly [string, DatedObject])[] = [];
  for (const object of objects) {
    const key = resourceKeyOf(object.object);
    const known = history.current.row(key);
    if (known === undefined) lastKnown.add(key);
    rows.push([key, known === undefined ? object : since(known, object)]);
    yield;
  }
  return { current: yield* withEach(history.current, rows), lastKnown, ended: yield* withEnded(history.ended, past) };
}

function dated({ object, all, suppressed, problems }: ObjectInsights, before: DatedObject | undefined, at: number): DatedObject {
  const began = beginnings(before);
  const hidden = new Map(suppressed.map(({ insight, ...suppression }) => [insight, suppression]));
  const insights = all.map((insight): DatedInsight => {
    const suppression = hidden.get(insight);
    return { insight, since: began.get(identityOf(insight)) ?? at, ...(suppression === undefined ? {} : { suppression }) };
  });
  return { object, insights, problems };
}

function since(now: DatedObject, earlier: DatedObject): DatedObject {
  const began = beginnings(earlier);
  const insights = now.insights.map((one) => ({ ...one, since: Math.min(one.since, began.get(identityOf(one.insight)) ?? one.since) }));
  return { ...now, insights };
}

function beginnings(object: DatedObject | undefined): ReadonlyMap<string, number> {
  return new Map((object?.insights ?? []).map((one) => [identityOf(one.insight), one.since]));
}

function endedIn({ object, insights }: DatedObject, after: ObjectInsights | undefined, until: number): readonly EndedInsight[] {
  const still = new Set((after?.all ?? []).map(identityOf));
  const gone = new Map(insights.map((one) => [identityOf(one.insight), one]));
  return [...gone].flatMap(([identity, { insight, since: began }]) => {
    if (still.has(identity)) return [];
    const { code, severity } = insight;
    // Others decide how long texts of their objects are; these stay when the objects are gone.
    const [field, message] = [keptText(insight.field, MOST_OF_FIELD), keptText(insight.message, MOST_OF_MESSAGE)];
    return [{ object, code, severity, field, message, since: began, until }];
  });
}

/** Messages name counts and versions: with another one it is the same insight. */
function identityOf({ code, field }: Insight): string {
  return `${code}\n${field}`;
}

const byCluster: Index<EndedInsight> = ({ object }) => [object.clusterName];
/** How many that have ended are kept of one cluster. */
export const MOST_ENDED_OF_CLUSTER = 100;
const MOST_OF_FIELD = 1_024;
const MOST_OF_MESSAGE = 2_048;

function* withEnded(ended: Table<EndedInsight>, more: Iterable<EndedInsight>): CooperativeTask<Table<EndedInsight>> {
  const added: (readonly [string, EndedInsight])[] = [];
  for (const one of more) {
    added.push([endedKeyOf(one), one]);
    yield;
  }
  if (added.length === 0) return ended;
  const all = yield* withEach(ended, added);
  const excess: (readonly [string, undefined])[] = [];
  for (const cluster of new Set(added.map(([, { object }]) => object.clusterName))) {
    const rows = all.where(byCluster, cluster);
    for (const one of rows.slice(0, Math.max(0, rows.length - MOST_ENDED_OF_CLUSTER))) excess.push([endedKeyOf(one), undefined]);
    yield;
  }
  return yield* withEach(all, excess);
}
