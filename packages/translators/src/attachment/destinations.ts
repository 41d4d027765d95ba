import type { AccessPolicy, Destination, DestinationStatus, TrafficPolicy } from "@isthmus/api";
import { localHostname } from "../networking/istio/hostnames.ts";
import { creationOf, userRefOf } from "../userResources.ts";
import { observed } from "./meshes.ts";
import { publishedSpec } from "./publishedSpec.ts";

/** What is in force on a Destination. */
export interface DestinationAttachments {
  readonly trafficPolicies: readonly TrafficPolicy[];
  readonly accessPolicies: readonly AccessPolicy[];
  readonly appliedFederation: DestinationStatus["appliedFederation"];
  readonly requiredSubsets: DestinationStatus["requiredSubsets"];
  readonly clusterDomains: ReadonlyMap<string, string>;
}

/** The status of a Destination: what is in force on it. */
export function attachedStatus(destination: Destination, attachments: DestinationAttachments): DestinationStatus {
  const { trafficPolicies, accessPolicies, appliedFederation, requiredSubsets, clusterDomains } = attachments;
  const service = destination.spec?.kubeService?.ref;
  return {
    ...observed(destination),
    ...(trafficPolicies.length === 0 ? {} : { appliedTrafficPolicies: trafficPolicies.map(appliedPolicy) }),
    ...(accessPolicies.length === 0 ? {} : { appliedAccessPolicies: accessPolicies.map(appliedPolicy) }),
    ...(service === undefined ? {} : { localFqdn: localHostname(service, clusterDomains) }),
    ...(appliedFederation === undefined ? {} : { appliedFederation }),
    ...(requiredSubsets === undefined ? {} : { requiredSubsets }),
  };
}

function appliedPolicy<P extends TrafficPolicy | AccessPolicy>(policy: P) {
  return { ref: userRefOf(policy), ...observed(policy), ...creationOf(policy), spec: publishedSpec(policy) };
}
