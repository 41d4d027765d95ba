import { connectionPool, connectionPoolCheck } from "./connectionPool.ts";
import type { CheckedConnectionRule } from "./connectionRule.ts";
import { outlierDetection, outlierDetectionCheck } from "./outlierDetection.ts";
import { tls } from "./tls.ts";

/** Every connection rule. They set different fields, so their order decides only in which order findings are told. */
export const connectionRules: readonly CheckedConnectionRule[] = [
  { rule: outlierDetection, check: outlierDetectionCheck },
  { rule: connectionPool, check: connectionPoolCheck },
  { rule: tls },
];
