import type { FindingSeverity } from "@isthmus/insights/report";
import type { FindingFormat } from "./formatNames.ts";
import type { LineSuppression } from "./suppressions.ts";

/** What `meshctl validate` was asked for. */
export interface ValidateOptions {
  readonly file?: readonly string[];
  readonly snapshot?: readonly string[];
  readonly output: "text" | FindingFormat;
  readonly failOn: FindingSeverity;
  /** Whether a field or mode that is not known makes the run fail, whatever its severity. */
  readonly strict: "true" | "false";
  readonly namespace: string;
  readonly agentCluster?: string;
  readonly disallowIntersectingConfig?: true;
  /** Insights as well. */
  readonly insights?: true;
  readonly suppress?: readonly LineSuppression[];
}
