import { connectionPool, connectionPoolCheck } from "./connectionPoolSettings.ts";
import { cors, corsCheck } from "./corsPolicy.ts";
import { faultInjection, faultInjectionCheck } from "./faultInjection.ts";
import type { CheckedConnectionRule, CheckedRoutePolicy } from "./feature.ts";
import { headerManipulation, headerManipulationCheck } from "./headerManipulation.ts";
import { mirror, mirrorCheck } from "./mirror.ts";
import { tls } from "./mtls.ts";
import { outlierDetection, outlierDetectionCheck } from "./outlierDetection.ts";
import { timeout, timeoutCheck } from "./requestTimeout.ts";
import { retries, retriesCheck } from "./retries.ts";
import { trafficShift, trafficShiftCheck } from "./trafficShift.ts";

/** Every route policy. They set different fields, so their order decides only in which order findings are told: as the API lists them. */
export const routePolicies: readonly CheckedRoutePolicy[] = [
  { policy: trafficShift, check: trafficShiftCheck, dependsOnSource: true },
  { policy: faultInjection, check: faultInjectionCheck },
  { policy: timeout, check: timeoutCheck },
  { policy: retries, check: retriesCheck },
  { policy: cors, check: corsCheck },
  { policy: mirror, check: mirrorCheck, dependsOnSource: true },
  { policy: headerManipulation, check: headerManipulationCheck },
];

/** Every connection rule. They set different fields, so their order decides only in which order findings are told. */
export const connectionRules: readonly CheckedConnectionRule[] = [
  { rule: outlierDetection, check: outlierDetectionCheck },
  { rule: connectionPool, check: connectionPoolCheck },
  { rule: tls },
];
