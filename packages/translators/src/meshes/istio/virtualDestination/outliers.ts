import { type FailureDetection, nanosecondsOf, type VirtualDestinationSpec } from "@isthmus/api";
import { type Finding, warningFinding } from "../../../findings.ts";
import { durationFindings, istioDuration } from "../durations.ts";

const PATH = "spec.localized.outlierDetection";

/**
 * When an endpoint counts as failing. Always written: without it proxies know no order of endpoints and spread requests evenly (istio.io,
 * locality failover). The defaults are the published API's, where zero stands for them. Both kinds of errors count, as a gateway answers
 * for pods that cannot be reached.
 */
export function outlierDetectionOf({ consecutiveErrors, interval, baseEjectionTime, maxEjectionPercent }: FailureDetection = {}) {
  return {
    consecutive5xxErrors: consecutiveErrors || 10,
    consecutiveGatewayErrors: consecutiveErrors || 10,
    interval: istioDuration(interval) ?? "5s",
    baseEjectionTime: istioDuration(baseEjectionTime) ?? "120s",
    maxEjectionPercent: maxEjectionPercent || 100,
  };
}

/** What Istio would refuse there, or what would keep traffic from failing over. */
export function outlierFindings({ localized }: VirtualDestinationSpec): readonly Finding[] {
  return detectionFindings(PATH, localized?.outlierDetection);
}

/** The same of whatever says when endpoints count as failing, under its path. */
export function detectionFindings(path: string, detection: FailureDetection = {}): readonly Finding[] {
  const { interval, baseEjectionTime, maxEjectionPercent = 0 } = detection;
  return [
    ...durationFindings(`${path}.interval`, nonZero(interval)),
    ...durationFindings(`${path}.baseEjectionTime`, nonZero(baseEjectionTime)),
    ...(maxEjectionPercent === 0 || maxEjectionPercent === 100
      ? []
      : [
          warningFinding(
            "FailoverIncomplete",
            `${path}.maxEjectionPercent: with ${maxEjectionPercent}, failing endpoints above that share keep getting traffic instead of failing over: set 100`,
          ),
        ]),
  ];
}

/** Zero stands for the default, which is nothing to report. */
function nonZero(text: string | undefined): string | undefined {
  return text !== undefined && nanosecondsOf(text) === 0 ? undefined : text;
}
