import type { DestinationStatus, TrafficPolicy } from "@isthmus/api";
import { type CooperativeTask, type EntryChange, emptyTable, keyOfResource, type Table } from "@isthmus/core";
import { memoizeRow } from "../incremental/memoizeRow.ts";
import { recompute } from "../incremental/rows.ts";
import { type AgeSource, precedence } from "../policy/precedence.ts";
import { publishedTrafficShift } from "../policy/publishedSpec.ts";
import { userRefOf } from "../policy/userResources.ts";
import { selectsVirtual } from "../policy/virtualSelection.ts";
import type { AttachedPolicies } from "./attachedPolicies.ts";
import { observedMetadata } from "./meshes.ts";
import type { CheckedPolicy } from "./policies.ts";
import { asksForSubsets, possibleForms } from "./policyReferences.ts";

/** On how many Destinations a form of a TrafficPolicy that wants subsets counts, and on how many it doesn't. */
export interface SubsetUsage {
  /** `subsetUsageKey` */
  readonly key: string;
  readonly inForce: number;
  readonly refused: number;
}

/** No policy that wants subsets. */
export function noSubsetUsage(): Table<SubsetUsage> {
  return emptyTable(({ key }) => key);
}

/** A TrafficPolicy with the subsets that it wants: as it is written and as it was last accepted it may want others. */
const subsetUsageKey = memoizeRow(
  (policy: TrafficPolicy) => `${keyOfResource(policy)} ${JSON.stringify(policy.spec?.policy?.trafficShift ?? {})}`,
);

/** By what the usage of the subsets that a policy may want is counted. */
export function bySubsetUsage(checked: CheckedPolicy<TrafficPolicy>): readonly string[] {
  return [...new Set(possibleForms(checked).filter(asksForSubsets).map(subsetUsageKey))];
}

/** Which subsets are needed is known only when every policy has been judged everywhere: this counts the verdicts. */
export function* countSubsetUsage(
  before: Table<SubsetUsage>,
  changes: readonly EntryChange<AttachedPolicies>[],
): CooperativeTask<Table<SubsetUsage>> {
  const sums = new Map<string, { inForce: number; refused: number }>();
  const count = (standing: AttachedPolicies | undefined, sign: 1 | -1) => {
    if (standing === undefined) return;
    const note = (policy: TrafficPolicy, verdict: "inForce" | "refused") => {
      if (!asksForSubsets(policy)) return;
      const key = subsetUsageKey(policy);
      const sum = sums.get(key) ?? { inForce: 0, refused: 0 };
      sum[verdict] += sign;
      sums.set(key, sum);
    };
    for (const policy of standing.trafficPolicies) note(policy, standing.hasSubsets ? "inForce" : "refused");
    for (const policy of standing.refused) note(policy, "refused");
  };
  for (const { before: was, after } of changes) {
    count(was, -1);
    count(after, 1);
  }
  return yield* recompute(before, sums.keys(), (key, row) => {
    const inForce = (row?.inForce ?? 0) + (sums.get(key)?.inForce ?? 0);
    const refused = (row?.refused ?? 0) + (sums.get(key)?.refused ?? 0);
    if (inForce === 0 && refused === 0) return undefined;
    return row?.inForce === inForce && row.refused === refused ? row : { key, inForce, refused };
  });
}

/**
 * A policy that is refused wherever it was judged wants nothing, nor one that was judged on no Destination and asks for more than it may, or
 * selects hosts of VirtualDestinations, where what refers to others is refused (docs/decisions/0070).
 */
function isInUse(form: TrafficPolicy, support: SubsetUsage | undefined, { policy, reports }: CheckedPolicy<TrafficPolicy>): boolean {
  if (support !== undefined) return support.inForce > 0;
  // What was accepted before stands only where the policy itself can't be in force.
  if (form !== policy) return false;
  const selectors = policy.spec?.destinationSelector ?? [];
  if (selectors.some(selectsVirtual)) return false;
  return reports.every(({ code }) => code !== "OutOfReach");
}

type RequiredSubsets = NonNullable<DestinationStatus["requiredSubsets"]>;

/** The policies from which the required subsets of one Destination, or of one VirtualDestination, follow. */
export interface SubsetUsers {
  /** The TrafficPolicies that refer to a part of its pods. */
  readonly subsetPolicies: readonly CheckedPolicy<TrafficPolicy>[];
  /** Of those that were judged somewhere. */
  readonly supports: readonly SubsetUsage[];
  /** Whether a form of a policy refers to a part of the pods. */
  isUser(form: TrafficPolicy): boolean;
}

/** Those of the policies that are in use, in order of precedence. */
export function policiesWithSubsets({ subsetPolicies, supports, isUser }: SubsetUsers, ages: AgeSource): readonly TrafficPolicy[] {
  if (subsetPolicies.length === 0) return NONE;
  const supportOf = new Map(supports.map((support) => [support.key, support]));
  const policies = subsetPolicies.flatMap((checked) =>
    // What the last accepted form asks for as well counts once.
    firstOfEach(possibleForms(checked)).filter((form) => isUser(form) && isInUse(form, supportOf.get(subsetUsageKey(form)), checked)),
  );
  return policies.length === 0 ? NONE : policies.sort(precedence(ages));
}

function firstOfEach(forms: readonly TrafficPolicy[]): readonly TrafficPolicy[] {
  return forms.filter((form, i) => forms.findIndex((other) => subsetUsageKey(other) === subsetUsageKey(form)) === i);
}

/** The traffic shifts that send traffic to a part of the pods of a Service, in the order of their policies; undefined for none. */
export function requiredSubsetsOf(users: SubsetUsers, ages: AgeSource): RequiredSubsets | undefined {
  const policies = policiesWithSubsets(users, ages);
  return policies.length === 0 ? undefined : requiredSubsetsFrom(policies);
}

/** The traffic shifts of some policies, as statuses list them. */
export function requiredSubsetsFrom(policies: readonly TrafficPolicy[]): RequiredSubsets {
  return policies.flatMap((policy) => {
    const trafficShift = publishedTrafficShift(policy);
    return trafficShift === undefined ? [] : [{ trafficPolicyRef: userRefOf(policy), ...observedMetadata(policy), trafficShift }];
  });
}

const NONE: readonly never[] = [];
