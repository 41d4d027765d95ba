import type { AppliedEastWestIngressGateway, Endpoint, KubeService, ServiceEntryPort, Workload, WorkloadEntry } from "@isthmus/api";
import { exactly, intern, matchesLabels } from "@isthmus/core";
import { memoizeLast, memoizeRow } from "../../../incremental/memoizeRow.ts";
import { portName } from "./ports.ts";

/** What the endpoints of a federated service are made of. */
export interface EndpointSource {
  readonly kubeService: KubeService;
  /** The ports that the ServiceEntry defines. Istio refuses endpoints with any other. */
  readonly ports: readonly ServiceEntryPort[];
  /** Workloads of the service's mesh that back it. */
  readonly workloads: readonly Workload[];
}

/**
 * For other clusters: the endpoints of the service at each address of each gateway, with their labels so that subsets work. Behind one address those
 * with the same labels are one endpoint to Envoy, of which `weight` says for how many it stands.
 */
export function gatewayEndpoints(
  { kubeService, ports, workloads }: EndpointSource,
  gateways: readonly AppliedEastWestIngressGateway[],
): readonly WorkloadEntry[] {
  const counted = countedLabels(kubeService, workloads);
  const entries: WorkloadEntry[] = [];
  for (const { externalAddresses = [], destinationPort = 0 } of gateways) {
    const gatewayPorts = gatewayPortsFor(ports)(destinationPort);
    for (const address of externalAddresses) {
      if (address === "") continue;
      for (const { labels, pods } of counted) {
        const entry = entryAt(address, gatewayPorts, labels);
        // Absent, it counts as 1. Source: istio.io WorkloadEntry.
        entries.push(pods === 1 ? entry : { ...entry, weight: pods });
      }
    }
  }
  return exactly(entries);
}

/** The labels of the endpoints of a service, in the order of their first ones, and how many endpoints have them. */
function countedLabels(
  kubeService: KubeService,
  workloads: readonly Workload[],
): readonly { readonly labels: Labels; readonly pods: number }[] {
  const labelsAt = labelling(workloads);
  // Most of those that are equal are the very same.
  const texts = new Map<Labels, string>();
  const found = new Map<string, { readonly labels: Labels; pods: number }>();
  for (const { endpoints = [] } of kubeService.endpointSubsets ?? []) {
    for (const endpoint of endpoints) {
      if (!hasAddress(endpoint)) continue;
      const labels = labelsAt(endpoint);
      const text = texts.get(labels) ?? JSON.stringify(Object.entries(labels).sort());
      texts.set(labels, text);
      const known = found.get(text);
      if (known === undefined) found.set(text, { labels, pods: 1 });
      else known.pods += 1;
    }
  }
  return [...found.values()];
}

/** For the service's own cluster: each endpoint at its own address, to which the gateway sends what comes in. */
export function localEndpoints({ kubeService, ports, workloads }: EndpointSource): readonly WorkloadEntry[] {
  const openPorts = openPortsAmong(ports);
  const labelsAt = labelling(workloads);
  const entries = (kubeService.endpointSubsets ?? []).flatMap(({ endpoints = [], ports: endpointPorts = NO_PORTS }) => {
    const entryPorts = openPorts(endpointPorts);
    return endpoints.filter(hasAddress).map((endpoint) => entryAt(endpoint.ipAddress ?? "", entryPorts, labelsAt(endpoint)));
  });
  return exactly(entries);
}

/** As many endpoints as API servers accept in a ServiceEntry. Source: istio.io/istio, CRD of ServiceEntry, maxItems. */
export const MOST_ENDPOINTS = 4096;

/** As many of the endpoints as a ServiceEntry can have, evenly from all of them, so that each part of them keeps its share. */
export function atMostEndpoints<E extends WorkloadEntry>(endpoints: readonly E[]): readonly E[] {
  const { length } = endpoints;
  if (length <= MOST_ENDPOINTS) return endpoints;
  return endpoints.filter((_, i) => Math.floor(((i + 1) * MOST_ENDPOINTS) / length) > Math.floor((i * MOST_ENDPOINTS) / length));
}

/** Of a million of them, each with room for its members only. */
function entryAt(address: string, ports: WorkloadEntry["ports"], labels: Labels): WorkloadEntry {
  return ports === undefined ? { address, labels } : { address, ports, labels };
}

