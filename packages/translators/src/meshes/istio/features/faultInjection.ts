import { nanosecondsOf, type TrafficPolicyRules } from "@isthmus/api";
import { type Finding, invalidFinding } from "../../../findings.ts";
import { durationFindings, istioDuration } from "../durations.ts";
import { shareFindings, shareOf } from "../percentage.ts";
import { defineFeature, type RouteFields } from "./feature.ts";

const PATH = "spec.policy.faultInjection";

/** That requests meet no fault, whatever a wider policy says: Istio refuses a delay of nothing. */
export const NO_FAULT: NonNullable<RouteFields["fault"]> = {};

/** Delays requests, or answers them with a status. */
export const faultInjection = defineFeature({
  field: "faultInjection",
  writes: "route",
  sets: { fault: PATH },
  fieldsOf: (wanted) => {
    const percentage = shareOf(wanted.percentage);
    if (wanted.abort !== undefined) return { fault: { abort: { httpStatus: wanted.abort.httpStatus ?? 0, percentage } } };
    const fixedDelay = istioDuration(wanted.fixedDelay);
    return { fault: fixedDelay === undefined ? NO_FAULT : { delay: { fixedDelay, percentage } } };
  },
  check: (wanted) => [...typeFindings(wanted), ...shareFindings(`${PATH}.percentage`, wanted.percentage)],
});

function typeFindings(fault: NonNullable<TrafficPolicyRules["faultInjection"]>): readonly Finding[] {
  if (fault.abort !== undefined) return statusFindings(fault.abort.httpStatus);
  if (fault.fixedDelay !== undefined && nanosecondsOf(fault.fixedDelay) === 0) return [];
  if (fault.fixedDelay !== undefined) return durationFindings(`${PATH}.fixedDelay`, fault.fixedDelay);
  return [invalidFinding("FaultTypeMissing", `${PATH}: has no fault: set fixedDelay or abort`)];
}

/** Source: istio.io/istio pkg/config/validation, validateHTTPStatus. */
function statusFindings(httpStatus = 0): readonly Finding[] {
  if (httpStatus >= 200 && httpStatus <= 600) return [];
  return [invalidFinding("HttpStatusOutOfRange", `${PATH}.abort.httpStatus: ${httpStatus} is not an HTTP status between 200 and 599`)];
}
