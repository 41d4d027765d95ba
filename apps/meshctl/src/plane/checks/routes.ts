import { CATEGORIES, type Check } from "./check.ts";
import { INSIGHT_GROUPS } from "./insightGroups.ts";
import { insightCheck } from "./readInsights.ts";

const category = CATEGORIES.configuration;

/** Where traffic goes. */
export const trafficHasDestinations: Check = insightCheck({
  category,
  description: "No TrafficPolicy sends most of its traffic to clusters that are not connected",
  reads: ["trafficPolicies", "clusters"],
  codes: INSIGHT_GROUPS.traffic,
});

/** Faults are for tests. */
export const faultsAreShort: Check = insightCheck({
  category,
  description: "No TrafficPolicy that injects faults is older than a day",
  reads: ["trafficPolicies"],
  codes: INSIGHT_GROUPS.faults,
});
