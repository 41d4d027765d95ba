import { invalidFinding, warningFinding } from "../../../findings.ts";
import { durationFindings, istioDuration } from "../durations.ts";
import { defineFeature } from "./feature.ts";

const PATH = "spec.policy.retries";

// Istio's own default; it refuses a perTryTimeout beside 0 attempts. Source: istio.io VirtualService, HTTPRetry.
const DEFAULT_ATTEMPTS = 2;

/** How often failed requests are tried again. */
export const retries = defineFeature({
  field: "retries",
  writes: "route",
  sets: { retries: PATH },
  fieldsOf: (wanted) => {
    const perTryTimeout = istioDuration(wanted.perTryTimeout);
    const attempts = wanted.attempts ?? (perTryTimeout === undefined ? 0 : DEFAULT_ATTEMPTS);
    if (attempts === 0 || perTryTimeout === undefined) return { retries: { attempts } };
    return { retries: { attempts, perTryTimeout } };
  },
  check: ({ attempts, perTryTimeout }) => {
    if (attempts !== undefined && attempts < 0)
      return [invalidFinding("RetriesInvalid", `${PATH}.attempts: ${attempts} must not be negative`)];
    if (attempts === 0 && perTryTimeout !== undefined) {
      return [
        warningFinding("NoEffect", `${PATH}.perTryTimeout: has no effect, because attempts is 0: use requestTimeout to limit requests`),
      ];
    }
    return durationFindings(`${PATH}.perTryTimeout`, perTryTimeout);
  },
});
