import type { Destination } from "@isthmus/api";
import { formatRef, keptText, refOf } from "@isthmus/core";
import { type Finding, warningFinding } from "../../../findings.ts";
import type { AppliedFederation } from "../../meshTranslator.ts";
import { omittedPortFindings } from "./federationFindings.ts";
import { federatedPorts } from "./ports.ts";

/**
 * Why a service is not federated although its VirtualMesh asks for it: nothing could be called, or an API server would refuse what is written for it.
 * Warnings, as a VirtualMesh that federates everything is no mistake.
 */
export function federationWithheld(
  destination: Destination,
  { federatedHostname: hostname = "", failover }: AppliedFederation,
): readonly Finding[] {
  const name = formatRef(refOf(destination));
  const servicePorts = destination.spec?.kubeService?.ports ?? [];
  const { ports, omitted } = federatedPorts(servicePorts);
  if (servicePorts.length === 0) {
    const message = `${name} is not federated: its Service has no ports, so there is nothing to be called at its host name`;
    return [warningFinding("NoPortToFederate", message)];
  }
  if (ports.length === 0) return omittedPortFindings({ destination, omittedPorts: omitted });
  const longest = failover === undefined ? LONGEST_NAME : LONGEST_NAME - FAILOVER_SUFFIX.length;
  if (hostname.length <= longest) return [];
  return [
    warningFinding(
      "HostTooLong",
      `${name} is not federated: its host ${keptText(hostname, SHOWN)}… has ${hostname.length} characters, of ${longest} that are possible: ` +
        "set a shorter spec.federation.hostnameSuffix, or shorter names of Service and namespace",
    ),
  ];
}

// Of DNS, and of objects in API servers, as ours are called like the host. Source: kubernetes.io, Object Names and IDs.
const LONGEST_NAME = 253;
/** What is added to the host in the name of a second object for the gateways of its own cluster. */
export const FAILOVER_SUFFIX = "-failover";
// Enough to know which host it is.
const SHOWN = 80;
