import type { Endpoint, EndpointSlice, EndpointSubset, Endpoints, Node, Service } from "@isthmus/api";
import { compareKeys, intern } from "@isthmus/core";
import { memoizeRow } from "../incremental/memoizeRow.ts";
import type { LabelsOfPod } from "./endpointLabels.ts";
import { subZoneOf, zoneOf } from "./nodes.ts";
import { isZero, withoutZeroValues } from "./zeroValues.ts";

/** One ready address behind a Service, from either kind of source. */
export interface Address {
  readonly ip: string;
  readonly nodeName: string;
  /** As the source says it, for nodes that we don't know. */
  readonly zone: string;
  /** Name of the pod, when it is one of the Service's namespace. */
  readonly podName: string;
}

/** Ready addresses that share their ports. */
export interface AddressGroup {
  readonly addresses: readonly Address[];
  readonly ports: readonly AddressPort[];
}

interface AddressPort {
  readonly port?: number;
  readonly name?: string;
  readonly protocol?: string;
  readonly appProtocol?: string;
}

/** The ready addresses of a Service: of its slices, or of its Endpoints where it has none, as in clusters before Kubernetes 1.21. */
export function addressGroups(
  service: Service,
  slices: readonly EndpointSlice[],
  endpoints: Endpoints | undefined,
): readonly AddressGroup[] {
  return slices.length > 0 ? groupsOfSlices(service, slices) : groupsOfEndpoints(service, endpoints);
}

function groupsOfEndpoints({ metadata }: Service, endpoints: Endpoints | undefined): readonly AddressGroup[] {
  return (endpoints?.subsets ?? [])
    .map(({ addresses = [], ports = [] }) => ({
      addresses: addresses.map(({ ip = "", nodeName = "", targetRef }) => ({
        ip,
        nodeName,
        zone: "",
        podName: podNameOf(targetRef, metadata.namespace),
      })),
      ports: ports.map(portOf),
    }))
    .filter(({ addresses }) => addresses.length > 0);
}

/**
 * Kubernetes spreads the addresses of a Service over slices as it likes: here those with equal ports are together again, each
 * address once and in order, so that a new division of the same addresses changes nothing.
 */
function groupsOfSlices(service: Service, slices: readonly EndpointSlice[]): readonly AddressGroup[] {
  const family = addressFamily(service, slices);
  const groups = new Map<string, { readonly ports: readonly AddressPort[]; readonly addresses: Address[] }>();
  for (const { addressType, endpoints = [], ports = NO_PORTS } of slices) {
    if (addressType !== undefined && addressType !== family) continue;
    const { key, sorted } = portsInOrder(ports);
    const group = groups.get(key) ?? { ports: sorted, addresses: [] };
    for (const { addresses = [], conditions, nodeName = "", zone = "", targetRef } of endpoints) {
      // Kubernetes: a condition that is not given counts as ready.
      if (conditions?.ready === false) continue;
      const podName = podNameOf(targetRef, service.metadata.namespace);
      for (const ip of addresses) group.addresses.push({ ip, nodeName, zone, podName });
    }
    if (group.addresses.length > 0) groups.set(key, group);
  }
  return [...groups.keys()].sort().flatMap((key) => {
    const group = groups.get(key);
    return group === undefined ? [] : [{ ports: group.ports, addresses: inOrder(group.addresses) }];
  });
}

/** By address; of those that come more than once, the last. */
function inOrder(addresses: readonly Address[]): readonly Address[] {
  const sorted = [...addresses].sort((a, b) => compareKeys(a.ip, b.ip));
  return sorted.filter(({ ip }, i) => ip !== sorted[i + 1]?.ip);
}

const NO_PORTS: readonly AddressPort[] = [];

// Slices of a whole fleet have few lists of ports between them, each of which is held once.
const portsInOrder = memoizeRow((ports: readonly AddressPort[]) => {
  const sorted = intern(ports.map(portOf).sort((a, b) => compareKeys(portKey(a), portKey(b))));
  return { sorted, key: sorted.map(portKey).join() };
});

/** The family that clients of a Service use: each pod of a dual-stack Service would count twice otherwise. */
function addressFamily(service: Service, slices: readonly EndpointSlice[]): string {
  const preferred = service.spec?.ipFamilies?.[0] ?? "IPv4";
  if (slices.every(({ addressType }) => addressType === preferred)) return preferred;
  const present = new Set(slices.map(({ addressType = "" }) => addressType));
  return [preferred, "IPv4", "IPv6", "FQDN"].find((family) => present.has(family)) ?? preferred;
}

function podNameOf(target: { readonly name?: string; readonly namespace?: string } | undefined, namespace: string | undefined): string {
  return target?.namespace === namespace ? (target?.name ?? "") : "";
}

function portOf({ port, name, protocol, appProtocol }: AddressPort): AddressPort {
  return withoutZeroValues({ port, name, protocol, appProtocol });
}

function portKey({ port = 0, name = "", protocol = "", appProtocol = "" }: AddressPort): string {
  return [name, port, protocol, appProtocol].join("/");
}

/** The names of the nodes that addresses are on, sorted. */
export function nodeNamesOf(groups: readonly AddressGroup[]): readonly string[] {
  const names = new Set<string>();
  for (const { addresses } of groups) for (const { nodeName } of addresses) if (nodeName !== "") names.add(nodeName);
  return [...names].sort();
}

/** What is known of those behind addresses. */
export interface EndpointFacts {
  readonly labelsOf: LabelsOfPod;
  readonly nodes: readonly Node[];
  /** The names of pods without a sidecar. */
  readonly outside: ReadonlySet<string>;
}

/** Address groups as a Destination shows them: with the labels of the workload behind each address, where it runs, and whether it has no sidecar. */
export function endpointSubsets(groups: readonly AddressGroup[], { labelsOf, nodes, outside }: EndpointFacts): readonly EndpointSubset[] {
  const nodesByName = new Map(nodes.map((node) => [node.metadata.name, node]));
  return groups.map(({ addresses, ports }) => ({
    endpoints: addresses.map((address) => {
      const endpoint = endpointOf(address, labelsOf, nodesByName.get(address.nodeName));
      return outside.has(address.podName) ? { ...endpoint, outsideMesh: true } : endpoint;
    }),
    ...withoutZeroValues({ ports }),
  }));
}

function endpointOf({ ip, podName, zone: statedZone }: Address, labelsOf: LabelsOfPod, node: Node | undefined): Endpoint {
  const labels = (podName === "" ? undefined : labelsOf(podName)) ?? NO_LABELS;
  const subLocality = node === undefined ? withoutZeroValues({ zone: statedZone }) : subLocalityOf(node);
  // Nearly all of a million have all three, and so no room for others.
  if (ip !== "" && !isZero(labels) && !isZero(subLocality)) return { ipAddress: ip, labels, subLocality };
  return withoutZeroValues({ ipAddress: ip, labels, subLocality });
}

const NO_LABELS: Readonly<Record<string, string>> = {};

// One for all endpoints on a node.
const subLocalityOf = memoizeRow((node: Node) => {
  const zone = zoneOf(node);
  return zone === "" ? {} : withoutZeroValues({ zone, subZone: subZoneOf(node) });
});
