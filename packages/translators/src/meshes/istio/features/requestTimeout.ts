import { nanosecondsOf } from "@isthmus/api";
import { durationFindings, istioDuration } from "../durations.ts";
import { defineFeature } from "./feature.ts";

/** That requests have no limit: so it is in Istio where a route says none, and where it says this one, Istio refuses it. */
export const NO_LIMIT = "0s";

/** The time within which a request must be answered. 0 is no limit, whatever a wider policy says. */
export const requestTimeout = defineFeature({
  field: "requestTimeout",
  writes: "route",
  sets: { timeout: "spec.policy.requestTimeout" },
  fieldsOf: (wanted) => ({ timeout: istioDuration(wanted) ?? NO_LIMIT }),
  check: (wanted) => (nanosecondsOf(wanted) === 0 ? [] : durationFindings("spec.policy.requestTimeout", wanted)),
});
