import {
  type Collection,
  type CooperativeTask,
  emptyTable,
  type Index,
  keyOf,
  kindKeyOf,
  type Resource,
  type ResourceRef,
  resourceKeyOf,
  type Snapshot,
  type Table,
  withEach,
} from "@isthmus/core";
import { type Changes, reuseIfEqual } from "@isthmus/translators/incremental";
import type { Insight } from "./insight.ts";
import { gathered } from "./reported.ts";
import type { InsightRow, Rule } from "./rule.ts";
import { evaluated, type FleetSuppressions, type ObjectInsights, SUPPRESS_ANNOTATION } from "./suppression.ts";

/** What rules and translation have found, in which snapshot, and what of it is not to be shown. */
export interface Found {
  /** A table for each rule. */
  readonly byRule: readonly (readonly [Pick<Rule, "code" | "of">, Table<InsightRow>])[];
  readonly reported: readonly Table<InsightRow>[];
  readonly inputs: Snapshot;
  readonly fleet: FleetSuppressions;
}

/** The run before, and what became of it. */
interface EarlierFound {
  readonly found: Found;
  readonly table: Table<ObjectInsights>;
  readonly changes: Pick<Changes, "between">;
}

/** What is found of each object of which something is, by `resourceKeyOf`. With `earlier`, only objects that something new was found of are asked for. */
export function* insightsByObject(now: Found, earlier?: EarlierFound): CooperativeTask<Table<ObjectInsights>> {
  if (earlier === undefined || earlier.found.fleet !== now.fleet) return yield* allObjects(now, earlier?.table ?? NO_OBJECTS);
  const affected = new Map<string, ResourceRef>();
  const pairs = [
    ...now.byRule.map(([, table], i) => [table, earlier.found.byRule[i]?.[1] ?? NO_ROWS] as const),
    ...now.reported.map((table, i) => [table, earlier.found.reported[i] ?? NO_ROWS] as const),
  ];
  for (const [after, before] of pairs) {
    if (after === before) continue;
    for (const change of earlier.changes.between(after, before)) {
      for (const row of [change.before, change.after])
        for (const { object } of row?.insights ?? []) affected.set(resourceKeyOf(object), object);
      yield;
    }
  }
  for (const ref of yield* annotatedAnew(now, earlier)) affected.set(resourceKeyOf(ref), ref);
  if (affected.size === 0) return earlier.table;
  for (const table of now.reported) yield* table.indexed(bySubject);
  const changed: (readonly [string, ObjectInsights | undefined])[] = [];
  for (const [key, ref] of affected) {
    const after = objectInsights(insightsAbout(key, ref, now), ref, now);
    changed.push([key, after && reuseIfEqual(after, earlier.table.row(key))]);
    yield;
  }
  return yield* withEach(earlier.table, changed);
}

const NO_ROWS = emptyTable<InsightRow>(({ key }) => key);
const NO_OBJECTS = emptyTable<ObjectInsights>(({ object }) => resourceKeyOf(object));
const bySubject: Index<InsightRow> = ({ insights }) => insights.map(({ object }) => resourceKeyOf(object));

function insightsAbout(key: string, ref: ResourceRef, { byRule, reported }: Found): readonly Insight[] {
  const [kindKey, name] = [kindKeyOf(ref), keyOf(ref)];
  const rows = [
    ...byRule.flatMap(([{ of }, table]) => (kindKeyOf(of) === kindKey ? (table.row(name) ?? []) : [])),
    ...reported.flatMap((table) => table.where(bySubject, key)),
  ];
  return rows.flatMap(({ insights }) => insights.filter(({ object }) => resourceKeyOf(object) === key));
}

function* allObjects(
  { byRule, reported, ...found }: Omit<Found, never>,
  before: Table<ObjectInsights>,
): CooperativeTask<Table<ObjectInsights>> {
  const byKey = new Map<string, Insight[]>();
  for (const table of [...byRule.map(([, rows]) => rows), ...reported]) {
    for (const { insights } of table) {
      for (const insight of insights) {
        const key = resourceKeyOf(insight.object);
        const list = byKey.get(key);
        if (list === undefined) byKey.set(key, [insight]);
        else list.push(insight);
      }
      yield;
    }
  }
  const rows: (readonly [string, ObjectInsights | undefined])[] = [];
  for (const [key] of before.entries()) if (!byKey.has(key)) rows.push([key, undefined]);
  for (const [key, insights] of byKey) {
    const [{ object }] = insights as [Insight];
    const after = objectInsights(insights, object, found);
    rows.push([key, after && reuseIfEqual(after, before.row(key))]);
    yield;
  }
  return yield* withEach(before, rows);
}

function objectInsights(
  insights: readonly Insight[],
  ref: ResourceRef,
  { inputs, fleet }: Pick<Found, "inputs" | "fleet">,
): ObjectInsights | undefined {
  if (insights.length === 0) return undefined;
  return evaluated(gathered(insights), { ref, object: inputs.collections().get(kindKeyOf(ref))?.get(ref), fleet });
}

/** Objects of which something is found, and that are annotated otherwise than before. */
function* annotatedAnew(now: Found, { found: before, table, changes }: EarlierFound): CooperativeTask<readonly ResourceRef[]> {
  const refs: ResourceRef[] = [];
  const [newer, older] = [now.inputs.collections(), before.inputs.collections()];
  for (const kindKey of new Set([...newer.keys(), ...older.keys()])) {
    const [after, earlier] = [newer.get(kindKey), older.get(kindKey)];
    // Without an object there is no annotation, and no rule finds anything of it.
    if (after === undefined || earlier === undefined || after === earlier) continue;
    for (const change of changes.between<Resource>(after, earlier as Collection<Resource>)) {
      if (textOf(change.before) === textOf(change.after)) continue;
      const known = table.row(`${kindKey}|${change.key}`);
      if (known !== undefined) refs.push(known.object);
    }
    yield;
  }
  return refs;
}

function textOf(resource: Resource | undefined): string {
  return resource?.metadata.annotations?.[SUPPRESS_ANNOTATION] ?? "";
}
