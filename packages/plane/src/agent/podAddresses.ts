import { EndpointSlice, Pod, ReplicaSet } from "@isthmus/api";
import type { Index, Resource, Snapshot } from "@isthmus/core";

/** A pod that a cluster gave an address to, and the controller that it belongs to; the pod itself where it has none. */
interface PodWithAddress {
  readonly namespace: string;
  readonly name: string;
  readonly workloadName: string;
}

/** The pods that have an address: several where they share that of their node. */
export type PodLookup = (address: string) => readonly PodWithAddress[];

/**
 * The pods behind Services that have an address, by EndpointSlices: agents keep no status of pods. A pod behind no Service is not found.
 */
export function podsAtAddress(snapshot: Snapshot, address: string): readonly PodWithAddress[] {
  const found = new Map<string, PodWithAddress>();
  for (const slice of snapshot.of(EndpointSlice).where(byAddress, address)) {
    const { clusterName = "" } = slice.metadata;
    for (const { addresses = [], targetRef } of slice.endpoints ?? []) {
      const { namespace = "" } = slice.metadata;
      const { kind, name, namespace: there = namespace } = targetRef ?? {};
      // Who may write EndpointSlices in one namespace says nothing of the pods of another one.
      if (kind !== "Pod" || name === undefined || there !== namespace || !addresses.includes(address)) continue;
      found.set(`${namespace}/${name}`, { namespace, name, workloadName: workloadOfPod(snapshot, { name, namespace, clusterName }) });
    }
  }
  return [...found.values()];
}

/**
 * The addresses of the pods of a namespace behind its Services, by the name of the pod: at most four of each, the one of a Service with two families twice. They
 * are what those who may write EndpointSlices there say.
 */
export function podAddressesIn(snapshot: Snapshot, namespace: string): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>();
  for (const slice of snapshot.of(EndpointSlice).where(byNamespace, namespace)) {
    for (const { addresses = [], targetRef } of slice.endpoints ?? []) {
      const { kind, name, namespace: there = namespace } = targetRef ?? {};
      if (kind !== "Pod" || name === undefined || there !== namespace) continue;
      const known = found.get(name) ?? new Set<string>();
      for (const address of addresses) if (known.size < MOST_ADDRESSES) known.add(address);
      found.set(name, known);
    }
  }
  return found;
}

const MOST_ADDRESSES = 4;

const byNamespace: Index<EndpointSlice> = ({ metadata }) => [metadata.namespace ?? ""];

/** Which pod is meant. */
export interface PodRef {
  readonly name: string;
  readonly namespace: string;
  readonly clusterName: string;
}

/** The name of the controller that a pod belongs to; that of the pod itself where it has none. */
export function workloadOfPod(snapshot: Snapshot, pod: PodRef): string {
  const owner = controllerOf(snapshot.of(Pod).get(pod));
  if (owner?.kind !== "ReplicaSet") return owner?.name ?? pod.name;
  return controllerOf(snapshot.of(ReplicaSet).get({ ...pod, name: owner.name }))?.name ?? owner.name;
}

function controllerOf(resource: Resource | undefined): { readonly kind: string; readonly name: string } | undefined {
  return resource?.metadata.ownerReferences?.find(({ controller }) => controller === true);
}

function byAddress({ endpoints = [] }: EndpointSlice): readonly string[] {
  return [...new Set(endpoints.flatMap(({ addresses = [] }) => addresses))];
}
