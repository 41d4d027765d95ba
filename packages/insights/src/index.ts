export type { CodeCount } from "./counts.ts";
export { type InsightOptions, type Insights, insightsInSteps, insightsOf, objectChanges } from "./engine.ts";
export {
  type DatedInsight,
  type DatedObject,
  type EndedInsight,
  endedKey,
  endedNameOf,
  historyAfter,
  type InsightHistory,
  MOST_ENDED_OF_CLUSTER,
  NO_HISTORY,
  withLastKnown,
} from "./history.ts";
export type { Insight, InsightCode, InsightSeverity } from "./insight.ts";
export { isStatusRead } from "./managementStatuses.ts";
export { intendedNames } from "./nearMiss.ts";
export { insightsOfRead, insightsOfRules, isAskedOf, type ReadObjects } from "./ofRead.ts";
export type { RuleFinding } from "./rule.ts";
export { RULES } from "./rules.ts";
export { type ObjectInsights, SUPPRESS_ANNOTATION, type SuppressedInsight, type Suppression } from "./suppression.ts";
