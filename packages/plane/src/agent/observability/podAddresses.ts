import { EndpointSlice, Pod, ReplicaSet } from "@isthmus/api";
import { equalJson, type Index, keptText, type Resource, type ResourceRef, type Snapshot } from "@isthmus/core";

/** A pod that a cluster gave an address to, and the controller that it belongs to; the pod itself where it has none. */
interface PodWithAddress {
  readonly namespace: string;
  readonly name: string;
  readonly workloadName: string;
}

/** The pods that have an address: several where they share that of their node. */
export type PodLookup = (address: string) => readonly PodWithAddress[];

/** Which pods have an address: the kubelet's word in their statuses, of which agents keep nothing else. */
export interface PodAddresses {
  /** A pod as the API server has it. */
  seen(pod: Resource): void;
  removed(ref: ResourceRef): void;
  /** The first one of a pod: of two families that which Kubernetes prefers. */
  of(namespace: string, name: string): string | undefined;
  /** `namespace/name` of the pods that run at an address. */
  at(address: string): Iterable<string>;
}

/** Knows none yet. */
export function podAddresses(): PodAddresses {
  const ofPod = new Map<string, readonly string[]>();
  const at = new Map<string, Set<string>>();

  function set(key: string, addresses: readonly string[]): void {
    const before = ofPod.get(key) ?? NONE;
    if (equalJson(before, addresses)) return;
    for (const address of before) {
      const pods = at.get(address);
      pods?.delete(key);
      if (pods?.size === 0) at.delete(address);
    }
    if (addresses.length === 0) ofPod.delete(key);
    else ofPod.set(key, addresses);
    for (const address of addresses) at.set(address, (at.get(address) ?? new Set()).add(key));
  }

  return {
    seen(pod) {
      const { phase, podIPs } = ((pod as PodWithStatus).status ?? {}) as NonNullable<PodWithStatus["status"]>;
      // The address of one that has ended may be another pod's by now.
      const isOver = phase === "Succeeded" || phase === "Failed";
      const ips = isOver || !Array.isArray(podIPs) ? [] : podIPs.map((one) => one?.ip);
      const addresses = ips.filter((ip): ip is string => typeof ip === "string" && ip.length <= LONGEST_ADDRESS);
      set(
        `${pod.metadata.namespace ?? ""}/${pod.metadata.name}`,
        addresses.slice(0, MOST_ADDRESSES).map((ip) => keptText(ip, LONGEST_ADDRESS)),
      );
    },
    removed: ({ namespace, name }) => set(`${namespace}/${name}`, NONE),
    of: (namespace, name) => ofPod.get(`${namespace}/${name}`)?.[0],
    at: (address) => at.get(address) ?? NONE,
  };
}

interface PodWithStatus {
  readonly status?: { readonly phase?: unknown; readonly podIPs?: readonly ({ readonly ip?: unknown } | null)[] };
}

const NONE: readonly string[] = [];
const LONGEST_ADDRESS = 64;

/** The pods that have an address, and what they belong to. */
export function podsAtAddress(cluster: Snapshot, addresses: PodAddresses, { address, clusterName }: Place): readonly PodWithAddress[] {
  return [...addresses.at(address)].map((key) => {
    const [namespace = "", name = ""] = key.split("/");
    return { namespace, name, workloadName: workloadOfPod(cluster, { name, namespace, clusterName }) };
  });
}

interface Place {
  readonly address: string;
  readonly clusterName: string;
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
