import type { Destination, EndpointSubset, Mesh } from "@isthmus/api";
import { DEFAULT_HOSTNAME_SUFFIX, formatRef, type ObjectRef, refOf } from "@isthmus/core";
import { type Finding, invalidFinding, warningFinding } from "../../../findings.ts";
import type { AppliedFederation, MeshLookup } from "../../meshTranslator.ts";
import { gatewayMissing } from "./eastWestGateways.ts";
import { hasAddress, resolutionOf } from "./endpoints.ts";

/**
 * Why a service can't be federated although its VirtualMesh says so; a WARNING where it can't be to some meshes only, whose fault
 * keeps nothing from the others. Meshes other than Istio's federate nothing, so nothing is wrong with their services.
 */
export function federationRefusals(destination: Destination, federation: AppliedFederation, meshOf: MeshLookup): readonly Finding[] {
  const home = meshOf(destination.spec?.mesh ?? {});
  if (home?.spec?.istio === undefined) return [];
  const gateways = home.status?.appliedEastWestIngressGateways ?? [];
  return [
    ...(gateways.length === 0 ? [gatewayMissing(home)] : []),
    ...dnsFindings(destination, federation, meshOf),
    ...addressFindings(destination, home),
  ];
}

/** Hosts under `.global` may be resolved by a DNS server of the cluster; those of any other suffix by sidecars alone. */
export function needsDnsProxying(hostname: string): boolean {
  return hostname.slice(hostname.lastIndexOf(".") + 1) !== DEFAULT_HOSTNAME_SUFFIX;
}

function dnsFindings(destination: Destination, federation: AppliedFederation, meshOf: MeshLookup): readonly Finding[] {
  const { federatedHostname: hostname = "", federatedToMeshes = [] } = federation;
  if (!needsDnsProxying(hostname)) return [];
  const callers = federatedToMeshes.flatMap((ref) => meshOf(ref) ?? []);
  const isForOthers = callers.some((mesh) => mesh.spec?.istio !== undefined && !lacksDnsProxying(mesh));
  const name = formatRef(refOf(destination));
  return callers.filter(lacksDnsProxying).map((mesh) => {
    const caller = formatRef(refOf(mesh));
    const why =
      `does not proxy DNS, which every suffix except ${DEFAULT_HOSTNAME_SUFFIX} requires: set ISTIO_META_DNS_CAPTURE in the metadata of its proxies, ` +
      "or remove spec.federation.hostnameSuffix";
    return isForOthers
      ? warningFinding("DnsProxyingMissing", `${name} is not federated to ${caller} as ${hostname}: the mesh ${why}`)
      : invalidFinding("DnsProxyingMissing", `${name} cannot be federated as ${hostname}: ${caller} ${why}`);
  });
}

/** The meshes that a host name with a suffix of its own can be resolved in. */
export function meshesThatResolve({ federatedToMeshes = [] }: AppliedFederation, meshOf: MeshLookup): readonly ObjectRef[] {
  return federatedToMeshes.filter((ref) => {
    const mesh = meshOf(ref);
    return mesh === undefined || !lacksDnsProxying(mesh);
  });
}

/** Whether the sidecars of a mesh leave host names to the cluster's DNS. */
export function lacksDnsProxying({ spec }: Mesh): boolean {
  return spec?.istio !== undefined && spec.istio.smartDnsProxyingEnabled !== true;
}

function addressFindings(destination: Destination, home: Mesh): readonly Finding[] {
  const subsets = destination.spec?.kubeService?.endpointSubsets ?? [];
  const gateways = home.status?.appliedEastWestIngressGateways ?? [];
  // Without pods behind it there is nothing to be reached through a gateway.
  const hasEndpoints = subsets.some(({ endpoints = [] }) => endpoints.some(hasAddress));
  const entrances = hasEndpoints ? gateways.flatMap(({ externalAddresses = [] }) => externalAddresses) : [];
  const mixed = (which: string): Finding =>
    invalidFinding(
      "AddressesMixed",
      `${formatRef(refOf(destination))} cannot be federated: ${which} have both host names and IPv6 addresses, which Envoy does not support in one cluster: use one or the other`,
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
