import type { DestinationRule } from "@isthmus/api";
import { formatRef, refOf } from "@isthmus/core";
import { type Finding, warningFinding } from "../../../findings.ts";
import { familiesOf } from "../addressFamilies.ts";
import { passesGateways } from "../features/mtls.ts";
import { MOST_ENDPOINTS } from "./endpoints.ts";
import type { FederatedService } from "./federatedService.ts";
import { portName } from "./ports.ts";

/** What to know of a service's federation. All of them warnings. */
export function federationFindings(service: FederatedService): readonly Finding[] {
  return [
    ...omittedPortFindings(service),
    ...endpointFindings(service),
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

/** Pods of a service that other clusters cannot call, or not at all ports. */
function endpointFindings({ destination, ports, remotes, atGateways, atPods }: FederatedService): readonly Finding[] {
  const name = nameOf({ destination });
  const omitted = [atPods, ...remotes.map((mesh) => atGateways(familiesOf(mesh)))].find(({ total }) => total > MOST_ENDPOINTS);
  const subsets = (destination.spec?.kubeService?.endpointSubsets ?? []).map(({ endpoints = [], ports: open = [] }) => ({
    names: new Set(open.map(portName)),
    pods: endpoints.length,
  }));
  const all = subsets.reduce((sum, { pods }) => sum + pods, 0);
  return [
    ...(omitted === undefined
      ? []
      : [
          warningFinding(
            "EndpointsOmitted",
            `${name}: calls from other clusters reach ${MOST_ENDPOINTS} of its ${omitted.total} ${omitted === atPods ? "pods" : "endpoints"}, as a ServiceEntry has at most ${MOST_ENDPOINTS} endpoints: divide its pods among several Services`,
          ),
        ]),
    ...ports.flatMap((port) => {
      const without = subsets.filter(({ names }) => !names.has(portName(port))).reduce((sum, { pods }) => sum + pods, 0);
      // Where no pod has it, nothing says that it is one of some only.
      if (without === 0 || without === all) return [];
      const message = `${name}: port ${portName(port)} (${port.number ?? 0}) leads to no port of ${without} of its ${all} pods, so calls of it from other clusters fail there: give the port this name in all pods, or divide them among several Services`;
      return [warningFinding("PortMissingAtPods", message)];
    }),
  ];
}

/** Ports of a service that other clusters cannot call. */
export function omittedPortFindings({
  omittedPorts,
  destination,
}: Pick<FederatedService, "omittedPorts" | "destination">): readonly Finding[] {
  const name = nameOf({ destination });
  return omittedPorts.map(({ port, reason }) =>
    warningFinding("PortNotFederated", `${name}: port ${portName(port)} (${port.port ?? 0}) is not federated: ${reason}`),
  );
}

function nameOf({ destination }: Pick<FederatedService, "destination">): string {
  return formatRef(refOf(destination));
}
