import type { DestinationRule } from "@isthmus/api";
import { formatRef, refOf } from "@isthmus/core";
import { type Finding, warningFinding } from "../../../findings.ts";
import { passesGateways } from "../features/mtls.ts";
import type { FederatedService } from "./federatedService.ts";
import { portName } from "./ports.ts";

/** What to know of a service's federation. All of them warnings. */
export function federationFindings(service: FederatedService): readonly Finding[] {
  return [
    ...portFindings(service),
    ...(service.virtualIp.note === undefined
      ? []
      : [warningFinding("VirtualIpCollision", `${nameOf(service)}: ${service.virtualIp.note}`)]),
  ];
}

/** Connection settings, by Settings or policies, with which no call from other meshes arrives. `rules` are those of the callers' meshes. */
export function reachabilityFindings(service: FederatedService, rules: readonly DestinationRule[]): readonly Finding[] {
  const failing = rules.filter(({ spec }) => !passesGateways(spec?.trafficPolicy ?? {}));
  if (failing.length === 0) return [];
  const callers = [...new Set(failing.map(({ metadata }) => metadata.clusterName))].join(", ");
  const modes = [...new Set(failing.map(({ spec }) => spec?.trafficPolicy?.tls?.mode))].join(" or ");
  return [
    warningFinding(
      "MutualTlsNeeded",
      `${nameOf(service)}: calls from ${callers} fail, because their TLS mode is ${modes} and east-west gateways only forward ISTIO_MUTUAL: ` +
        "set mtls.istio.tlsMode: ISTIO_MUTUAL in the Settings, or in a TrafficPolicy for it",
    ),
  ];
}

function portFindings({ omittedPorts, ...service }: FederatedService): readonly Finding[] {
  return omittedPorts.map(({ port, reason }) =>
    warningFinding("PortNotFederated", `${nameOf(service)}: port ${portName(port)} (${port.port ?? 0}) is not federated: ${reason}`),
  );
}

function nameOf({ destination }: Pick<FederatedService, "destination">): string {
  return formatRef(refOf(destination));
}
