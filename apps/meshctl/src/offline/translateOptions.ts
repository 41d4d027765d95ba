import type { FindingSeverity } from "@isthmus/insights/report";

/** What `meshctl translate` was asked for. */
export interface TranslateCommandOptions {
  /** Files, folders, or `-` for standard input. */
  readonly file?: readonly string[];
  /** Files with what a server knows. */
  readonly snapshot?: readonly string[];
  readonly stage: "discovery" | "networking" | "all";
  readonly status?: true;
  readonly output: "yaml" | "json";
  readonly namespace: string;
  readonly agentCluster?: string;
  readonly disallowIntersectingConfig?: true;
  readonly failOn: FindingSeverity;
  /** Only what this cluster gets. */
  readonly cluster?: string;
  /** A folder for one file per cluster, instead of standard output. */
  readonly outDir?: string;
}
