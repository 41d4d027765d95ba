import { type ClusterObjectRef, compareKeys, keyOf } from "@isthmus/core";

/** A federated service that needs an address in the meshes it is federated to. */
export interface VirtualIpClaim {
  readonly service: ClusterObjectRef;
  /** When the Service was made, RFC 3339; absent: not made yet, the youngest of all. */
  readonly creationTimestamp?: string;
}

/** The address that stands for a federated host in other clusters. */
export interface VirtualIp {
  readonly address: string;
  /** Why it is another address than the plain hash of the service's name, in words; absent when it is that. */
  readonly note?: string;
}

/**
 * One address for each federated service, by `keyOf` the service; never two services on one address. The address is the published product's hash of
 * the service's name, so that addresses agree with it. Where two services share a hash, the older one keeps it and the younger
 * one hashes again with a counter; addresses that are not free for us are passed over in the same way.
 */
export function assignVirtualIps(claims: Iterable<VirtualIpClaim>): ReadonlyMap<string, VirtualIp> {
  const owners = new Map<number, VirtualIpClaim>();
  const displaced: VirtualIpClaim[] = [];
  for (const claim of claims) {
    const plain = virtualIpHash(claim.service);
    const owner = owners.get(plain);
    if (isReserved(plain)) displaced.push(claim);
    else if (owner === undefined) owners.set(plain, claim);
    else if (compareAge(claim, owner) < 0) {
      displaced.push(owner);
      owners.set(plain, claim);
    } else displaced.push(claim);
  }

  const notes = new Map<number, string>();
  for (const claim of displaced.sort(compareAge)) {
    let attempt = 1;
    let address = virtualIpHash(claim.service, attempt);
    while (owners.has(address) || isReserved(address)) address = virtualIpHash(claim.service, ++attempt);
    const plain = virtualIpHash(claim.service);
    notes.set(address, noteOf(plain, address, owners.get(plain)));
    owners.set(address, claim);
  }

  const virtualIps = new Map<string, VirtualIp>();
  for (const [address, { service }] of owners) {
    const note = notes.get(address);
    virtualIps.set(keyOf(service), { address: ipOf(address), ...(note === undefined ? {} : { note }) });
  }
  return virtualIps;
}

/** The address of a service whose hash nobody shares, such as `244.80.133.147`. */
export function plainVirtualIp(service: ClusterObjectRef): string {
  return ipOf(virtualIpHash(service));
}

// 32-bit FNV-1 over name, namespace and cluster, put into 240.0.0.0/4: addresses that are routed nowhere.
// Source: the published product, whose users have these addresses in their configuration and logs.
function virtualIpHash({ name, namespace, clusterName }: ClusterObjectRef, attempt = 0): number {
  const text = `${name}${namespace}${clusterName}kube-service${attempt === 0 ? "" : `#${attempt}`}`;
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash, 0x01000193) ^ text.charCodeAt(i);
  // The hash's lowest byte comes first in the address. Signed, as such numbers are the quicker keys.
  return ((hash | 0xf0) << 24) | ((hash & 0xff00) << 8) | ((hash >>> 8) & 0xff00) | (hash >>> 24);
}

/** The limited broadcast address, and the range from which Istio itself hands out addresses (istio.io: ServiceEntry, automatic allocation). */
function isReserved(address: number): boolean {
  return address === -1 || address >>> 16 === 0xf0f0;
}

function ipOf(address: number): string {
  return `${address >>> 24}.${(address >>> 16) & 0xff}.${(address >>> 8) & 0xff}.${address & 0xff}`;
}

function compareAge(a: VirtualIpClaim, b: VirtualIpClaim): number {
  // "~" sorts after every date.
  const byAge = compareKeys(a.creationTimestamp ?? "~", b.creationTimestamp ?? "~");
  return byAge === 0 ? compareKeys(keyOf(a.service), keyOf(b.service)) : byAge;
}

function noteOf(plain: number, address: number, owner: VirtualIpClaim | undefined): string {
  if (owner === undefined) return `its usual virtual IP ${ipOf(plain)} is reserved; it has ${ipOf(address)} instead`;
  const { name, namespace, clusterName } = owner.service;
  return `its usual virtual IP ${ipOf(plain)} belongs to the older service ${name}.${namespace} in ${clusterName}; it has ${ipOf(address)} instead`;
}
