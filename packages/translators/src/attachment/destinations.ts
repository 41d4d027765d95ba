import type { AccessPolicy, Destination, DestinationStatus, TrafficPolicy } from "@isthmus/api";
import type { Collection } from "@isthmus/core";
import { localHostname } from "../networking/istio/hostnames.ts";
import { observed, unchangedOr } from "./meshes.ts";
import { publishedSpec } from "./publishedSpec.ts";

/** What is in force on a Destination. */
export interface DestinationAttachments {
  readonly trafficPolicies: readonly TrafficPolicy[];
  readonly accessPolicies: readonly AccessPolicy[];
  readonly appliedFederation: DestinationStatus["appliedFederation"];
  readonly requiredSubsets: DestinationStatus["requiredSubsets"];
  readonly clusterDomains: ReadonlyMap<string, string>;
}

/** The Destination with what is in force on it in its status; the very object of `before` when nothing of it changed. */
export function attachedDestination(
  destination: Destination,
  attachments: DestinationAttachments,
  before: Collection<Destination> | undefined,
): Destination {
  const { trafficPolicies, accessPolicies, appliedFederation, requiredSubsets, clusterDomains } = attachments;
  const service = destination.spec?.kubeService?.ref;
  const status: DestinationStatus = {
    ...observed(destination),
    ...(trafficPolicies.length === 0 ? {} : { appliedTrafficPolicies: trafficPolicies.map(appliedPolicy) }),
    ...(accessPolicies.length === 0 ? {} : { appliedAccessPolicies: accessPolicies.map(appliedPolicy) }),
    ...(service === undefined ? {} : { localFqdn: localHostname(service, clusterDomains) }),
    ...(appliedFederation === undefined ? {} : { appliedFederation }),
    ...(requiredSubsets === undefined ? {} : { requiredSubsets }),
  };
  return unchangedOr({ ...destination, status }, before?.get({ namespace: "", clusterName: "", ...destination.metadata }));
}

function appliedPolicy<P extends TrafficPolicy | AccessPolicy>(policy: P) {
  const { name, namespace = "" } = policy.metadata;
  return { ref: { name, namespace }, ...observed(policy), spec: publishedSpec(policy) };
}
