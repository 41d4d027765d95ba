import { nanosecondsOf } from "@isthmus/api";
import { warning } from "../../../findings.ts";
import { durationFindings, istioDuration } from "../durations.ts";
import type { RouteCheck, RoutePolicy } from "./routePolicy.ts";

const PATH = "spec.policy.requestTimeout";

/** `requestTimeout`: the time within which a request must be answered. */
export const timeout: RoutePolicy = ({ requestTimeout }) =>
  requestTimeout === undefined || isNone(requestTimeout) ? {} : { timeout: istioDuration(requestTimeout) };

export const timeoutCheck: RouteCheck = ({ requestTimeout }) => {
  if (requestTimeout === undefined) return [];
  // Istio refuses 0s, which would mean what holds anyway. Source: istio.io VirtualService, HTTPRoute.timeout: "default is disabled".
  if (isNone(requestTimeout)) {
    return [warning("NoEffect", `${PATH}: "${requestTimeout}" has no effect: requests have no time limit unless one is set`)];
  }
  return durationFindings(PATH, requestTimeout);
};

function isNone(text: string): boolean {
  return nanosecondsOf(text) === 0;
}
