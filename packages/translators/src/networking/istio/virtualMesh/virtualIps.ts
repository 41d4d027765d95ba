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
 * The addresses, by `keyOf` the service, of those services that can't have the plain hash of their names, which is the published product's,
 * so that addresses agree with it. Where two services share a hash, the older one keeps it and the younger one hashes again with a
 * counter; addresses that are not free for us are passed over in the same way. `shared`: the plain addresses that several services would
 * have, or that nobody may, each with all who would have it. `isTaken`: whether some service would have an address by its plain hash.
 */
export function displacedVirtualIps(
  shared: Iterable<readonly VirtualIpClaim[]>,
  isTaken: (address: number) => boolean,
): ReadonlyMap<string, VirtualIp> {
  const owners = new Map<number, VirtualIpClaim>();
  const displaced: VirtualIpClaim[] = [];
  for (const claims of shared) {
    const [oldest, ...others] = [...claims].sort(compareAge);
    if (oldest === undefined) continue;
    const plain = virtualIpHash(oldest.service);
    if (isReserved(plain)) displaced.push(oldest);
    else owners.set(plain, oldest);
    displaced.push(...others);
  }

  const given = new Set<number>();
  const virtualIps = new Map<string, VirtualIp>();
  for (const { service } of displaced.sort(compareAge)) {
    let attempt = 1;
    let address = virtualIpHash(service, attempt);
    while (given.has(address) || isTaken(address) || isReserved(address)) address = virtualIpHash(service, ++attempt);
    given.add(address);
    const plain = virtualIpHash(service);
    virtualIps.set(keyOf(service), { address: ipOf(address), note: noteOf(plain, address, owners.get(plain)) });
  }
  return virtualIps;
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
  const text = `${name}${namespace}${clusterName}kube-service${attempt === 0 ? "" : `#${attempt}`}`;
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
