import { cors, corsCheck } from "./cors.ts";
import { faultInjection, faultInjectionCheck } from "./faultInjection.ts";
import { headerManipulation, headerManipulationCheck } from "./headerManipulation.ts";
import { mirror, mirrorCheck } from "./mirror.ts";
import { retries, retriesCheck } from "./retries.ts";
import type { CheckedRoutePolicy } from "./routePolicy.ts";
import { timeout, timeoutCheck } from "./timeout.ts";
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
