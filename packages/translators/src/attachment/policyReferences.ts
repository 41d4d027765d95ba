import type { TrafficPolicy } from "@isthmus/api";
import { keyOf } from "@isthmus/core";
import { virtualDestinationKeys } from "../networking/istio/routeContext.ts";
import { serviceOf } from "../networking/istio/serviceRefs.ts";
import type { CheckedPolicy } from "./policies.ts";

/** Sound TrafficPolicies by each Service that they send traffic to. */
export function byTargetService({ policy, isSound }: CheckedPolicy<TrafficPolicy>): readonly string[] {
  const { trafficShift, mirror } = policy.spec?.policy ?? {};
  if (!isSound) return [];
  const targets = [...(trafficShift?.destinations ?? []), ...(mirror === undefined ? [] : [mirror])];
  return targets.flatMap(({ kubeService }) => (kubeService === undefined ? [] : [keyOf(serviceOf(kubeService))]));
}

/** Sound TrafficPolicies by each VirtualDestination that they may mean to send traffic to. */
export function byVirtualDestination({ policy, isSound }: CheckedPolicy<TrafficPolicy>): readonly string[] {
  if (!isSound) return [];
  const { clusterName = "" } = policy.metadata;
  return (policy.spec?.policy?.trafficShift?.destinations ?? []).flatMap(({ virtualDestination }) =>
    virtualDestination === undefined ? [] : virtualDestinationKeys({ ...serviceOf(virtualDestination), clusterName }),
  );
}

/** Sound TrafficPolicies by each Service of which they send traffic to a part of the pods only. */
export function bySubsetService({ policy, isSound }: CheckedPolicy<TrafficPolicy>): readonly string[] {
  return isSound ? subsetServices(policy) : [];
}

/** The Services of which a policy sends traffic to a part of the pods, by key. */
export function subsetServices({ spec }: TrafficPolicy): readonly string[] {
  return (spec?.policy?.trafficShift?.destinations ?? []).flatMap(({ kubeService }) =>
    Object.keys(kubeService?.subset ?? {}).length === 0 ? [] : [keyOf(serviceOf(kubeService ?? {}))],
  );
}
