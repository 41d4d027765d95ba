import type { DestinationStatus, TrafficPolicy } from "@isthmus/api";
import { keyOf } from "@isthmus/core";
import { serviceOf } from "../networking/istio/routes/targets.ts";
import { observed } from "./meshes.ts";
import { publishedTrafficShift } from "./publishedSpec.ts";

type RequiredSubsets = NonNullable<DestinationStatus["requiredSubsets"]>;

/** By the key of a Service, the traffic shifts that send traffic to a part of its pods, in the order of their policies. */
export function requiredSubsets(policies: readonly TrafficPolicy[]): ReadonlyMap<string, RequiredSubsets> {
  const required = new Map<string, RequiredSubsets[number][]>();
  for (const policy of policies) {
    const trafficShift = publishedTrafficShift(policy);
    if (trafficShift === undefined) continue;
    const services = new Set<string>();
    for (const { kubeService } of trafficShift.destinations ?? []) {
      if (Object.keys(kubeService?.subset ?? {}).length > 0) services.add(keyOf(serviceOf(kubeService ?? {})));
    }
    const { name, namespace = "" } = policy.metadata;
    const entry = { trafficPolicyRef: { name, namespace }, ...observed(policy), trafficShift };
    for (const key of services) required.set(key, [...(required.get(key) ?? []), entry]);
  }
  return required;
}
