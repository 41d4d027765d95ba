import type { Destination } from "@isthmus/api";
import { formatRef, type Report, type Resource, refOf } from "@isthmus/core";
import { reportOf, warningFinding } from "../../findings.ts";
import type { DestinationInputs } from "../inputs.ts";
import { connectionPolicyFrom } from "./destinationRules.ts";
import { MUTUAL } from "./features/mtls.ts";
import { plainTextAlone } from "./plainTextAlone.ts";
import { matchesFrom } from "./routes/matches.ts";
import { localSource } from "./source.ts";

/**
 * Warns where mutual TLS is asked for by name, by a policy, the Settings or a VirtualMesh, and the Service selects pods that have no sidecar to
 * answer it, or that a PeerAuthentication has take plain text alone. Istio's auto mTLS tells such pods from others; a mode that is written does not.
 */
export function podsOutsideMesh(inputs: DestinationInputs): readonly Report[] {
  const { destination, virtualMesh } = inputs;
  const { outsideMesh = [] } = destination.spec?.kubeService ?? {};
  const refusing = plainTextAlone(inputs);
  if (refusing !== undefined) return mutualTlsRefused(inputs, refusing);
  if (outsideMesh.length === 0) return [];
  const warned = (subject: Resource, { of, consequence }: { readonly of: readonly string[]; readonly consequence: string }) => {
    const message = `${formatRef(refOf(destination))}: its Service selects pods without a sidecar, of ${of.join(", ")}, ${consequence}`;
    return reportOf(refOf(subject), warningFinding("PodsOutsideMesh", message), refOf(destination));
  };
  const consequence = `so calls to these fail, as their TLS mode is ${MUTUAL}: have sidecars injected there, or remove mtls.istio.tlsMode, so that Istio tells them apart`;
  const { federatedHostname, failover } = destination.status?.appliedFederation ?? {};
  const reports = writersOf(inputs).map((writer) => warned(writer, { of: outsideMesh, consequence }));
  if (virtualMesh === undefined || federatedHostname === undefined) return reports;
  if (failover !== undefined && inputs.failoverPeers.length > 0) {
    const broken = `so calls to these fail, as failover to other clusters needs ${MUTUAL}: have sidecars injected there, or let the Service select other pods`;
    return [...reports, warned(virtualMesh, { of: outsideMesh, consequence: broken })];
  }
  // Gateways leave such endpoints out.
  if (!isOutsideAlone(destination)) return reports;
  const broken = `and has no others, so calls from other clusters fail, as gateways pass ${MUTUAL} on: have sidecars injected there`;
  return [...reports, warned(virtualMesh, { of: outsideMesh, consequence: broken })];
}

/** What asks for mutual TLS of pods that take plain text alone: policies and Settings by name, and VirtualMeshes for calls of other clusters. */
function mutualTlsRefused(inputs: DestinationInputs, refusing: Resource): readonly Report[] {
  const { destination, virtualMesh } = inputs;
  const warned = (subject: Resource, calls: string): Report => {
    const message = `${formatRef(refOf(destination))}: ${formatRef(refOf(refusing))} has its pods take plain text alone, so ${calls}: set mtls.mode there to STRICT or PERMISSIVE, or remove it`;
    return reportOf(refOf(subject), warningFinding("MutualTlsRefused", message), refOf(destination));
  };
  const isFederated = destination.status?.appliedFederation?.federatedHostname !== undefined;
  return [
    ...writersOf(inputs).map((writer) => warned(writer, `calls to it fail, as their TLS mode is ${MUTUAL}`)),
    ...(virtualMesh === undefined || !isFederated
      ? []
      : [warned(virtualMesh, `calls from other clusters fail, as gateways pass ${MUTUAL} on`)]),
  ];
}

/** Whether a Service has endpoints, and no pod of them a sidecar. */
function isOutsideAlone({ spec }: Destination): boolean {
  const endpoints = (spec?.kubeService?.endpointSubsets ?? []).flatMap(({ endpoints: some = [] }) => some);
  return endpoints.length > 0 && endpoints.every(({ outsideMesh }) => outsideMesh === true);
}

/** Who says the TLS mode of calls from the Destination's own cluster, where it is mutual TLS: policies, else the Settings. */
function writersOf(inputs: DestinationInputs): readonly Resource[] {
  const { destination, trafficPolicies, translationContext } = inputs;
  const source = localSource(destination);
  if (connectionPolicyFrom(inputs, source).tls?.mode !== MUTUAL) return [];
  const policies = trafficPolicies.filter(
    ({ spec }) => spec?.policy?.mtls?.istio?.tlsMode === MUTUAL && matchesFrom(source.clusterName, spec) !== undefined,
  );
  if (policies.length > 0) return policies;
  return translationContext.settings === undefined ? [] : [translationContext.settings];
}
