import { durationText, nanosecondsOf } from "@isthmus/api";
import { type Finding, invalid } from "../../findings.ts";

const MILLISECOND = 1e6;

/** A user's duration as Istio writes it. */
export function istioDuration(text: string): string {
  return durationText(nanosecondsOf(text) ?? 0);
}

/**
 * What is wrong with a duration for Istio, which takes whole milliseconds from 1 on.
 * Source: istio.io/istio pkg/config/validation/agent, ValidateDuration.
 */
export function durationFindings(path: string, text: string | undefined): readonly Finding[] {
  const nanoseconds = text === undefined ? undefined : nanosecondsOf(text);
  if (nanoseconds === undefined) return [];
  if (nanoseconds < MILLISECOND) {
    return [invalid("DurationOutOfRange", `${path}: "${text}" is less than 1ms, the shortest that Istio accepts`)];
  }
  if (nanoseconds % MILLISECOND !== 0) {
    return [invalid("DurationOutOfRange", `${path}: "${text}" is not a whole number of milliseconds: Istio accepts no fractions of them`)];
  }
  return [];
}
