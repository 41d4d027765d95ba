import type { TrafficPolicy, TrafficPolicyRules } from "@isthmus/api";
import { type ClusterObjectRef, keyOf } from "@isthmus/core";
import type { Reference } from "../networking/istio/features/feature.ts";
import { features } from "../networking/istio/features/index.ts";
import { virtualDestinationKeys } from "../networking/istio/routeContext.ts";
import { remembered } from "../remembered.ts";
import type { CheckedPolicy } from "./policies.ts";

const referencesOf = remembered((rules: TrafficPolicyRules): readonly Reference[] =>
  features.flatMap((feature) => feature.referencesOf?.(rules) ?? []),
);

function referencesIn({ spec }: TrafficPolicy): readonly Reference[] {
  return spec?.policy === undefined ? [] : referencesOf(spec.policy);
}

/** The Services that a policy refers to. */
export function referredServices(policy: TrafficPolicy): readonly ClusterObjectRef[] {
  return referencesIn(policy).flatMap((reference) => ("service" in reference ? [reference.service] : []));
}

/** The VirtualDestinations that a policy refers to, as its own cluster knows them. */
export function referredVirtualDestinations(policy: TrafficPolicy): readonly ClusterObjectRef[] {
  const { clusterName = "" } = policy.metadata;
  return referencesIn(policy).flatMap((reference) => ("service" in reference ? [] : [{ ...reference.virtualDestination, clusterName }]));
}

/** The Services of which a policy refers to a part of the pods, by key. */
export function subsetServices(policy: TrafficPolicy): readonly string[] {
  return referencesIn(policy).flatMap((reference) => ("service" in reference && reference.isPart ? [keyOf(reference.service)] : []));
}

/** Sound TrafficPolicies by each Service that they refer to. */
export function byReferredService({ policy, isSound }: CheckedPolicy<TrafficPolicy>): readonly string[] {
  return isSound ? referredServices(policy).map(keyOf) : [];
}

/** Sound TrafficPolicies by each VirtualDestination that they may refer to. */
export function byVirtualDestination({ policy, isSound }: CheckedPolicy<TrafficPolicy>): readonly string[] {
  return isSound ? referredVirtualDestinations(policy).flatMap(virtualDestinationKeys) : [];
}

/** Sound TrafficPolicies by each Service of which they refer to a part of the pods only. */
export function bySubsetService({ policy, isSound }: CheckedPolicy<TrafficPolicy>): readonly string[] {
  return isSound ? subsetServices(policy) : [];
}
