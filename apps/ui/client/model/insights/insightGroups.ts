import type { ConsoleInsight } from "@isthmus/console/wire";
import type { Fleet } from "../../data/fleet.ts";
import { t } from "../../strings.ts";
import { formatFilter } from "../lines/tokens.ts";
import { type CodeInsights, clustersOfInsight, NO_COUNTS, objectCount, type SeverityCounts, withInsight } from "./insightIndex.ts";

/** What insights are listed by, beside by their code. */
export const INSIGHT_GROUPINGS = ["severity", "cluster", "namespace"] as const;
export type InsightGrouping = (typeof INSIGHT_GROUPINGS)[number];

/** Insights that have one severity, cluster or namespace. */
export interface InsightGroup {
  /** Which one, in words. */
  readonly name: string;
  /** The cluster; "" for the management cluster; undefined where insights are not listed by cluster. */
  readonly cluster: string | undefined;
  readonly counts: SeverityCounts;
  readonly codes: readonly string[];
  readonly objects: number;
  /** The earliest, in ISO 8601. */
  readonly since: string;
  /** The filter that narrows the list of codes to those of this group. */
  readonly query: string;
}

/** Stands for the namespace of objects that have none: no namespace has this name. */
const NO_NAMESPACE = "–";

const TOKENS = { severity: "severity", cluster: "cluster", namespace: "ns" } as const;

/** Insights by something other than their code: what is about several clusters is in the group of each. Those with more errors, then warnings come first. */
export function insightGroups(byCode: readonly CodeInsights[], by: InsightGrouping, fleet: Fleet): readonly InsightGroup[] {
  const groups = new Map<string, ConsoleInsight[]>();
  for (const { insights } of byCode) {
    for (const insight of insights) {
      for (const key of keysOf(insight, by, fleet)) {
        const group = groups.get(key);
        if (group === undefined) groups.set(key, [insight]);
        else group.push(insight);
      }
    }
  }
  return [...groups]
    .map(([key, insights]): InsightGroup => {
      const name = by === "cluster" ? key || t.common.management : by === "namespace" ? key || NO_NAMESPACE : key;
      return {
        name,
        cluster: by === "cluster" ? key : undefined,
        counts: insights.reduce(withInsight, NO_COUNTS),
        codes: [...new Set(insights.map(({ code }) => code))].sort(),
        objects: objectCount(insights),
        since: insights.reduce((first, { since }) => (since < first ? since : first), insights[0]?.since ?? ""),
        query: formatFilter({ tokens: [{ key: TOKENS[by], values: [name] }], words: [] }),
      };
    })
    .sort((a, b) => order(b.counts, a.counts) || (a.name < b.name ? -1 : 1));
}

function keysOf(insight: ConsoleInsight, by: InsightGrouping, fleet: Fleet): readonly string[] {
  if (by === "cluster") return clustersOfInsight(insight, fleet);
  return [by === "severity" ? insight.severity : insight.object.namespace];
}

function order(a: SeverityCounts, b: SeverityCounts): number {
  return a.error - b.error || a.warning - b.warning || a.info - b.info;
}

/** The namespaces of the objects that insights of a code are about, as filters name them. */
export function namespacesOfCode({ insights }: CodeInsights): readonly string[] {
  return [...new Set(insights.map(({ object }) => object.namespace || NO_NAMESPACE))].sort();
}

/** Each severity that an insight of a code has. */
export function severitiesOfCode({ insights }: CodeInsights): readonly string[] {
  return [...new Set(insights.map(({ severity }) => severity))];
}

/** The clusters of a code, as filters name them: the management cluster too. */
export function clustersOfCode({ clusters, isOfManagement }: CodeInsights): readonly string[] {
  return isOfManagement ? [...clusters, t.common.management] : clusters;
}
