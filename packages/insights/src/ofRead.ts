import { hasUserStatus, kindOf } from "@isthmus/api";
import { emptyTable, type Kind, kindKeyOf, type Resource, runToCompletion, type Snapshot, type Table } from "@isthmus/core";
import type { Translation } from "@isthmus/translators";
import { transition, updated } from "@isthmus/translators/incremental";
import { type Found, insightsByObject } from "./byObject.ts";
import type { Insight } from "./insight.ts";
import { intendedNames } from "./nearMiss.ts";
import { REPORTED_ROWS } from "./reported.ts";
import type { InsightRow, InsightTables, Rule } from "./rule.ts";
import { RULES } from "./rules.ts";
import { fleetSuppressions, type ObjectInsights } from "./suppression.ts";

/** What somebody has read of the management cluster by themselves. */
export interface ReadObjects {
  /** With the statuses that the server wrote. */
  readonly objects: Snapshot;
  /** The kinds of which every object was read. */
  readonly kinds: readonly Kind[];
  /** Namespace of the management plane. */
  readonly namespace: string;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** Whether a rule can be asked by those who have read these kinds and no others. */
export function isAskedOf(kinds: readonly Kind[]): (rule: Pick<Rule, "needs">) => boolean {
  const known = new Set(kinds.map((kind) => kindKeyOf(kind)));
  return ({ needs }) => needs.every((kind) => known.has(kindKeyOf(kind)));
}

/**
 * The insights that the server has of these objects, as far as they follow from what was read: a rule that needs other kinds is not asked. What translation reports
 * counts where the status of the object says it, as the server knows more than was read; of objects without such a status it counts always.
 *
 * @param translation of the same objects, which gives the codes of what statuses say
 */
export function insightsOfRead(translation: Translation, { objects, kinds, namespace, now }: ReadObjects): readonly ObjectInsights[] {
  const tables: InsightTables = { inputs: objects, translation, context: { namespace }, timed: { namespace, hour: now } };
  const change = transition(tables, undefined);
  const rowsOf = (derivation: (typeof REPORTED_ROWS)[number]): Table<InsightRow> => runToCompletion(updated(NO_ROWS, derivation, change));
  const rest = { inputs: objects, fleet: { entries: fleetSuppressions(objects, namespace), now } };
  const isAsked = isAskedOf(kinds);
  const ofRules: Found = { ...rest, byRule: RULES.filter(isAsked).map((rule) => [rule, rowsOf(rule.rows)]), reported: [] };
  const reported: Found = { ...rest, byRule: [], reported: REPORTED_ROWS.map(rowsOf).map((rows) => saidByStatuses(rows, objects)) };
  const withNames = intendedNames(objects);
  return [ofRules, reported]
    .flatMap((found) => [...runToCompletion(insightsByObject(found))])
    .map((object) => ({ ...object, shown: object.shown.map(withNames) }));
}

/** What the rules of these codes find in the inputs of a translation, suppressed or not; near misses are left out. They must not read the time. */
export function insightsOfRules(translation: Translation, codes: ReadonlySet<string>, namespace: string): readonly Insight[] {
  const tables: InsightTables = {
    inputs: translation.attached,
    translation,
    context: { namespace },
    timed: { namespace, hour: Number.NaN },
  };
  const change = transition(tables, undefined);
  return RULES.filter(({ code }) => codes.has(code)).flatMap(({ rows }) =>
    [...runToCompletion(updated(NO_ROWS, rows, change))].flatMap(({ insights }) => insights),
  );
}

const NO_ROWS = emptyTable<InsightRow>(({ key }) => key);

/** Rows without the insights that no status says. */
function saidByStatuses(rows: Table<InsightRow>, objects: Snapshot): Table<InsightRow> {
  // A status has up to 1,000 targets, and as many reports may be about its object.
  const known = new Map<Resource, ReadonlySet<string>>();
  const textsOf = (object: Resource): ReadonlySet<string> => {
    const texts = known.get(object) ?? new Set(textsIn((object as { readonly status?: unknown }).status, MOST_LEVELS));
    known.set(object, texts);
    return texts;
  };
  const isSaid = ({ object: ref, field, message }: Insight): boolean => {
    const kind = kindOf(ref.apiVersion, ref.kind);
    if (kind === undefined || !hasUserStatus(kind)) return true;
    const object = objects.collections().get(kindKeyOf(ref))?.get(ref);
    return object !== undefined && textsOf(object).has(field === "" ? message : `${field}: ${message}`);
  };
  return rows.with([...rows.entries()].map(([key, row]) => [key, { ...row, insights: row.insights.filter(isSaid) }]));
}

// status.destinations.NAME.errors[0], and one more.
const MOST_LEVELS = 5;

function* textsIn(value: unknown, levels: number): Iterable<string> {
  if (typeof value === "string") yield value;
  else if (typeof value === "object" && value !== null && levels > 0)
    for (const member of Object.values(value)) yield* textsIn(member, levels - 1);
}
