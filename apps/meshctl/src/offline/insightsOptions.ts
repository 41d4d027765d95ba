import type { InsightSeverity } from "@isthmus/insights";
import type { FindingFormat } from "./findingFormats.ts";

/** What `meshctl insights` was asked for. */
export interface InsightsOptions {
  readonly file: readonly string[];
  readonly output: "text" | FindingFormat;
  readonly failOn: InsightSeverity;
  readonly namespace: string;
  readonly agentCluster?: string;
}
