import { TrafficPolicy } from "@isthmus/api";
import { type Finding, warningFinding } from "../../findings.ts";
import { memoizeRow } from "../../incremental/memoizeRow.ts";
import { isMisspeltWide } from "../ineffective.ts";
import { acceptedBefore, isWithoutErrors, lastAcceptedKept, wasAccepted, writtenForm } from "../lastAccepted.ts";

/** What of a TrafficPolicy may be in force (docs/decisions/0150). */
export interface TrafficPolicyForms {
  /** As it is in force, if on the Destinations that it selects nothing is wrong with it; undefined: nowhere. */
  readonly inForce: TrafficPolicy | undefined;
  /** What takes its place on Destinations where something is. */
  readonly last: TrafficPolicy | undefined;
  /** What is to be said beside the findings about the spec. */
  readonly consequence: readonly Finding[];
}

/**
 * The spec; where it has errors the last accepted one, where that has none now. Of a spec that was accepted before and names something that
 * is gone, the rest stays in force. `isWrittenSound`: whether `findingsOf` the spec keeps nothing of it from being in force.
 */
export function trafficPolicyForms(
  policy: TrafficPolicy,
  isWrittenSound: boolean,
  findingsOf: (form: TrafficPolicy) => readonly Finding[],
): TrafficPolicyForms {
  const [written, last] = trafficFormsOf(policy);
  if (isWrittenSound && !isMisspeltWide(policy)) return { inForce: written, last, consequence: [] };
  if (last !== undefined && isWithoutErrors(findingsOf(last)) && !isMisspeltWide(last))
    return { inForce: last, last: undefined, consequence: [lastAcceptedKept(last.metadata)] };
  const partly = (wasAccepted(policy) ? [written] : last === undefined ? [] : [last]).find((form) => isPartlyRight(form, findingsOf(form)));
  if (partly === undefined) return { inForce: undefined, last: undefined, consequence: [] };
  return { inForce: partly, last: undefined, consequence: [partly === written ? PARTLY : lastAcceptedKept(partly.metadata)] };
}

/** A TrafficPolicy as it is written, and as it was last accepted where that is another form. */
export const trafficFormsOf = memoizeRow((policy: TrafficPolicy): readonly [TrafficPolicy, TrafficPolicy?] => {
  const last = acceptedBefore(TrafficPolicy, policy);
  return last === undefined ? [writtenForm(policy)] : [writtenForm(policy), last];
});

/** Whether all that is wrong with a form is that some of what it selects by name is not there. */
function isPartlyRight({ spec }: TrafficPolicy, findings: readonly Finding[]): boolean {
  const wrong = findings.filter(({ state }) => state === "INVALID");
  const selected = (spec?.destinationSelector ?? []).flatMap((entry) => [
    ...(entry.kubeServiceRefs?.services ?? []),
    ...(entry.virtualDestinationRefs?.virtualDestinations ?? []),
    ...[entry.kubeServiceMatcher ?? [], entry.virtualDestinationMatcher ?? []].flat(),
  ]);
  return wrong.length < selected.length && wrong.every(({ code }) => code === "DestinationUnknown");
}

const PARTLY = warningFinding(
  "PartlyInForce",
  "spec.destinationSelector: this policy was accepted before, so it stays in force on the destinations that are found: correct it",
);
