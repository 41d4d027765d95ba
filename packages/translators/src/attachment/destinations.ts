import type { AccessPolicy, Destination, DestinationStatus, TrafficPolicy, VirtualDestination } from "@isthmus/api";
import { equalJson, keyOf, withoutUndefined } from "@isthmus/core";
import { memoizeRow } from "../incremental/memoizeRow.ts";
import { localHostname } from "../policy/hosts/hostnames.ts";
import { publishedSpec } from "../policy/publishedSpec.ts";
import { creationOf, userRefOf } from "../policy/userResources.ts";
import { virtualSelectionKeys } from "../policy/virtualSelection.ts";
import { observedMetadata } from "./meshes.ts";
import { referredVirtualDestinations } from "./policyReferences.ts";

/** What is in force on a Destination. */
export interface DestinationAttachments {
  readonly trafficPolicies: readonly TrafficPolicy[];
  readonly accessPolicies: readonly AccessPolicy[];
  readonly appliedFederation: DestinationStatus["appliedFederation"];
  readonly requiredSubsets: DestinationStatus["requiredSubsets"];
  readonly clusterDomains: ReadonlyMap<string, string>;
  /** By its key. */
  readonly virtualDestination: (key: string) => VirtualDestination | undefined;
}

/** The status of a Destination: what is in force on it. */
export function attachedStatus(destination: Destination, attachments: DestinationAttachments): DestinationStatus {
  const { trafficPolicies, accessPolicies, appliedFederation, requiredSubsets, clusterDomains, virtualDestination } = attachments;
  const service = destination.spec?.kubeService?.ref;
  const appliedTraffic = (policy: TrafficPolicy) => ({ ...appliedPolicy(policy), ...targetsBeside(policy, virtualDestination) });
  return withoutUndefined({
    observedGeneration: observedMetadata(destination).observedGeneration,
    appliedTrafficPolicies: trafficPolicies.length === 0 ? undefined : trafficPolicies.map(appliedTraffic),
    appliedAccessPolicies: accessPolicies.length === 0 ? undefined : accessPolicies.map(appliedAccess),
    localFqdn: service && localHostname(service, clusterDomains),
    appliedFederation,
    requiredSubsets,
    readiness: isNoneReady(destination) ? "0 ready" : undefined,
  });
}

/** Said only then: the number of those that are ready would be a new status for each pod that comes or goes. */
function isNoneReady({ spec }: Destination): boolean {
  const subsets = spec?.kubeService?.endpointSubsets;
  return subsets?.every(({ endpoints = [] }) => endpoints.length === 0) === true;
}

/** What of its own workload cluster a policy refers to: who remembers the policy while that cluster is silent needs it as well. */
function targetsBeside(policy: TrafficPolicy, find: DestinationAttachments["virtualDestination"]) {
  if ((policy.metadata.clusterName ?? "") === "") return {};
  const keys = new Set(referredVirtualDestinations(policy).map(keyOf));
  const virtualDestinations = [...keys].flatMap((key) => {
    const found = find(key);
    return found?.spec === undefined ? [] : [{ ref: userRefOf(found), spec: found.spec }];
  });
  return virtualDestinations.length === 0 ? {} : { virtualDestinations };
}

function appliedPolicy<P extends TrafficPolicy | AccessPolicy>(policy: P) {
  return { ref: userRefOf(policy), ...observedMetadata(policy), ...creationOf(policy), spec: publishedSpec(policy) };
}

// One for all Destinations that it selects.
const appliedAccess = memoizeRow((policy: AccessPolicy) => {
  const { lastAccepted } = policy.status ?? {};
  // In its status Services stand for VirtualDestinations.
  const accepted =
    virtualSelectionKeys(policy.spec?.destinationSelector).length === 0
      ? lastAccepted?.spec
      : lastAccepted?.spec && { ...lastAccepted.spec, destinationSelector: policy.spec?.destinationSelector };
  const isOther = accepted !== undefined && !equalJson(accepted, policy.spec ?? {});
  return { ...appliedPolicy(policy), ...(isOther ? { lastAccepted } : {}) };
});
