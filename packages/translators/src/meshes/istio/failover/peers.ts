import type { Destination, Mesh, ServiceEntryPort } from "@isthmus/api";
import type { DestinationInputs, FailoverPeer } from "../../inputs.ts";
import { identitiesOf, spiffeIds } from "../access/identities.ts";
import { familiesOf, gatewaysFor } from "../addressFamilies.ts";
import { hasAddress, labelling, resolutionOf, TLS_MODE_LABEL } from "../virtualMesh/endpoints.ts";
import { federatedPorts, portName } from "../virtualMesh/ports.ts";

/** How far a cluster is from the caller's. */
export type Distance = "same region" | "other region";

/** One other cluster that a service fails over to. */
export interface RemoteCluster {
  readonly clusterName: string;
  readonly region: string;
  readonly distance: Distance;
  /** Of its gateways; none while no pod behind them can answer. */
  readonly addresses: readonly { readonly address: string; readonly port: number }[];
  /** Whether it has such gateways, whatever pods are behind them. */
  readonly isReachable: boolean;
  /** SPIFFE IDs of the pods. */
  readonly identities: readonly string[];
}

/** The ports at which a service can fail over, and those that have no name, by which Istio would find the endpoints of others. */
export function failoverPorts(destination: Destination): {
  readonly ports: readonly ServiceEntryPort[];
  readonly unnamed: readonly number[];
} {
  const all = portsOf(destination);
  const named = new Set((destination.spec?.kubeService?.ports ?? []).filter(({ name = "" }) => name !== "").map(({ port }) => port));
  const ports = all.filter(({ number }) => named.has(number));
  return { ports, unnamed: all.filter(({ number }) => !named.has(number)).map(({ number = 0 }) => number) };
}

/** Those that gateways pass on. */
function portsOf({ spec }: Destination): readonly ServiceEntryPort[] {
  return federatedPorts(spec?.kubeService?.ports ?? []).ports;
}

/** Those of the ports that a service of another cluster lacks. */
export function portsMissingAt({ destination }: FailoverPeer, ports: readonly ServiceEntryPort[]): readonly number[] {
  const others = new Set(portsOf(destination).map(({ number }) => number));
  return ports.filter(({ number }) => !others.has(number)).map(({ number = 0 }) => number);
}

/**
 * The clusters that a service fails over to, at all of some ports. Those that are offline have no addresses while there is anything else to
 * call: they are the last resort, as their pods may be well.
 */
export function remoteClustersOf(
  inputs: Pick<DestinationInputs, "destination" | "mesh" | "workloads">,
  peers: readonly FailoverPeer[],
  ports: readonly ServiceEntryPort[],
): readonly RemoteCluster[] {
  const online = peers.map((peer) => remoteClusterOf(inputs, peer, { ports, isLeftOut: peer.isOffline }));
  if (hasPods(inputs, ports) || online.some(({ addresses }) => addresses.length > 0)) return online;
  return peers.map((peer) => remoteClusterOf(inputs, peer, { ports, isLeftOut: false }));
}

/** Another cluster as clients of a service see it. */
function remoteClusterOf(
  { destination: own, mesh }: Pick<DestinationInputs, "destination" | "mesh">,
  peer: FailoverPeer,
  { ports, isLeftOut }: { readonly ports: readonly ServiceEntryPort[]; readonly isLeftOut: boolean },
): RemoteCluster {
  const region = regionOf(peer.destination, peer.mesh);
  const isNear = region !== "" && region === regionOf(own, mesh);
  const addresses = addressesOf({ gateways: gatewaysFor(familiesOf(mesh), peer.gateways) });
  return {
    clusterName: peer.destination.spec?.kubeService?.ref?.clusterName ?? "",
    region,
    distance: isNear ? "same region" : "other region",
    addresses: !isLeftOut && hasPods(peer, ports) ? addresses : [],
    isReachable: addresses.length > 0,
    identities: knownIdentities(peer),
  };
}

/** Whether all that leads to a cluster has host names: endpoints of a Kubernetes Service are never looked up. */
export function hasHostNamesAlone({ gateways }: FailoverPeer): boolean {
  const addresses = gateways.flatMap(({ externalAddresses }) => externalAddresses);
  return addresses.length > 0 && !addresses.some(isIp);
}

function addressesOf({ gateways }: Pick<FailoverPeer, "gateways">): RemoteCluster["addresses"] {
  return gateways.flatMap(({ externalAddresses, destinationPort }) =>
    externalAddresses.filter(isIp).map((address) => ({ address, port: destinationPort })),
  );
}

function isIp(address: string): boolean {
  return address !== "" && resolutionOf([address]) === "STATIC";
}

/** A gateway without pods behind it that can answer mutual TLS would send requests nowhere. */
function hasPods({ destination, workloads }: Pick<FailoverPeer, "destination" | "workloads">, ports: readonly ServiceEntryPort[]): boolean {
  const numbers = new Set(ports.map(({ number }) => number));
  const names = portsOf(destination).flatMap(({ number, name = "" }) => (numbers.has(number) ? [name] : []));
  const labelsAt = labelling(workloads);
  return (destination.spec?.kubeService?.endpointSubsets ?? []).some(({ endpoints = [], ports = [] }) => {
    const isOpen = names.every((name) => ports.some((port) => portName(port) === name));
    return isOpen && endpoints.some((endpoint) => hasAddress(endpoint) && labelsAt(endpoint)[TLS_MODE_LABEL] !== undefined);
  });
}

/** As far as they are known: without any, clients would expect those of the pods of their own cluster alone. */
function knownIdentities({ destination, mesh, workloads }: FailoverPeer): readonly string[] {
  const all = identitiesOf(destination, mesh);
  if (all !== undefined) return all;
  const domain = mesh.spec?.istio?.trustDomain || "cluster.local";
  const namespace = destination.spec?.kubeService?.ref?.namespace ?? "";
  const accounts = workloads.map(({ spec }) => spec?.kubernetes?.serviceAccountName || "default");
  return spiffeIds([domain], namespace, accounts);
}

function regionOf({ spec }: Destination, mesh: Mesh): string {
  return spec?.kubeService?.region || mesh.spec?.istio?.installation?.region || "";
}
