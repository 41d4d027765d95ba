import {
  type CooperativeTask,
  type EntryChange,
  emptyTable,
  equalJson,
  type Index,
  runToCompletion,
  type Snapshot,
  type Table,
} from "@isthmus/core";
import type { Translation } from "@isthmus/translators";
import { changesSince, type Derived, type EarlierRun, transition, updated } from "@isthmus/translators/incremental";
import { type Found, insightsByObject } from "./byObject.ts";
import { type CodeCount, countsAfter } from "./counts.ts";
import type { Insight } from "./insight.ts";
import { withManagementStatuses } from "./managementStatuses.ts";
import { intendedNames } from "./nearMiss.ts";
import { REPORTED_ROWS } from "./reported.ts";
import type { InsightRow, InsightTables } from "./rule.ts";
import { RULES } from "./rules.ts";
import { type FleetSuppressions, fleetSuppressions, type ObjectInsights } from "./suppression.ts";

/** What insights are asked of beside a translation. */
export interface InsightOptions {
  /** Namespace of the management plane. */
  readonly namespace: string;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** The management cluster as it is: with the statuses that translation does not read. Default: those of the translation. */
  readonly management?: Snapshot;
}

/** Everything that is wrong in a fleet. */
export interface Insights {
  /** By `resourceKeyOf`, those of which something is said. Near misses are left out that only a look at the whole fleet gives. */
  readonly byObject: Table<ObjectInsights>;
  /** By code and severity. */
  readonly counts: readonly CodeCount[];
  /** Suppressed or not, by object, then code; with near misses. Gathered when it is asked for. */
  readonly all: readonly Insight[];
  /** Of objects on which a rule throws, by rule and object: nothing is found of them by this rule. */
  readonly errors: ReadonlyMap<string, unknown>;
  /** What the next run can reuse. */
  readonly cache: InsightCache;
}

interface InsightCache {
  readonly tables: InsightTables;
  /** In the order of `RULES`, then of `REPORTED_ROWS`. */
  readonly rows: readonly Table<InsightRow>[];
  readonly found: Found;
}

/**
 * What is wrong in a translated fleet: a pure function of the translation, the namespace and the hour. With `previous` it asks the rules
 * that read what has changed, for the objects that it concerns, and gives what it would give from scratch.
 */
export function insightsOf(translation: Translation, options: InsightOptions, previous?: Insights): Insights {
  return runToCompletion(insightsInSteps(translation, options, previous));
}

/** The same in steps, for those who must not hold others up. */
export function* insightsInSteps(translation: Translation, options: InsightOptions, previous?: Insights): CooperativeTask<Insights> {
  const now = tablesOf(translation, options, previous?.cache.tables);
  const earlier: EarlierRun<InsightTables> | undefined = previous && {
    before: previous.cache.tables,
    changes: changesSince(previous.cache.tables.inputs, now.inputs),
  };
  const change = transition(now, earlier);
  const rows: Table<InsightRow>[] = [];
  for (const [i, derivation] of DERIVATIONS.entries()) rows.push(yield* updated(previous?.cache.rows[i] ?? NO_ROWS, derivation, change));
  const found: Found = {
    byRule: RULES.map((rule, i) => [rule, rows[i] ?? NO_ROWS]),
    reported: rows.slice(RULES.length),
    inputs: now.inputs,
    fleet: fleetOf(now, options, previous?.cache.found.fleet),
  };
  const byObject = yield* insightsByObject(
    found,
    previous && earlier && { found: previous.cache.found, table: previous.byObject, changes: earlier.changes },
  );
  let all: readonly Insight[] | undefined;
  return {
    byObject,
    counts: yield* countsAfter(previous?.counts ?? [], objectChanges(byObject, previous?.byObject)),
    get all() {
      all ??= [...byObject].flatMap((object) => object.all).map(intendedNames(now.inputs));
      return all;
    },
    errors: new Map(
      found.byRule.flatMap(([{ code }, table]) => table.where(withError, "").map(({ key, error }) => [`${code} ${key}`, error])),
    ),
    cache: { tables: now, rows, found },
  };
}

/** Rows on which a rule threw, under "". */
const withError: Index<InsightRow> = ({ error }) => (error === undefined ? [] : [""]);

const DERIVATIONS: readonly Derived<InsightTables, InsightRow>[] = [...RULES.map(({ rows }) => rows), ...REPORTED_ROWS];
const NO_ROWS = emptyTable<InsightRow>(({ key }) => key);

/** Objects of which something else is said than before; without a before, all, and not all at once. */
export function objectChanges(
  now: Table<ObjectInsights>,
  before: Table<ObjectInsights> | undefined,
): Iterable<EntryChange<ObjectInsights>> {
  return before === undefined ? added(now) : now.changesSince(before);
}

function* added(table: Table<ObjectInsights>): Iterable<EntryChange<ObjectInsights>> {
  for (const [key, after] of table.entries()) yield { key, before: undefined, after };
}

const HOUR_MS = 3_600_000;

function tablesOf(
  translation: Translation,
  { namespace, now, management }: InsightOptions,
  before: InsightTables | undefined,
): InsightTables {
  const { attached } = translation;
  const inputs = management === undefined ? attached : withManagementStatuses(attached, management);
  const hour = Math.floor(now / HOUR_MS) * HOUR_MS;
  const context = before?.context.namespace === namespace ? before.context : { namespace };
  const isSameHour = before?.timed.namespace === namespace && before.timed.hour === hour;
  return { inputs, translation, context, timed: isSameHour ? before.timed : { namespace, hour } };
}

/** Days begin with an hour: what ends with a day is looked at once in it. */
function fleetOf({ inputs }: InsightTables, { namespace, now }: InsightOptions, before: FleetSuppressions | undefined): FleetSuppressions {
  const fleet = { entries: fleetSuppressions(inputs, namespace), now: Math.floor(now / DAY_MS) * DAY_MS };
  return before !== undefined && equalJson(before, fleet) ? before : fleet;
}

const DAY_MS = 24 * HOUR_MS;
