import { AccessPolicy, Destination, type DestinationSelector, TrafficPolicy } from "@isthmus/api";
import { type Report, refOf, type Snapshot } from "@isthmus/core";
import { type Finding, reported } from "../findings.ts";
import { requestFindings } from "../networking/istio/requestFindings.ts";
import { remembered } from "../remembered.ts";
import { accessFindings, ineffectiveFindings, isMisspeltWide } from "./ineffective.ts";
import { byPrecedence } from "./ordering.ts";
import { selectorFindings } from "./references.ts";
import { policiesByDestination } from "./selection.ts";

/** The valid policies, and by the key of a Destination those that select it, all in order of precedence. */
export interface SelectedPolicies<P> {
  readonly valid: readonly P[];
  readonly byDestination: ReadonlyMap<string, readonly P[]>;
  readonly reports: readonly Report[];
}

/** TrafficPolicies whose references hold. */
export function trafficPolicies(snapshot: Snapshot): SelectedPolicies<TrafficPolicy> {
  const { valid, reports } = checked(snapshot, [...snapshot.of(TrafficPolicy)], trafficFindings);
  const narrow = valid.filter((policy) => !isMisspeltWide(policy));
  return { valid: narrow, byDestination: policiesByDestination(narrow, selectorsOf, snapshot.of(Destination)), reports };
}

const trafficFindings = remembered((policy: TrafficPolicy) => [...ineffectiveFindings(policy), ...requestFindings(policy.spec ?? {})]);

/** AccessPolicies whose references hold, and of which everything is understood. */
export function accessPolicies(snapshot: Snapshot): SelectedPolicies<AccessPolicy> {
  const { valid, reports } = checked(snapshot, [...snapshot.of(AccessPolicy)], accessFindings);
  return { valid, byDestination: policiesByDestination(valid, selectorsOf, snapshot.of(Destination)), reports };
}

function checked<P extends TrafficPolicy | AccessPolicy>(
  snapshot: Snapshot,
  policies: P[],
  ownFindings: (policy: P) => readonly Finding[],
): { valid: readonly P[]; reports: readonly Report[] } {
  const valid: P[] = [];
  const reports: Report[] = [];
  for (const policy of policies.sort(byPrecedence)) {
    const findings = [
      ...selectorFindings("spec.destinationSelector", selectorsOf(policy), snapshot.of(Destination)),
      ...ownFindings(policy),
    ];
    if (findings.every(({ state }) => state !== "INVALID")) valid.push(policy);
    for (const finding of findings) reports.push(reported(refOf(policy), finding));
  }
  return { valid, reports };
}

function selectorsOf({ spec }: TrafficPolicy | AccessPolicy): readonly DestinationSelector[] | undefined {
  return spec?.destinationSelector;
}