/** Most services have the same ports, and all are behind the same ones of a gateway. Undefined for none. */
function portsAt(numbers: readonly (readonly [name: string, number: number])[]): WorkloadEntry["ports"] {
  return numbers.length === 0 ? undefined : intern(Object.fromEntries(numbers));
}

// In key order the services of one name follow one another, with the very same ports.
const gatewayPortsFor = memoizeLast((ports: readonly ServiceEntryPort[]) => {
  let last: { readonly destinationPort: number; readonly ports: WorkloadEntry["ports"] } | undefined;
  return (destinationPort: number) => {
    if (last?.destinationPort !== destinationPort) {
      last = { destinationPort, ports: portsAt(ports.map(({ name = "" }) => [name, destinationPort])) };
    }
    return last.ports;
  };
});

const openPortsAmong = memoizeLast((ports: readonly ServiceEntryPort[]) => {
  const defined = new Set(ports.map(({ name }) => name));
  return memoizeLast((endpointPorts: readonly EndpointPort[]) =>
    portsAt(endpointPorts.flatMap((port) => (defined.has(portName(port)) ? [[portName(port), port.port ?? 0] as const] : []))),
  );
});

type EndpointPort = NonNullable<NonNullable<KubeService["endpointSubsets"]>[number]["ports"]>[number];
const NO_PORTS: readonly never[] = [];

/** A pod that is still starting has no address yet. */
export function hasAddress({ ipAddress }: Endpoint): boolean {
  return ipAddress !== undefined && ipAddress !== "";
}

/** Labels of an endpoint. */
export type Labels = Readonly<Record<string, string>>;

/**
 * An endpoint's labels, with Istio's own label where the pod has a sidecar. Without it istiod takes the endpoint for one that
 * speaks plain text: auto mTLS is off for it, and an AUTO_PASSTHROUGH gateway leaves it out altogether. The injector puts it on
 * the pod only, and discovery takes labels from the pod template. Source: istio.io, label security.istio.io/tlsMode.
 */
export function labelling(workloads: readonly Workload[]): (endpoint: Endpoint) => Labels {
  // Those of one workload follow one another, with the very same labels.
  let last: { readonly labels: Labels; readonly answer: Labels } | undefined;
  return ({ labels = NO_LABELS, outsideMesh = false }) => {
    if (outsideMesh) return labels;
    if (last?.labels !== labels) {
      const hasSidecar = workloads.some(({ spec }) => isPodOf(spec?.kubernetes?.podLabels ?? NO_LABELS, labels));
      last = { labels, answer: hasSidecar ? withSidecar(labels) : labels };
    }
    return last.answer;
  };
}

const NO_LABELS: Labels = {};

function isPodOf(podLabels: Labels, labels: Labels): boolean {
  return Object.keys(podLabels).length > 0 && matchesLabels(podLabels, labels);
}

/** On endpoints that speak mutual TLS. */
export const TLS_MODE_LABEL = "security.istio.io/tlsMode";

// The pods of one workload share their labels, and so do its endpoints, in whichever cluster.
const withSidecar = memoizeRow((labels: Labels): Labels => Object.fromEntries([...Object.entries(labels), [TLS_MODE_LABEL, "istio"]]));

/** How Istio finds endpoints at these addresses; undefined when host names and IPv6 addresses are mixed, which Envoy cannot do in one cluster. */
export function resolutionOf(addresses: Iterable<string>): "STATIC" | "DNS" | undefined {
  let [hasHosts, hasIpv6] = [false, false];
  let before: string | undefined;
  for (const address of addresses) {
    // All endpoints behind one gateway have its address.
    if (address === before) continue;
    before = address;
    if (isIpv4(address)) continue;
    if (isIpv6(address)) hasIpv6 = true;
    else hasHosts = true;
  }
  if (!hasHosts) return "STATIC";
  return hasIpv6 ? undefined : "DNS";
}

function isIpv4(address: string): boolean {
  return IPV4.test(address);
}

// Four numbers up to 255. One look at each of a million addresses.
const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|[01]?\d?\d)(?:\.(?!$)|$)){4}$/;

function isIpv6(address: string): boolean {
  return address.split(":").length > 2;
}
