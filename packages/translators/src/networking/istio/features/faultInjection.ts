import type { TrafficPolicyRules } from "@isthmus/api";
import { type Finding, invalid } from "../../../findings.ts";
import { durationFindings, istioDuration } from "../durations.ts";
import { shareFindings, shareOf } from "../percentage.ts";
import type { RouteCheck, RoutePolicy } from "./feature.ts";

const PATH = "spec.policy.faultInjection";

/** `faultInjection`: delays requests, or answers them with a status. */
export const faultInjection: RoutePolicy = ({ faultInjection: fault }) => {
  if (fault === undefined) return {};
  const percentage = shareOf(fault.percentage);
  if (fault.abort !== undefined) return { fault: { abort: { httpStatus: fault.abort.httpStatus ?? 0, percentage } } };
  const fixedDelay = istioDuration(fault.fixedDelay);
  return fixedDelay === undefined ? {} : { fault: { delay: { fixedDelay, percentage } } };
};

export const faultInjectionCheck: RouteCheck = ({ faultInjection: fault }) => {
  if (fault === undefined) return [];
  return [...typeFindings(fault), ...shareFindings(`${PATH}.percentage`, fault.percentage)];
};

function typeFindings(fault: NonNullable<TrafficPolicyRules["faultInjection"]>): readonly Finding[] {
  if (fault.abort !== undefined) return statusFindings(fault.abort.httpStatus);
  if (fault.fixedDelay !== undefined) return durationFindings(`${PATH}.fixedDelay`, fault.fixedDelay);
  return [invalid("FaultTypeMissing", `${PATH}: names no fault: set fixedDelay or abort`)];
}

/** Source: istio.io/istio pkg/config/validation, validateHTTPStatus. */
function statusFindings(httpStatus = 0): readonly Finding[] {
  if (httpStatus >= 200 && httpStatus <= 600) return [];
  return [invalid("HttpStatusOutOfRange", `${PATH}.abort.httpStatus: ${httpStatus} is not a status between 200 and 599`)];
}
