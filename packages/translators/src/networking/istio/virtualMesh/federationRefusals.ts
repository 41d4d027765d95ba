import type { Destination, DestinationStatus, EndpointSubset, Mesh } from "@isthmus/api";
import { formatRef, type ObjectRef, refOf } from "@isthmus/core";
import { type Finding, invalid } from "../../../findings.ts";
import { DEFAULT_HOSTNAME_SUFFIX } from "../hostnames.ts";
import { gatewayMissing } from "./eastWestGateways.ts";
import { hasAddress, resolutionOf } from "./endpoints.ts";

type AppliedFederation = NonNullable<DestinationStatus["appliedFederation"]>;

/** Finds a mesh, as attached: with its gateways in its status. */
type Meshes = (ref: Partial<ObjectRef>) => Mesh | undefined;

/**
 * Why a service can't be federated although its VirtualMesh says so; all of them INVALID. Meshes other than Istio's federate
 * nothing, so nothing is wrong with their services.
 */
export function federationRefusals(destination: Destination, federation: AppliedFederation, meshOf: Meshes): readonly Finding[] {
  const home = meshOf(destination.spec?.mesh ?? {});
  if (home?.spec?.istio === undefined) return [];
  const gateways = home.status?.appliedEastWestIngressGateways ?? [];
  return [
    ...(gateways.length === 0 ? [gatewayMissing(home)] : []),
    ...dnsFindings(destination, federation, meshOf),
    ...addressFindings(destination, home),
  ];
}

// Hosts under `.global` may be resolved by a DNS server of the cluster; those of any other suffix by sidecars alone.
function dnsFindings(destination: Destination, federation: AppliedFederation, meshOf: Meshes): readonly Finding[] {
  const { federatedHostname: hostname = "", federatedToMeshes = [] } = federation;
  if (hostname.slice(hostname.lastIndexOf(".") + 1) === DEFAULT_HOSTNAME_SUFFIX) return [];
  const callers = federatedToMeshes.flatMap((ref) => meshOf(ref) ?? []);
  return callers
    .filter(({ spec }) => spec?.istio !== undefined && spec.istio.smartDnsProxyingEnabled !== true)
    .map((mesh) =>
      invalid(
        "DnsProxyingMissing",
        `${formatRef(refOf(destination))} can't be federated as ${hostname}: ${formatRef(refOf(mesh))} does not proxy DNS, which every suffix but ${DEFAULT_HOSTNAME_SUFFIX} needs: ` +
          "set ISTIO_META_DNS_CAPTURE in its proxies' metadata, or leave out spec.federation.hostnameSuffix",
      ),
    );
}

function addressFindings(destination: Destination, home: Mesh): readonly Finding[] {
  const subsets = destination.spec?.kubeService?.endpointSubsets ?? [];
  const gateways = home.status?.appliedEastWestIngressGateways ?? [];
  // Without pods behind it there is nothing to be reached through a gateway.
  const hasEndpoints = subsets.some(({ endpoints = [] }) => endpoints.some(hasAddress));
  const entrances = hasEndpoints ? gateways.flatMap(({ externalAddresses = [] }) => externalAddresses) : [];
  const mixed = (which: string): Finding =>
    invalid(
      "AddressesMixed",
      `${formatRef(refOf(destination))} can't be federated: ${which} have host names as well as IPv6 addresses, which Envoy can't hold in one cluster: use one or the other`,
    );
  return [
    ...(isMixed(entrances) ? [mixed(`the gateways of ${formatRef(refOf(home))}`)] : []),
    ...(isMixed(podAddresses(subsets)) ? [mixed("its endpoints")] : []),
  ];
}

function* podAddresses(subsets: readonly EndpointSubset[]): Iterable<string> {
  for (const { endpoints = [] } of subsets) for (const endpoint of endpoints) if (hasAddress(endpoint)) yield endpoint.ipAddress ?? "";
}

function isMixed(addresses: Iterable<string>): boolean {
  return resolutionOf(addresses) === undefined;
}
