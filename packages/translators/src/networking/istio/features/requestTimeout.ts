import { durationFindings, istioDuration } from "../durations.ts";
import type { RouteCheck, RoutePolicy } from "./feature.ts";

/** `requestTimeout`: the time within which a request must be answered. 0 is no limit, which is what holds anyway. */
export const timeout: RoutePolicy = ({ requestTimeout }) => {
  const limit = istioDuration(requestTimeout);
  return limit === undefined ? {} : { timeout: limit };
};

export const timeoutCheck: RouteCheck = ({ requestTimeout }) => durationFindings("spec.policy.requestTimeout", requestTimeout);
