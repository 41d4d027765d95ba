import type { InsightSeverity } from "@isthmus/insights";
import type { FindingFormat } from "./formatNames.ts";
import type { LineSuppression } from "./suppressions.ts";

/** How insights are printed, wherever they come from. */
export interface InsightsPrinting {
  /** `table`: one row each, without remedies. */
  readonly output: "text" | "table" | FindingFormat;
  readonly failOn: InsightSeverity;
  /** Suppressed ones are printed as well. */
  readonly suppressed?: true;
  /** Which are suppressed beside those that objects and the Settings suppress. */
  readonly suppress?: readonly LineSuppression[];
}

/** What `meshctl insights` was asked for, of files. */
export interface InsightsOptions extends InsightsPrinting {
  readonly file?: readonly string[];
  /** Files with the page /snapshots/input of a server. */
  readonly snapshot?: readonly string[];
  readonly namespace: string;
  readonly agentCluster?: string;
}
