import { durationFindings, istioDuration } from "../durations.ts";
import { defineFeature } from "./feature.ts";

/** The time within which a request must be answered. 0 is no limit, which is what holds anyway. */
export const requestTimeout = defineFeature({
  field: "requestTimeout",
  writes: "route",
  sets: { timeout: "spec.policy.requestTimeout" },
  fieldsOf: (wanted) => {
    const timeout = istioDuration(wanted);
    return timeout === undefined ? {} : { timeout };
  },
  check: (wanted) => durationFindings("spec.policy.requestTimeout", wanted),
});
