export { type InsightOptions, type Insights, insightsOf } from "./engine.ts";
export type { Insight, InsightCode, InsightSeverity } from "./insight.ts";
export { REPORTED_CODES } from "./reportedCodes.ts";
export { RULES } from "./rules.ts";
export { type EvaluatedInsights, SUPPRESS_ANNOTATION, suppressionApplied } from "./suppression.ts";
