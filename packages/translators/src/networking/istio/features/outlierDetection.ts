import { nanosecondsOf } from "@isthmus/api";
import { durationFindings, istioDuration } from "../durations.ts";
import type { ConnectionCheck, ConnectionRule } from "./feature.ts";

/** `outlierDetection`: takes failing endpoints out for a while. Zero stands for the API's default, as on its wire. */
export const outlierDetection: ConnectionRule = ({ outlierDetection: wanted }) =>
  wanted === undefined
    ? {}
    : {
        outlierDetection: {
          consecutive5xxErrors: wanted.consecutiveErrors || 5,
          interval: istioDuration(wanted.interval) ?? "10s",
          baseEjectionTime: istioDuration(wanted.baseEjectionTime) ?? "30s",
          maxEjectionPercent: wanted.maxEjectionPercent || 100,
        },
      };

export const outlierDetectionCheck: ConnectionCheck = ({ outlierDetection: wanted }) => [
  ...durationFindings("spec.policy.outlierDetection.interval", nonZero(wanted?.interval)),
  ...durationFindings("spec.policy.outlierDetection.baseEjectionTime", nonZero(wanted?.baseEjectionTime)),
];

/** Zero stands for the default, which is nothing to be told of. */
function nonZero(text: string | undefined): string | undefined {
  return text !== undefined && nanosecondsOf(text) === 0 ? undefined : text;
}
