import { invalid, warning } from "../../../findings.ts";
import { durationFindings, istioDuration } from "../durations.ts";
import type { RouteCheck, RoutePolicy } from "./feature.ts";

// Istio's own default; it refuses a perTryTimeout beside 0 attempts. Source: istio.io VirtualService, HTTPRetry.
const DEFAULT_ATTEMPTS = 2;

/** `retries`: how often failed requests are tried again. */
export const retries: RoutePolicy = ({ retries: wanted }) => {
  if (wanted === undefined) return {};
  const perTryTimeout = istioDuration(wanted.perTryTimeout);
  const attempts = wanted.attempts ?? (perTryTimeout === undefined ? 0 : DEFAULT_ATTEMPTS);
  if (attempts === 0 || perTryTimeout === undefined) return { retries: { attempts } };
  return { retries: { attempts, perTryTimeout } };
};

export const retriesCheck: RouteCheck = ({ retries: wanted }) => {
  if (wanted === undefined) return [];
  const { attempts, perTryTimeout } = wanted;
  if (attempts !== undefined && attempts < 0) return [invalid("RetriesInvalid", `spec.policy.retries.attempts: ${attempts} is below 0`)];
  if (attempts === 0 && perTryTimeout !== undefined) {
    return [
      warning("NoEffect", "spec.policy.retries.perTryTimeout: has no effect, as attempts is 0: use requestTimeout to limit requests"),
    ];
  }
  return durationFindings("spec.policy.retries.perTryTimeout", perTryTimeout);
};
