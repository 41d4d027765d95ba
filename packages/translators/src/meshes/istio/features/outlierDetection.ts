import { nanosecondsOf } from "@isthmus/api";
import { durationFindings, istioDuration } from "../durations.ts";
import { defineFeature } from "./feature.ts";

const PATH = "spec.policy.outlierDetection";

/** Takes failing endpoints out for a while. Zero stands for the API's default, as on its wire. */
export const outlierDetection = defineFeature({
  field: "outlierDetection",
  writes: "connection",
  sets: { outlierDetection: PATH },
  fieldsOf: ({ consecutiveErrors, interval, baseEjectionTime, maxEjectionPercent }) => ({
    outlierDetection: {
      consecutive5xxErrors: consecutiveErrors || 5,
      interval: istioDuration(interval) ?? "10s",
      baseEjectionTime: istioDuration(baseEjectionTime) ?? "30s",
      maxEjectionPercent: maxEjectionPercent || 100,
    },
  }),
  check: ({ interval, baseEjectionTime }) => [
    ...durationFindings(`${PATH}.interval`, nonZero(interval)),
    ...durationFindings(`${PATH}.baseEjectionTime`, nonZero(baseEjectionTime)),
  ],
});

/** Zero stands for the default, which is nothing to report. */
function nonZero(text: string | undefined): string | undefined {
  return text !== undefined && nanosecondsOf(text) === 0 ? undefined : text;
}
