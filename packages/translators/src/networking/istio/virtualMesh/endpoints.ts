import type { AppliedEastWestIngressGateway, Endpoint, KubeService, ServicePort, Workload, WorkloadEntry } from "@isthmus/api";
import { exactly, matchesLabels, shared } from "@isthmus/core";
import { remembered } from "../../../remembered.ts";
import { portName } from "./ports.ts";

/** What the endpoints of a federated service are made of. */
export interface EndpointSource {
  readonly kubeService: KubeService;
  /** The ports that the ServiceEntry defines. Istio refuses endpoints with any other. */
  readonly ports: readonly ServicePort[];
  /** Workloads of the service's mesh that back it. */
  readonly workloads: readonly Workload[];
}

/** For other clusters: each endpoint of the service, at each address of each gateway, with its own labels so that subsets work. */
export function gatewayEndpoints(
  { kubeService, ports, workloads }: EndpointSource,
  gateways: readonly AppliedEastWestIngressGateway[],
): readonly WorkloadEntry[] {
  const labels = (kubeService.endpointSubsets ?? []).flatMap(({ endpoints = [] }) =>
    endpoints.filter(hasAddress).map((endpoint) => endpointLabels(endpoint.labels, workloads)),
  );
  // Seen from elsewhere, endpoints with the same labels are the same.
  const kinds = new Set(labels);
  const entries = gateways.flatMap(({ externalAddresses = [], destinationPort = 0 }) => {
    const gatewayPorts = ports.length === 0 ? {} : portsAt(ports.map(({ name = "" }) => [name, destinationPort]));
    return externalAddresses
      .filter((address) => address !== "")
      .flatMap((address) => {
        const byLabels = new Map([...kinds].map((own): [object, WorkloadEntry] => [own, { address, ...gatewayPorts, labels: own }]));
        return labels.flatMap((own) => byLabels.get(own) ?? []);
      });
  });
  return exactly(entries);
}

/** For the service's own cluster: each endpoint at its own address, to which the gateway sends what comes in. */
export function localEndpoints({ kubeService, ports, workloads }: EndpointSource): readonly WorkloadEntry[] {
  const defined = new Set(ports.map(({ name }) => name));
  const entries = (kubeService.endpointSubsets ?? []).flatMap(({ endpoints = [], ports: endpointPorts = [] }) => {
    const open = endpointPorts.flatMap((port) => (defined.has(portName(port)) ? [[portName(port), port.port ?? 0] as const] : []));
    const entryPorts = open.length === 0 ? {} : portsAt(open);
    return endpoints.filter(hasAddress).map(({ ipAddress = "", labels }) => ({
      address: ipAddress,
      ...entryPorts,
      labels: endpointLabels(labels, workloads),
    }));
  });
  return exactly(entries);
}

/** Most services have the same ports, and all are behind the same ones of a gateway. */
function portsAt(numbers: readonly (readonly [name: string, number: number])[]): Pick<WorkloadEntry, "ports"> {
  return { ports: shared(Object.fromEntries(numbers)) };
}

/** A pod that is still starting has no address yet. */
export function hasAddress({ ipAddress }: Endpoint): boolean {
  return ipAddress !== undefined && ipAddress !== "";
}

/**
 * An endpoint's labels, with Istio's own label where the pod has a sidecar. Without it istiod takes the endpoint for one that
 * speaks plain text: auto mTLS is off for it, and an AUTO_PASSTHROUGH gateway leaves it out altogether. The injector puts it on
 * the pod only, and discovery takes labels from the pod template. Source: istio.io, label security.istio.io/tlsMode.
 */
function endpointLabels(labels: Readonly<Record<string, string>> = {}, workloads: readonly Workload[]): Readonly<Record<string, string>> {
  const hasSidecar = workloads.some(({ spec }) => isPodOf(spec?.kubernetes?.podLabels ?? {}, labels));
  return hasSidecar ? withSidecar(labels) : labels;
}

function isPodOf(podLabels: Readonly<Record<string, string>>, labels: Readonly<Record<string, string>>): boolean {
  return Object.keys(podLabels).length > 0 && matchesLabels(podLabels, labels);
}

const TLS_MODE_LABEL = "security.istio.io/tlsMode";

// The pods of one workload share their labels, and so do its endpoints, in whichever cluster.
const withSidecar = remembered(
  (labels: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
    Object.fromEntries([...Object.entries(labels), [TLS_MODE_LABEL, "istio"]]),
);

/** How Istio finds the endpoints' addresses; undefined when host names and IPv6 addresses are mixed, which Envoy cannot do in one cluster. */
export function resolutionOf(endpoints: readonly WorkloadEntry[]): "STATIC" | "DNS" | undefined {
  const addresses = endpoints.map(({ address = "" }) => address);
  const hosts = addresses.filter((address) => !isIpv4(address) && !isIpv6(address));
  if (hosts.length === 0) return "STATIC";
  return addresses.some(isIpv6) ? undefined : "DNS";
}

function isIpv4(address: string): boolean {
  return IPV4.test(address);
}

// Four numbers up to 255. One look at each of a million addresses.
const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|[01]?\d?\d)(?:\.(?!$)|$)){4}$/;

function isIpv6(address: string): boolean {
  return address.split(":").length > 2;
}
