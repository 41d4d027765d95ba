import { type ClusterObjectRef, compareKeys, displayName, keyOf } from "@isthmus/core";
import { type Age, compareAges } from "../precedence.ts";

/** A federated service, or a VirtualDestination, that needs an address in the meshes that call it. */
export interface VirtualIpCandidate {
  /** Of a VirtualDestination without a cluster: it is in the management cluster. */
  readonly service: ClusterObjectRef;
  /** Of the Service or VirtualDestination. */
  readonly age: Age;
}

/** The address that stands for a federated host in other clusters. */
export interface VirtualIp {
  readonly address: string;
  /** Why it is another address than the plain hash of the service's name, in words; absent when it is that. */
  readonly note?: string;
}

/**
 * The addresses, by `keyOf` the service, of those services that can't have the plain hash of their names, which is the published product's,
 * so that addresses agree with it. Services take their addresses in order of age, so that none depends on a younger one: each takes its
 * plain hash, or while an older one has that, hashes again with a counter; addresses that are not free for us are passed over in the
 * same way. `shared`: the plain addresses that several services would have, or that nobody may, each with all who would have it.
 * `claimsOn`: the services that would have an address by their plain hash.
 */
export function losingVirtualIps(
  shared: Iterable<readonly VirtualIpCandidate[]>,
  claimsOn: (address: number) => readonly VirtualIpCandidate[],
): ReadonlyMap<string, VirtualIp> {
  const displaced = new Set<string>();
  const waiting: VirtualIpCandidate[] = [];
  const displace = (claims: readonly VirtualIpCandidate[]) => {
    for (const claim of claims) {
      if (displaced.has(keyOf(claim.service))) continue;
      displaced.add(keyOf(claim.service));
      waiting.push(claim);
    }
    // The oldest last.
    waiting.sort((a, b) => compareClaims(b, a));
  };
  for (const claims of shared) {
    const [oldest, ...others] = [...claims].sort(compareClaims);
    if (oldest !== undefined) displace(isReserved(plainAddress(oldest.service)) ? claims : others);
  }

  const given = new Map<number, VirtualIpCandidate>();
  const found: { readonly claim: VirtualIpCandidate; readonly address: number }[] = [];
  const isFree = (address: number, claim: VirtualIpCandidate) =>
    !given.has(address) && !isReserved(address) && claimsOn(address).every((other) => compareClaims(claim, other) < 0);
  for (let claim = waiting.pop(); claim !== undefined; claim = waiting.pop()) {
    let attempt = 1;
    let address = virtualIpHash(claim.service, attempt);
    while (!isFree(address, claim)) address = virtualIpHash(claim.service, ++attempt);
    given.set(address, claim);
    found.push({ claim, address });
    // Whose plain hash this is, is younger: it finds its address later.
    const younger = claimsOn(address);
    if (younger.length > 0) displace(younger);
  }
  const virtualIps = new Map<string, VirtualIp>();
  for (const { claim, address } of found) {
    const { service } = claim;
    const plain = virtualIpHash(service);
    const owner = given.get(plain) ?? (isReserved(plain) ? undefined : oldestOf(claimsOn(plain)));
    virtualIps.set(keyOf(service), { address: ipOf(address), note: noteOf(plain, address, owner) });
  }
  return virtualIps;
}

function oldestOf(claims: readonly VirtualIpCandidate[]): VirtualIpCandidate | undefined {
  return [...claims].sort(compareClaims)[0];
}

/** The address that the hash of its name gives a service, as a number. */
export function plainAddress(service: ClusterObjectRef): number {
  return virtualIpHash(service);
}

/** The address of a service whose hash nobody shares, such as `244.80.133.147`. */
export function plainVirtualIp(service: ClusterObjectRef): string {
  return ipOf(virtualIpHash(service));
}

// 32-bit FNV-1 over name, namespace and cluster, put into 240.0.0.0/4: addresses that are routed nowhere.
// Source: the published product, whose users have these addresses in their configuration and logs.
function virtualIpHash({ name, namespace, clusterName }: ClusterObjectRef, attempt = 0): number {
  const scope = clusterName === "" ? "local-resource" : "kube-service";
  const text = `${name}${namespace}${clusterName}${scope}${attempt === 0 ? "" : `#${attempt}`}`;
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash, 0x01000193) ^ text.charCodeAt(i);
  // The hash's lowest byte comes first in the address. Signed, as such numbers are the quicker keys.
  return ((hash | 0xf0) << 24) | ((hash & 0xff00) << 8) | ((hash >>> 8) & 0xff00) | (hash >>> 24);
}

/** The limited broadcast address, and the range from which Istio itself hands out addresses (istio.io: ServiceEntry, automatic allocation). */
export function isReserved(address: number): boolean {
  return address === -1 || address >>> 16 === 0xf0f0;
}

function ipOf(address: number): string {
  return [address >>> 24, (address >>> 16) & 0xff, (address >>> 8) & 0xff, address & 0xff].join(".");
}

function compareClaims(a: VirtualIpCandidate, b: VirtualIpCandidate): number {
  return compareAges(a.age, b.age) || compareKeys(keyOf(a.service), keyOf(b.service));
}

function noteOf(plain: number, address: number, owner: VirtualIpCandidate | undefined): string {
  if (owner === undefined) return `its default virtual IP ${ipOf(plain)} is reserved; it has ${ipOf(address)} instead`;
  const { name, namespace, clusterName } = owner.service;
  const what = clusterName === "" ? "VirtualDestination" : "the older service";
  return `its default virtual IP ${ipOf(plain)} is used by ${what} ${displayName({ name, namespace, clusterName })}; it has ${ipOf(address)} instead`;
}
