import { type CooperativeTask, emptyTable, runToCompletion, type Table } from "@isthmus/core";
import type { Translation } from "@isthmus/translators";
import { changesSince, type Derived, type EarlierRun, transition, updated } from "@isthmus/translators/incremental";
import type { Insight } from "./insight.ts";
import { withIntendedNames } from "./nearMiss.ts";
import { gathered, REPORTED_ROWS } from "./reported.ts";
import type { InsightRow, InsightTables } from "./rule.ts";
import { RULES } from "./rules.ts";

/** What insights are asked of beside a translation. */
export interface InsightOptions {
  /** Namespace of the management plane. */
  readonly namespace: string;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** Everything that is wrong in a fleet. */
export interface Insights {
  /** By object, then code. Gathered when it is asked for. */
  readonly all: readonly Insight[];
  /** What the next run can reuse. */
  readonly cache: InsightCache;
}

interface InsightCache {
  readonly tables: InsightTables;
  /** In the order of `DERIVATIONS`. */
  readonly rows: readonly Table<InsightRow>[];
}

/**
 * What is wrong in a translated fleet: a pure function of the translation, the namespace and the hour. With `previous` it asks the rules
 * that read what has changed, for the objects that it concerns, and gives what it would give from scratch.
 */
export function insightsOf(translation: Translation, options: InsightOptions, previous?: Insights): Insights {
  return runToCompletion(insightsInSteps(translation, options, previous));
}

/** The same in steps. */
function* insightsInSteps(translation: Translation, options: InsightOptions, previous?: Insights): CooperativeTask<Insights> {
  const now = tablesOf(translation, options, previous?.cache.tables);
  const earlier: EarlierRun<InsightTables> | undefined = previous && {
    before: previous.cache.tables,
    changes: changesSince(previous.cache.tables.inputs, now.inputs),
  };
  const change = transition(now, earlier);
  const rows: Table<InsightRow>[] = [];
  for (const [i, derivation] of DERIVATIONS.entries()) rows.push(yield* updated(previous?.cache.rows[i] ?? NO_ROWS, derivation, change));
  let all: readonly Insight[] | undefined;
  return {
    get all() {
      all ??= withIntendedNames(gathered(rows.flatMap((table) => [...table].flatMap(({ insights }) => insights))), now.inputs);
      return all;
    },
    cache: { tables: now, rows },
  };
}

const DERIVATIONS: readonly Derived<InsightTables, InsightRow>[] = [...RULES.map(({ rows }) => rows), ...REPORTED_ROWS];
const NO_ROWS = emptyTable<InsightRow>(() => "");

const HOUR_MS = 3_600_000;

function tablesOf(translation: Translation, { namespace, now }: InsightOptions, before: InsightTables | undefined): InsightTables {
  const hour = Math.floor(now / HOUR_MS) * HOUR_MS;
  const context = before?.context.namespace === namespace ? before.context : { namespace };
  const isSameHour = before?.timed.namespace === namespace && before.timed.hour === hour;
  return { inputs: translation.attached, translation, context, timed: isSameHour ? before.timed : { namespace, hour } };
}
