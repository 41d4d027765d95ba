import type { Destination, Endpoint, Subset, VirtualDestinationSpec, Workload, WorkloadEntry } from "@isthmus/api";
import { servicePortOf } from "../../../policy/virtualDestinations/virtualDestinationTargets.ts";
import { type AddressFamilies, gatewaysFor } from "../addressFamilies.ts";
import { hasAddress, type Labels, labelling, TLS_MODE_LABEL } from "../virtualMesh/endpoints.ts";
import { portName } from "../virtualMesh/ports.ts";
import { isInSubset, subsetLabelsOf } from "./subsets.ts";
import { istioPlaceOf, type RemoteTargets, remoteRegionOf, type Tier } from "./tiers.ts";

/** What endpoints of a host are made with. */
export interface EndpointOptions {
  readonly spec: VirtualDestinationSpec;
  /** Of all Destinations. */
  readonly workloads: readonly Workload[];
  /** The name of the host's only port. */
  readonly port: string;
  /** That policies ask for. */
  readonly subsets: readonly Subset[];
  /** The address families that clients have. Default: all. */
  readonly families?: AddressFamilies;
  /** Clusters whose gateways are left out while there is another endpoint. */
  readonly offline: readonly string[];
}

/** Of our own labels, which pods cannot give themselves. */
const OWN_LABELS = "failover.isthmus.mesh/";
/** The label that says how early an endpoint comes: one of rank r has those from 0 to the number of ranks - 2 - r. */
const ORDER_LABEL = `${OWN_LABELS}order-`;
const HERE = "here";

/**
 * By what Istio orders endpoints: the more of these labels an endpoint has from the first on, the earlier it comes. A value here does
 * not ask for the client's label. Within one rank those near the client come first, of which only the caller's own cluster has some.
 * Source: istio.io DestinationRule, LocalityLoadBalancerSetting.failoverPriority.
 */
export function failoverPriority(tiers: number): readonly string[] {
  const order = Array.from({ length: Math.max(0, tiers - 1) }, (_, i) => `${ORDER_LABEL}${i}=${HERE}`);
  return [...order, "topology.kubernetes.io/region", "topology.kubernetes.io/zone"];
}

/**
 * The endpoints that a caller sees: pods of its own cluster, and the gateways of others that have some. No address comes twice, but for one
 * of a gateway behind which there are pods of several subsets. Gateways of clusters that are offline are the last resort of the host, and of
 * each of its subsets: their pods may be well.
 */
export function endpointsOf(tiers: readonly Tier[], options: EndpointOptions): readonly WorkloadEntry[] {
  const all = rankedEndpoints(tiers, options);
  const online = all.filter(({ isOffline }) => !isOffline);
  if (online.length === 0 || online.length === all.length) return all.map(({ entry }) => entry);
  const lost = options.subsets.filter((subset) => !online.some(({ entry }) => isInSubset(entry.labels, subset)));
  const kept = all.filter(({ entry, isOffline }) => !isOffline || lost.some((subset) => isInSubset(entry.labels, subset)));
  return kept.map(({ entry }) => entry);
}

interface RankedEndpoint {
  readonly entry: WorkloadEntry;
  readonly isOffline: boolean;
}

function rankedEndpoints(tiers: readonly Tier[], options: EndpointOptions): readonly RankedEndpoint[] {
  const found = new Map<string, RankedEndpoint>();
  tiers.forEach(({ local, remote }, rank) => {
    const order = Object.fromEntries(Array.from({ length: tiers.length - 1 - rank }, (_, i) => [`${ORDER_LABEL}${i}`, HERE]));
    const ranked = [
      ...local.flatMap((destination) => podEndpoints(destination, options)).map((entry) => ({ entry, isOffline: false })),
      ...remote.flatMap((one) => {
        const isOffline = options.offline.includes(istioPlaceOf(one.home.mesh).cluster);
        return gatewayEndpoints(one, options).map((entry) => ({ entry, isOffline }));
      }),
    ];
    for (const { entry, isOffline } of ranked) {
      const { labels = {}, ...rest } = entry;
      const key = `${entry.address} ${entry.ports?.[options.port] ?? 0} ${JSON.stringify(subsetLabelsOf(labels, options.subsets))}`;
      const known = found.get(key);
      // One address of two clusters leads to the one that is there.
      if (known === undefined || (known.isOffline && !isOffline))
        found.set(key, { entry: { ...rest, labels: { ...labels, ...order } }, isOffline });
    }
  });
  return [...found.values()];
}

