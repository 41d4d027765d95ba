import type { Severity } from "./findings.ts";
import type { FindingFormat } from "./formatNames.ts";
import type { LineSuppression } from "./suppressions.ts";

/** What `meshctl validate` was asked for. */
export interface ValidateOptions {
  readonly file: readonly string[];
  readonly output: "text" | FindingFormat;
  readonly failOn: Severity;
  readonly namespace: string;
  readonly agentCluster?: string;
  readonly disallowIntersectingConfig?: true;
  /** Insights as well. */
  readonly insights?: true;
  readonly suppress?: readonly LineSuppression[];
}
