import { formatRef, type Resource, snapshotOf } from "@isthmus/core";
import { type Insight, insightsOf } from "@isthmus/insights";
import { soundTranslation } from "@isthmus/testing";
import type { TranslateOptions } from "@isthmus/translators";

/** The time of every fleet. */
const NOW = Date.parse("2026-02-01T00:30:00Z");

/** A fleet, and how it is translated. */
export interface Fleet {
  readonly resources: readonly Resource[];
  readonly options?: Partial<TranslateOptions>;
}

/** An insight, and whether it is translation that says so, and not a rule of insights. */
export interface FoundInsight {
  readonly insight: Insight;
  readonly isReported: boolean;
}

/** Everything that is found in a fleet, from scratch. */
export function foundIn({ resources, options = {} }: Fleet): readonly FoundInsight[] {
  const translated: TranslateOptions = { namespace: "gloo-mesh", stage: "all", ages: "CREATED", ...options };
  const { all, cache } = insightsOf(soundTranslation(snapshotOf(resources), translated), { namespace: translated.namespace, now: NOW });
  const byRules = new Set(cache.found.byRule.flatMap(([, rows]) => [...rows].flatMap(({ insights }) => insights.map(identityOf))));
  return all.map((insight) => ({ insight, isReported: !byRules.has(identityOf(insight)) }));
}

function identityOf({ code, object, field, message }: Insight): string {
  return [code, formatRef(object), field, message].join("\n");
}

/** As a test shows it. */
export function shown({ code, object, field, message }: Insight): string {
  return `${code} ${formatRef(object)}${field === "" ? "" : `, ${field}`}: ${message}`;
}
