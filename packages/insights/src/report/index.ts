export { type FindingSeverity, plainFinding, plainSuppressed, type ReportedFinding, type SuppressedFinding } from "./finding.ts";
export {
  findingOf,
  insightSentence,
  insightsJson,
  insightsSarif,
  type PrintedInsight,
  type PrintedInsights,
  type PrintedSuppressed,
  withPasteable,
} from "./insightReport.ts";
export { type CodeTexts, sarif } from "./sarif.ts";
