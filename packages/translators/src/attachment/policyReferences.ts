import type { TrafficPolicy, TrafficPolicyRules } from "@isthmus/api";
import { type ClusterObjectRef, keyOf } from "@isthmus/core";
import { memoizeRow } from "../incremental/memoizeRow.ts";
import type { PolicyReference } from "../meshes/meshTranslator.ts";
import { meshTranslators } from "../meshes/meshTranslators.ts";
import { virtualDestinationKeys } from "../policy/virtualDestinations/virtualDestinationRefs.ts";
import type { CheckedPolicy } from "./policies.ts";

const referencesOf = memoizeRow((rules: TrafficPolicyRules): readonly PolicyReference[] =>
  meshTranslators.flatMap((translator) => translator.referencesOf?.(rules) ?? []),
);

function referencesIn({ spec }: TrafficPolicy): readonly PolicyReference[] {
  return spec?.policy === undefined ? [] : referencesOf(spec.policy);
}

/** The Services that a policy refers to. */
function referredServices(policy: TrafficPolicy): readonly ClusterObjectRef[] {
  return referencesIn(policy).flatMap((reference) => ("service" in reference ? [reference.service] : []));
}

/** The VirtualDestinations that a policy refers to, as its own cluster knows them. */
export function referredVirtualDestinations(policy: TrafficPolicy): readonly ClusterObjectRef[] {
  const { clusterName = "" } = policy.metadata;
  return referencesIn(policy).flatMap((reference) => ("service" in reference ? [] : [{ ...reference.virtualDestination, clusterName }]));
}

/** The keys of those Services, each once. Remembered: tables and joins ask for each Destination that the policy applies to. */
export const referredServiceKeys = memoizeRow((policy: TrafficPolicy): readonly string[] => distinct(referredServices(policy).map(keyOf)));

/** The keys under which those VirtualDestinations may be. */
export function referredVirtualDestinationKeys(policy: TrafficPolicy): readonly string[] {
  return referredVirtualDestinations(policy).flatMap(virtualDestinationKeys);
}

/** The Services of which a policy refers to a part of the pods, by key, each once. */
const subsetServices = memoizeRow((policy: TrafficPolicy): readonly string[] =>
  distinct(referencesIn(policy).flatMap((reference) => ("service" in reference && reference.isPart ? [keyOf(reference.service)] : []))),
);

/** Whether a policy refers to a part of the pods of a Service. */
export function asksForSubsetsOfService(policy: TrafficPolicy, service: string): boolean {
  return subsetServices(policy).includes(service);
}

/** Whether a policy refers to a part of the pods of anything. */
export function asksForSubsets(policy: TrafficPolicy): boolean {
  return referencesIn(policy).some(({ isPart = false }) => isPart);
}

/** The forms of a TrafficPolicy that may be in force somewhere. */
export function possibleForms({ policy, last, isSound }: CheckedPolicy<TrafficPolicy>): readonly TrafficPolicy[] {
  if (!isSound) return [];
  return last === undefined ? [policy] : [policy, last];
}

/** Sound TrafficPolicies by each Service that they refer to. */
export function byReferredService(checked: CheckedPolicy<TrafficPolicy>): readonly string[] {
  return distinct(possibleForms(checked).flatMap(referredServiceKeys));
}

/** Sound TrafficPolicies by each VirtualDestination that they may refer to. */
export function byVirtualDestination(checked: CheckedPolicy<TrafficPolicy>): readonly string[] {
  return distinct(possibleForms(checked).flatMap(referredVirtualDestinationKeys));
}

/** Sound TrafficPolicies by each Service of which they refer to a part of the pods only. */
export function bySubsetService(checked: CheckedPolicy<TrafficPolicy>): readonly string[] {
  return distinct(possibleForms(checked).flatMap(subsetServices));
}

/**
 * Sound TrafficPolicies of the management cluster by each VirtualDestination of which they refer to a part of the pods only. Subsets of its
 * host are written into all of its meshes, so those of other clusters ask for none.
 */
export function bySubsetVirtualDestination(checked: CheckedPolicy<TrafficPolicy>): readonly string[] {
  return distinct(possibleForms(checked).flatMap(subsetVirtualDestinations));
}

/** The VirtualDestinations of which a policy of the management cluster refers to a part of the pods only, by key. */
export function subsetVirtualDestinations(policy: TrafficPolicy): readonly string[] {
  if ((policy.metadata.clusterName ?? "") !== "") return [];
  return referencesIn(policy).flatMap((reference) =>
    "service" in reference || reference.isPart !== true ? [] : [keyOf({ ...reference.virtualDestination, clusterName: "" })],
  );
}

function distinct(keys: readonly string[]): readonly string[] {
  return keys.length < 2 ? keys : [...new Set(keys)];
}
