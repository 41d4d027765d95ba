import { type Destination, Service, VirtualDestination } from "@isthmus/api";
import { type ClusterObjectRef, type CooperativeTask, type EntryChange, FIRST_SEEN, type Snapshot, type Table } from "@isthmus/core";
import { versionsOf } from "../../incremental/changes.ts";
import { reuseIfEqual } from "../../incremental/rows.ts";
import {
  isReserved,
  losingVirtualIps,
  plainAddress,
  plainVirtualIp,
  type VirtualIp,
  type VirtualIpCandidate,
} from "../../policy/hosts/virtualIpAddresses.ts";
import { type Age, type AgeSource, ageOf } from "../../policy/precedence.ts";
import type { AttachmentStep } from "../step.ts";

/** The addresses of federated services and of VirtualDestinations. */
export interface VirtualIps {
  /** Plain addresses that several services would have, or that nobody may. */
  readonly shared: ReadonlySet<number>;
  /** By the key of the Service or VirtualDestination, the addresses of those that can't have their plain one. */
  readonly losers: ReadonlyMap<string, VirtualIp>;
  /** Plain addresses whose services `losers` follows from: as long as those stay, so do they. */
  readonly decisive: ReadonlySet<number>;
}

/** No federated service. */
export const noVirtualIps: VirtualIps = { shared: new Set(), losers: new Map(), decisive: new Set() };

/** An address for each Destination that is federated to some mesh, and for each VirtualDestination. */
export function* assignedVirtualIps(
  { inputs, translationContext, since }: AttachmentStep,
  known: Table<Destination>,
  { before, changes }: { readonly before: VirtualIps; readonly changes: readonly EntryChange<Destination>[] },
): CooperativeTask<VirtualIps> {
  const addresses = new Set<number>();
  for (const destination of versionsOf(changes)) {
    for (const service of federatedServices(destination)) addresses.add(plainAddress(service));
    yield;
  }
  const virtualDestinations = inputs.of(VirtualDestination);
  const named = since === undefined ? virtualDestinations : versionsOf(since.changes.of(VirtualDestination));
  for (const virtualDestination of named) for (const ref of addressedRefs(virtualDestination)) addresses.add(plainAddress(ref));
  const shared = new Set(before.shared);
  for (const address of addresses) {
    yield;
    const key = String(address);
    const count = known.where(byPlainAddress, key).length + virtualDestinations.where(byOwnAddress, key).length;
    if (count > 1 || (count > 0 && isReserved(address))) shared.add(address);
    else shared.delete(address);
  }
  // Few are shared: 18 pairs among 100,000 services. Whether an address in between is taken can depend on any other service.
  if (shared.size === 0) return noVirtualIps;
  // Of a Service its age is read.
  for (const { metadata } of versionsOf(since?.changes.of(Service) ?? [])) {
    const { name, namespace = "", clusterName = "" } = metadata;
    addresses.add(plainAddress({ name, namespace, clusterName }));
    yield;
  }
  // What has come to be shared is a change of who has that address, and so is what no longer is: it was decisive.
  const isDecided = since !== undefined && ![...addresses].some((address) => before.decisive.has(address) || shared.has(address));
  return isDecided ? before : virtualIpsFor(shared, known, { inputs, ages: translationContext.ages, before });
}

function virtualIpsFor(
  shared: ReadonlySet<number>,
  known: Table<Destination>,
  { inputs, ages, before }: { readonly inputs: Snapshot; readonly ages: AgeSource; readonly before: VirtualIps },
): VirtualIps {
  const virtualDestinations = inputs.of(VirtualDestination);
  const claims = new Map<number, readonly VirtualIpCandidate[]>();
  const claimsOn = (address: number) => {
    const made = claims.get(address) ?? [
      ...known.where(byPlainAddress, String(address)).flatMap((one) => claimsOf(one, inputs, ages)),
      ...virtualDestinations
        .where(byOwnAddress, String(address))
        .flatMap((one) => addressedRefs(one).map((service) => ({ service, age: ageOf(one.metadata, ages) }))),
    ];
    claims.set(address, made);
    return made;
  };
  const displaced = losingVirtualIps([...shared].map(claimsOn), claimsOn);
  return {
    shared,
    losers: new Map([...displaced].map(([key, virtualIp]) => [key, reuseIfEqual(virtualIp, before.losers.get(key))])),
    decisive: new Set(claims.keys()),
  };
}

/** VirtualDestinations of the management cluster: only those are translated. */
export function addressedRefs({ metadata }: VirtualDestination): readonly ClusterObjectRef[] {
  const { name, namespace = "", clusterName = "" } = metadata;
  return clusterName === "" ? [{ name, namespace, clusterName }] : [];
}

function byOwnAddress(virtualDestination: VirtualDestination): readonly string[] {
  return addressedRefs(virtualDestination).map((ref) => String(plainAddress(ref)));
}

/** The address of a federated service or VirtualDestination, of which `displaced` tells when it can't have its plain one. */
export function virtualIpOf(service: ClusterObjectRef, displaced: VirtualIp | undefined): VirtualIp {
  return displaced ?? { address: plainVirtualIp(service) };
}

/** Federated Destinations by the plain address of their Service. */
export function byPlainAddress(destination: Destination): readonly string[] {
  return federatedServices(destination).map((service) => String(plainAddress(service)));
}

function federatedServices({ spec, status }: Destination): readonly ClusterObjectRef[] {
  const service = spec?.kubeService?.ref;
  return service === undefined || status?.appliedFederation === undefined ? [] : [service];
}

function claimsOf(destination: Destination, inputs: Snapshot, ages: AgeSource): readonly VirtualIpCandidate[] {
  const service = destination.spec?.kubeService?.ref;
  const age = serviceAge(destination, inputs, ages);
  return service === undefined || age === undefined ? [] : [{ service, age }];
}

/**
 * The age of the Service that a Destination is about: a Destination that was just discovered has none. One that is recalled was
 * published by the plane, when it received the Service or later. Undefined for one that is about no Service.
 */
export function serviceAge({ metadata, spec }: Destination, inputs: Snapshot, ages: AgeSource): Age | undefined {
  const service = spec?.kubeService?.ref;
  if (service === undefined) return undefined;
  const { clusterName } = service;
  const known = inputs.of(Service).get(service)?.metadata;
  const creationTimestamp = known?.creationTimestamp ?? metadata.creationTimestamp;
  const stamp = (known ?? metadata).annotations?.[FIRST_SEEN];
  const received = known === undefined ? (stamp ?? creationTimestamp) : stamp;
  return ageOf({ clusterName, ...(creationTimestamp === undefined ? {} : { creationTimestamp }) }, ages, received);
}
