import { durationText, nanosecondsOf } from "@isthmus/api";
import { type Finding, invalidFinding, warningFinding } from "../../findings.ts";

/** The finest steps in which Istio takes a duration, in nanoseconds. */
const MILLISECOND = 1e6;
export const SECOND = 1e9;

/**
 * A user's duration as Istio takes it: in whole steps, at least one; undefined for none at all.
 * Source: istio.io/istio pkg/config/validation/agent, ValidateDuration; 0 is what an omitted duration is on the published API's wire.
 */
export function istioDuration(text: string | undefined, step = MILLISECOND): string | undefined {
  const nanoseconds = text === undefined ? undefined : nanosecondsOf(text);
  return nanoseconds === undefined || nanoseconds <= 0 ? undefined : durationText(Math.max(1, Math.round(nanoseconds / step)) * step);
}

/** What is to be said of a duration that Istio does not take as it is. */
export function durationFindings(path: string, text: string | undefined, step = MILLISECOND): readonly Finding[] {
  const nanoseconds = text === undefined ? undefined : nanosecondsOf(text);
  if (nanoseconds === undefined || (nanoseconds > 0 && nanoseconds % step === 0)) return [];
  if (nanoseconds < 0) return [invalidFinding("DurationOutOfRange", `${path}: "${text}" must not be negative`)];
  if (nanoseconds === 0) return [warningFinding("NoEffect", `${path}: "${text}" is ignored (same as not set)`)];
  const steps = step === SECOND ? "seconds" : "milliseconds";
  return [
    warningFinding("DurationRounded", `${path}: "${text}" is rounded to ${istioDuration(text, step)}: Istio supports whole ${steps}`),
  ];
}
