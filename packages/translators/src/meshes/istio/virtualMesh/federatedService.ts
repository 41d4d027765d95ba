import type { Destination, Mesh, ServiceEntryPort, WorkloadEntry } from "@isthmus/api";
import type { Resource } from "@isthmus/core";
import type { VirtualIp } from "../../../policy/hosts/virtualIpAddresses.ts";
import type { DestinationInputs } from "../../inputs.ts";
import { type AddressFamilies, gatewaysFor } from "../addressFamilies.ts";
import { atMostEndpoints, gatewayEndpoints, localEndpoints, resolutionOf } from "./endpoints.ts";
import { federatedPorts, type OmittedPort } from "./ports.ts";

/** A service as other meshes see it. */
export interface FederatedService {
  readonly destination: Destination;
  readonly virtualMesh: Resource;
  /** The Istio mesh that the service is in. */
  readonly home: Mesh;
  /** The Istio meshes that call it by its federated host name. */
  readonly remotes: readonly Mesh[];
  readonly hostname: string;
  readonly virtualIp: VirtualIp;
  readonly ports: readonly ServiceEntryPort[];
  /** Ports that Istio would refuse. */
  readonly omittedPorts: readonly OmittedPort[];
  /** Seen from elsewhere: the gateways of its mesh, at addresses of families that callers have. */
  readonly atGateways: (families: AddressFamilies) => FederatedEndpoints;
  /** Seen from its own gateways: its pods. */
  readonly atPods: FederatedEndpoints;
}

export interface FederatedEndpoints {
  /** As many as a ServiceEntry can have. */
  readonly endpoints: readonly WorkloadEntry[];
  /** Undefined when the addresses cannot be put into one ServiceEntry. */
  readonly resolution: "STATIC" | "DNS" | undefined;
  /** How many there are. */
  readonly total: number;
}

/** A Destination as other meshes see it; undefined when it is not federated. What it is federated to may be yet to come: then nobody calls it. */
export function federatedServiceOf(inputs: DestinationInputs): FederatedService | undefined {
  const { destination, mesh, virtualMesh, federatedTo, virtualIp, gateways, workloads } = inputs;
  const hostname = destination.status?.appliedFederation?.federatedHostname;
  const { kubeService } = destination.spec ?? {};
  if (virtualMesh === undefined || virtualIp === undefined || !hostname || kubeService === undefined) return undefined;
  const { ports, omitted } = federatedPorts(kubeService.ports ?? []);
  const source = { kubeService, ports, workloads };
  return {
    destination,
    virtualMesh,
    home: mesh,
    remotes: distinctPlaces(mesh, federatedTo),
    hostname,
    virtualIp,
    ports,
    omittedPorts: omitted,
    atGateways: byFamilies((families) => groupOf(gatewayEndpoints(source, gatewaysFor(families, gateways)))),
    atPods: groupOf(localEndpoints(source)),
  };
}

/** Most callers have the same families. */
function byFamilies(make: (families: AddressFamilies) => FederatedEndpoints): (families: AddressFamilies) => FederatedEndpoints {
  const made = new Map<string, FederatedEndpoints>();
  return (families) => {
    const key = families.join();
    const known = made.get(key) ?? make(families);
    made.set(key, known);
    return known;
  };
}

function groupOf(endpoints: readonly WorkloadEntry[]): FederatedEndpoints {
  return { endpoints: atMostEndpoints(endpoints), resolution: resolutionOf(addressesOf(endpoints)), total: endpoints.length };
}

function* addressesOf(endpoints: readonly WorkloadEntry[]): Iterable<string> {
  for (const { address = "" } of endpoints) yield address;
}

/** One mesh for each control plane namespace other than the service's own: revisions of a control plane share theirs, and so our objects. */
function distinctPlaces(home: Mesh, meshes: readonly Mesh[]): readonly Mesh[] {
  const byPlace = new Map<string, Mesh>();
  for (const mesh of meshes) if (!byPlace.has(placeOf(mesh))) byPlace.set(placeOf(mesh), mesh);
  byPlace.delete(placeOf(home));
  return [...byPlace.values()];
}

function placeOf({ spec }: Mesh): string {
  const { namespace = "", cluster = "" } = spec?.istio?.installation ?? {};
  return `${namespace}.${cluster}`;
}
