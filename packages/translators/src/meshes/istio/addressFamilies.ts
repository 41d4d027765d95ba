import type { Mesh } from "@isthmus/api";

/** How Kubernetes calls them. */
type AddressFamily = "IPv4" | "IPv6";
/** The families that callers have routes for. */
export type AddressFamilies = readonly AddressFamily[];

const IPV4_ALONE: AddressFamilies = ["IPv4"];

/** The families of the Services of a mesh's cluster, as discovery noted them; IPv4 alone where it noted none. */
export function familiesOf({ spec }: Pick<Mesh, "spec">): AddressFamilies {
  const noted = spec?.istio?.ipFamilies ?? [];
  const families = noted.filter((family): family is AddressFamily => family === "IPv4" || family === "IPv6");
  return families.length === 0 ? IPV4_ALONE : families;
}

/** An address of each family for a host. Both are as unique as the first, and routed nowhere. */
export function virtualIpsIn(families: AddressFamilies, virtualIp: string): readonly string[] {
  return families.map((family) => (family === "IPv4" ? virtualIp : inIpv6(virtualIp)));
}

/** Into the range that routers discard. Source: RFC 6666. */
function inIpv6(ipv4: string): string {
  const [a = 0, b = 0, c = 0, d = 0] = ipv4.split(".").map(Number);
  return `100::${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
}

interface Addressed {
  readonly externalAddresses?: readonly string[];
}

/**
 * Gateways with those of their addresses that callers with these families have routes for. Where there are none, with all of them: what discovery
 * noted is what Services have, and pods may have more. `isReachableFrom` tells of it.
 */
export function gatewaysFor<G extends Addressed>(families: AddressFamilies, gateways: readonly G[]): readonly G[] {
  if (families.length > 1 || !isReachableFrom(families, gateways)) return gateways;
  const isOther = (address: string) => !isRouted(address, families);
  // Nearly always nothing is to be left out.
  if (!gateways.some(({ externalAddresses = [] }) => externalAddresses.some(isOther))) return gateways;
  return gateways.map((gateway) => ({
    ...gateway,
    externalAddresses: (gateway.externalAddresses ?? []).filter((address) => !isOther(address)),
  }));
}

/** Whether callers with these families have a route for some address of gateways, or may have one: what a host name leads to is not known. */
export function isReachableFrom(families: AddressFamilies, gateways: readonly Addressed[]): boolean {
  return gateways.some(({ externalAddresses = [] }) => externalAddresses.some((address) => address !== "" && isRouted(address, families)));
}

function isRouted(address: string, families: AddressFamilies): boolean {
  const isIpv6 = address.split(":").length > 2;
  return families.includes(isIpv6 ? "IPv6" : "IPv4") || (!isIpv6 && !IPV4.test(address));
}

const IPV4 = /^\d{1,3}(\.\d{1,3}){3}$/;
