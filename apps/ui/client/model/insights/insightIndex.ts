import type { ConsoleEndedInsight, ConsoleInsight } from "@isthmus/console/wire";
import { keyOf, kindKeyOf } from "@isthmus/core";
import type { Fleet } from "../../data/fleet.ts";
import { clusterOf } from "../clusters/clusterOf.ts";
import { remembering } from "../memo.ts";
import { isInScope, NO_SCOPE, type Scope } from "../scope.ts";

/** How many insights there are that are not suppressed, by how much they weigh. */
export interface SeverityCounts {
  readonly error: number;
  readonly warning: number;
  readonly info: number;
}

export const NO_COUNTS: SeverityCounts = { error: 0, warning: 0, info: 0 };

/** Insights about an object (by `resourceKeyOf`) by severity, those that are suppressed left out. */
export function insightCountsAbout({ insights }: Pick<Fleet, "insights">, key: string): SeverityCounts {
  const found = insights.row(key)?.insights ?? [];
  if (found.length === 0) return NO_COUNTS;
  const count = (severity: string) => found.filter((insight) => insight.suppressed === undefined && insight.severity === severity).length;
  return { error: count("error"), warning: count("warning"), info: count("info") };
}

/** All insights of one code. */
export interface CodeInsights {
  readonly code: string;
  readonly severity: ConsoleInsight["severity"];
  readonly insights: readonly ConsoleInsight[];
  readonly objects: number;
  readonly clusters: readonly string[];
  /** Whether one is about the management cluster, which is none of `clusters`. */
  readonly isOfManagement: boolean;
  /** The earliest, in ISO 8601. */
  readonly since: string;
}

/** What the pages ask of insights. */
export interface InsightIndex {
  /** Those that count: errors first, then those of which there are more, then by code. */
  readonly byCode: readonly CodeInsights[];
  readonly suppressed: readonly CodeInsights[];
  readonly counts: SeverityCounts;
  /** By the cluster that each is about; "" is the management cluster. */
  readonly byCluster: ReadonlyMap<string, SeverityCounts>;
}

const WEIGHTS = { error: 0, warning: 1, info: 2 } as const;

let current: Fleet | undefined;

/** Insights by code and by cluster, those of all clusters or of a scope; computed again only when they changed. */
export function insightIndexOf(fleet: Fleet, scope: Scope = NO_SCOPE): InsightIndex {
  current = fleet;
  if (scope.size === 0) return indexOf(fleet.insights);
  if (scoped.scope !== scope) scoped = { scope, indexOf: remembering((insights) => computed(insights, scope)) };
  return scoped.indexOf(fleet.insights);
}

const indexOf = remembering((insights: Fleet["insights"]) => computed(insights, NO_SCOPE));
let scoped: { readonly scope: Scope; readonly indexOf: typeof indexOf } = { scope: NO_SCOPE, indexOf };

function computed(insights: Fleet["insights"], scope: Scope): InsightIndex {
  const [active, suppressed] = [new Map<string, ConsoleInsight[]>(), new Map<string, ConsoleInsight[]>()];
  const byCluster = new Map<string, SeverityCounts>();
  let counts = NO_COUNTS;
  for (const { insights: found } of insights) {
    for (const insight of found) {
      const clusters = clustersOfInsight(insight, current);
      if (!isInScope(scope, clusters)) continue;
      const groups = insight.suppressed === undefined ? active : suppressed;
      const group = groups.get(insight.code);
      if (group === undefined) groups.set(insight.code, [insight]);
      else group.push(insight);
      if (insight.suppressed !== undefined) continue;
      counts = withInsight(counts, insight);
      for (const cluster of clusters) byCluster.set(cluster, withInsight(byCluster.get(cluster) ?? NO_COUNTS, insight));
    }
  }
  return { byCode: grouped(active), suppressed: grouped(suppressed), counts, byCluster };
}

/** The clusters that an insight is about. */
export function clustersOfInsight(insight: ConsoleInsight | ConsoleEndedInsight, fleet: Fleet | undefined): readonly string[] {
  const { targets = [], cluster = "" }: Partial<Pick<ConsoleInsight, "targets" | "cluster">> = "remedy" in insight ? insight : {};
  const names = new Set(
    [insight.object, ...targets].map((ref) => {
      const object = fleet?.snapshot.collections().get(kindKeyOf(ref))?.row(keyOf(ref));
      return object === undefined ? ref.clusterName : clusterOf(object);
    }),
  );
  if (cluster !== "") names.add(cluster);
  if (names.size > 1) names.delete("");
  return [...names];
}

/** The insights about a cluster and all that is in it, those that are suppressed among them: what totals by cluster count. */
export function insightsOfCluster(fleet: Fleet, cluster: string): readonly ConsoleInsight[] {
  return [...fleet.insights].flatMap(({ insights }) => insights.filter((insight) => clustersOfInsight(insight, fleet).includes(cluster)));
}

/** How many objects insights are about. */
export function objectCount(insights: readonly ConsoleInsight[]): number {
  return new Set(insights.map(({ object }) => [object.kind, object.name, object.namespace, object.clusterName].join("\n"))).size;
}

/** Counts with one insight more. */
export function withInsight(counts: SeverityCounts, { severity }: ConsoleInsight): SeverityCounts {
  return { ...counts, [severity]: counts[severity] + 1 };
}

function grouped(groups: ReadonlyMap<string, readonly ConsoleInsight[]>): readonly CodeInsights[] {
  return [...groups]
    .map(([code, insights]) => {
      const clusters = new Set(insights.flatMap((insight) => clustersOfInsight(insight, current)));
      const severities = insights.map(({ severity }) => severity).sort((a, b) => WEIGHTS[a] - WEIGHTS[b]);
      return {
        code,
        insights,
        severity: severities[0] ?? "info",
        objects: objectCount(insights),
        clusters: [...clusters].filter((name) => name !== "").sort(),
        isOfManagement: clusters.has(""),
        since: insights.reduce((first, { since }) => (since < first ? since : first), insights[0]?.since ?? ""),
      };
    })
    .sort((a, b) => WEIGHTS[a.severity] - WEIGHTS[b.severity] || reach(b) - reach(a) || (a.code < b.code ? -1 : 1));
}

/** On how many objects and targets something bears. */
function reach({ insights }: Pick<CodeInsights, "insights">): number {
  return insights.reduce((sum, { targets }) => sum + Math.max(1, targets?.length ?? 0), 0);
}

/** What is wrong, as a sentence: a message begins with neither its object nor its field, and of many the field is the subject. */
export function findingText({ field, message }: { readonly field: string; readonly message: string }): string {
  if (field === "") return message;
  return `${field}${BEGINS_WITH_VERB.test(message) ? "" : ":"} ${message}`;
}

const BEGINS_WITH_VERB = /^(?:is|are|has|have|does|do|names|selects|federates|matches|sets|ends|allows|denies) /;
