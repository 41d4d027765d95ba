import { AuthorizationPolicy, CiliumNetworkPolicy, DestinationRule, TrafficPolicy } from "@isthmus/api";
import type { ResourceRef } from "@isthmus/core";
import { policyRefOf } from "../../../policy/userResources.ts";
import { effectiveAccessPolicies } from "../../enforcedAccess.ts";
import type { DestinationInputs } from "../../inputs.ts";
import { policiesWriting } from "../policyFields.ts";

/** The policies that have a say in a Destination's outputs of one kind; undefined for kinds that name their reasons as parents. */
export function policiesBehind(inputs: DestinationInputs, kind: string): readonly ResourceRef[] | undefined {
  if (kind === AuthorizationPolicy.kind || kind === CiliumNetworkPolicy.kind)
    return effectiveAccessPolicies(inputs, inputs.translationContext.ages).map((policy) => policyRefOf(policy));
  const writers = policiesWriting(kind, inputs.trafficPolicies)?.map((policy) => policyRefOf(policy));
  return kind === DestinationRule.kind ? [...(writers ?? []), ...subsetPolicies(inputs)] : writers;
}

/** The policies that need subsets of a Destination, which its DestinationRule has: mostly they are in force on others. */
function subsetPolicies({ destination }: DestinationInputs): readonly ResourceRef[] {
  const { apiVersion, kind } = TrafficPolicy;
  return (destination.status?.requiredSubsets ?? []).flatMap(({ trafficPolicyRef }) =>
    trafficPolicyRef === undefined ? [] : [{ apiVersion, kind, clusterName: "", ...trafficPolicyRef }],
  );
}
