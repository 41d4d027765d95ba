import { formatRef, refOf } from "@isthmus/core";
import { type Finding, invalid, warning } from "../../../findings.ts";
import type { Gateway } from "../../../inputs.ts";
import { DEFAULT_HOSTNAME_SUFFIX } from "../hostnames.ts";
import { gatewayMissing } from "./eastWestGateways.ts";
import type { FederatedService } from "./federatedService.ts";
import { portName } from "./ports.ts";

/** Why a service cannot be federated (INVALID), and what to know of its federation. */
export function federationFindings(service: FederatedService, gateways: readonly Gateway[]): readonly Finding[] {
  return [
    ...(gateways.length === 0 ? [gatewayMissing(service.home)] : []),
    ...dnsFindings(service),
    ...addressFindings(service),
    ...portFindings(service),
    ...(service.virtualIp.note === undefined ? [] : [warning("VirtualIpCollision", `${nameOf(service)}: ${service.virtualIp.note}`)]),
  ];
}

// Hosts under `.global` may be resolved by a DNS server of the cluster; those of any other suffix by sidecars alone.
function dnsFindings({ hostname, remotes, ...service }: FederatedService): readonly Finding[] {
  const suffix = hostname.slice(hostname.lastIndexOf(".") + 1);
  if (suffix === DEFAULT_HOSTNAME_SUFFIX) return [];
  return remotes
    .filter(({ spec }) => spec?.istio?.smartDnsProxyingEnabled !== true)
    .map((mesh) =>
      invalid(
        "DnsProxyingMissing",
        `${nameOf(service)} can't be federated as ${hostname}: ${formatRef(refOf(mesh))} does not proxy DNS, which every suffix but ${DEFAULT_HOSTNAME_SUFFIX} needs: ` +
          "set ISTIO_META_DNS_CAPTURE in its proxies' metadata, or leave out spec.federation.hostnameSuffix",
      ),
    );
}

function addressFindings({ atGateways, atPods, ...service }: FederatedService): readonly Finding[] {
  const mixed = (which: string): Finding =>
    invalid(
      "AddressesMixed",
      `${nameOf(service)} can't be federated: ${which} have host names as well as IPv6 addresses, which Envoy can't hold in one cluster: use one or the other`,
    );
  return [
    ...(atGateways.resolution === undefined ? [mixed(`the gateways of ${formatRef(refOf(service.home))}`)] : []),
    ...(atPods.resolution === undefined ? [mixed("its endpoints")] : []),
  ];
}

function portFindings({ omittedPorts, ...service }: FederatedService): readonly Finding[] {
  return omittedPorts.map(({ port, reason }) =>
    warning("PortNotFederated", `${nameOf(service)}: port ${portName(port)} (${port.port ?? 0}) is not federated: ${reason}`),
  );
}

function nameOf({ destination }: Pick<FederatedService, "destination">): string {
  return formatRef(refOf(destination));
}