function withoutOwn(labels: Labels): Labels {
  const entries = Object.entries(labels);
  const others = entries.filter(([key]) => !key.startsWith(OWN_LABELS));
  return others.length === entries.length ? labels : Object.fromEntries(others);
}

/** Pods that can answer mutual TLS: those with a sidecar, that are ready and have the port. */
function podEndpoints(destination: Destination, { spec, workloads, port }: EndpointOptions): readonly WorkloadEntry[] {
  const { kubeService } = destination.spec ?? {};
  const servicePort = servicePortOf(spec, destination);
  if (kubeService === undefined || servicePort === undefined) return [];
  const { namespace, clusterName } = kubeService.ref ?? {};
  const labelsAt = labelling(
    workloads.filter(({ spec: workload }) => {
      const place = workload?.kubernetes?.controller;
      return place?.namespace === namespace && place?.clusterName === clusterName;
    }),
  );
  return (kubeService.endpointSubsets ?? []).flatMap(({ endpoints = [], ports = [] }) => {
    const number = ports.find((one) => portName(one) === portName(servicePort))?.port;
    if (number === undefined) return [];
    return endpoints.filter(hasAddress).flatMap((endpoint) => {
      const labels = withoutOwn(labelsAt(endpoint));
      if (labels[TLS_MODE_LABEL] === undefined) return [];
      return [
        withLocality({ address: endpoint.ipAddress ?? "", ports: { [port]: number }, labels }, localityOf(kubeService.region, endpoint)),
      ];
    });
  });
}

/**
 * One for each address of each gateway, as all pods behind it are one place for others; where policies ask for subsets, one for those of each.
 * The name of the subset is in the SNI, by which the gateway chooses among its pods. Of endpoints with one address, Envoy keeps the first in each cluster.
 */
function gatewayEndpoints(remote: RemoteTargets, options: EndpointOptions): readonly WorkloadEntry[] {
  // A gateway without pods behind it would send requests nowhere.
  const pods = remote.destinations.flatMap((destination) => podEndpoints(destination, options));
  if (pods.length === 0) return [];
  const locality = remoteRegionOf(remote);
  const parts = partsOf(pods, options.subsets);
  const { gateways } = remote.home;
  return (options.families === undefined ? gateways : gatewaysFor(options.families, gateways)).flatMap(
    ({ externalAddresses, destinationPort }) =>
      externalAddresses.flatMap((address) =>
        parts.map((part) =>
          withLocality({ address, ports: { [options.port]: destinationPort }, labels: { ...part, [TLS_MODE_LABEL]: "istio" } }, locality),
        ),
      ),
  );
}

/** The pods of a cluster as others tell them apart, in an order that is the same whichever pod came first. */
function partsOf(pods: readonly WorkloadEntry[], subsets: readonly Subset[]): readonly Labels[] {
  if (subsets.length === 0) return [{}];
  const parts = pods.map(({ labels = {} }) => subsetLabelsOf(labels, subsets));
  const byText = new Map(parts.map((part) => [JSON.stringify(part), part]));
  return [...byText].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, part]) => part);
}

/** The labels of all pods that can answer. */
export function podLabelsOf(destinations: readonly Destination[], options: EndpointOptions): readonly Labels[] {
  return destinations.flatMap((destination) => podEndpoints(destination, options).map(({ labels = {} }) => labels));
}

/** `region/zone/subzone`, as Istio has it. */
function localityOf(region: string | undefined, { subLocality }: Endpoint): string {
  const { zone = "", subZone = "" } = subLocality ?? {};
  if (!region) return "";
  return [region, ...(zone === "" ? [] : subZone === "" ? [zone] : [zone, subZone])].join("/");
}

function withLocality(entry: WorkloadEntry, locality: string): WorkloadEntry {
  return locality === "" ? entry : { ...entry, locality };
}
