import type { DestinationStatus, TrafficPolicy } from "@isthmus/api";
import { type Change, emptyTable, keyOfResource, type Steps, type Table } from "@isthmus/core";
import { versionsOf } from "../incremental/changes.ts";
import { remade } from "../incremental/rows.ts";
import { type Ages, precedence } from "../precedence.ts";
import { userRefOf } from "../userResources.ts";
import { observed } from "./meshes.ts";
import type { CheckedPolicy } from "./policies.ts";
import { bySubsetService, subsetServices } from "./policyReferences.ts";
import { publishedTrafficShift } from "./publishedSpec.ts";
import type { Standing } from "./standings.ts";

/** On how many Destinations a TrafficPolicy that wants subsets counts, and on how many it doesn't. */
export interface Support {
  /** Of the policy. */
  readonly key: string;
  readonly inForce: number;
  readonly refused: number;
}

/** No policy that wants subsets. */
export function noSupport(): Table<Support> {
  return emptyTable(({ key }) => key);
}

/** Which subsets are needed is known only when every policy has been judged everywhere: this counts the verdicts. */
export function* countedSupport(before: Table<Support>, changes: readonly Change<Standing>[]): Steps<Table<Support>> {
  const sums = new Map<string, { inForce: number; refused: number }>();
  const count = (standing: Standing | undefined, sign: 1 | -1) => {
    if (standing === undefined) return;
    const note = (policy: TrafficPolicy, verdict: "inForce" | "refused") => {
      if (subsetServices(policy).length === 0) return;
      const key = keyOfResource(policy);
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
  return yield* remade(before, sums.keys(), (key, row) => {
    const inForce = (row?.inForce ?? 0) + (sums.get(key)?.inForce ?? 0);
    const refused = (row?.refused ?? 0) + (sums.get(key)?.refused ?? 0);
    if (inForce === 0 && refused === 0) return undefined;
    return row?.inForce === inForce && row.refused === refused ? row : { key, inForce, refused };
  });
}

/** A policy that is refused wherever it was judged wants nothing, nor one that was judged nowhere and asks for more than it may. */
function isInUse(support: Support | undefined, { reports }: CheckedPolicy<TrafficPolicy>): boolean {
  return support === undefined ? reports.every(({ code }) => code !== "OutOfReach") : support.inForce > 0;
}

/** What required subsets follow from. */
export interface SubsetSources {
  readonly traffic: Table<CheckedPolicy<TrafficPolicy>>;
  readonly supports: Table<Support>;
}

/** The keys of the Services whose required subsets may not be as they were. */
export function affectedServices(now: SubsetSources, before: SubsetSources): ReadonlySet<string> {
  const affected = new Set<string>();
  for (const checked of versionsOf(now.traffic.changesSince(before.traffic))) for (const key of bySubsetService(checked)) affected.add(key);
  for (const { key, before: was, after } of now.supports.changesSince(before.supports)) {
    const checked = now.traffic.row(key);
    if (checked === undefined || isInUse(was, checked) === isInUse(after, checked)) continue;
    for (const service of bySubsetService(checked)) affected.add(service);
  }
  return affected;
}

type RequiredSubsets = NonNullable<DestinationStatus["requiredSubsets"]>;

/** The traffic shifts that send traffic to a part of the pods of a Service, in the order of their policies; undefined for none. */
export function requiredSubsetsOf(serviceKey: string, { traffic, supports }: SubsetSources, ages: Ages): RequiredSubsets | undefined {
  const policies = traffic.where(bySubsetService, serviceKey).filter((checked) => isInUse(supports.row(checked.key), checked));
  if (policies.length === 0) return undefined;
  return policies
    .map(({ policy }) => policy)
    .sort(precedence(ages))
    .flatMap((policy) => {
      const trafficShift = publishedTrafficShift(policy);
      return trafficShift === undefined ? [] : [{ trafficPolicyRef: userRefOf(policy), ...observed(policy), trafficShift }];
    });
}
