import { Destination, DestinationRule, Mesh, ServiceEntry, VirtualService, type WorkloadEntry } from "@isthmus/api";
import { kindKeyOf, matchesLabels, type OutputSet, type Resource } from "@isthmus/core";
import type { Translation } from "../pipeline/translate.ts";

/** What a host stands for. */
export type HostKind = "Service" | "FederatedService" | "VirtualDestination";

/** Endpoints of one rank by cluster: those of a tier get traffic while all before it fail. */
export type EndpointTier = ReadonlyMap<string, number>;

/** Where a part of the requests to a host goes. */
export interface Leg {
  /** Another one than the host that was called, where a policy shifts traffic. */
  readonly host: string;
  /** Pods with certain labels only; "" means all. */
  readonly subset: string;
  /** Percent of the requests of its route. */
  readonly weight: number;
  /** In the order of failover; only those with endpoints. */
  readonly tiers: readonly EndpointTier[];
}

/** A host, as the callers of one cluster know it. */
export interface ReachableHost {
  readonly kind: HostKind;
  readonly host: string;
  readonly caller: string;
  readonly legs: readonly Leg[];
}

/** What is asked of a translation; `networking` may also be what is in clusters of it. */
export type HostInputs = Pick<Translation, "attached"> & { readonly networking: OutputSet };

/** Every host of Services, federated Services and VirtualDestinations by the cluster of its callers; under `CLUSTER HOST`. */
export function reachableHosts(world: HostInputs): ReadonlyMap<string, ReachableHost> {
  const places = placesOf(world);
  const clusters = objectsByCluster(world);
  const names = new Set([...clusters.keys(), ...places.services.keys()]);
  const hosts = [...names].sort().flatMap((caller) => hostsIn(caller, clusters.get(caller) ?? NOTHING, places));
  return new Map(hosts.map((host) => [`${host.caller} ${host.host}`, host]));
}

interface Endpoint {
  readonly labels: Readonly<Record<string, string>>;
  readonly cluster: string;
  /** Of a gateway that may be there once for each subset; those with one address are one. */
  readonly gateway?: string;
  /** For how many pods it stands. Default: 1. */
  readonly pods?: number;
}

interface Known {
  readonly kind: HostKind;
  readonly endpoints: readonly Endpoint[];
}

/** Where addresses and hosts belong. */
interface Places {
  /** The cluster behind the address of a gateway. */
  readonly gateways: ReadonlyMap<string, string>;
  /** The cluster of a Service by its federated host. */
  readonly federated: ReadonlyMap<string, string>;
  /** Services of each cluster by their local host. */
  readonly services: ReadonlyMap<string, ReadonlyMap<string, Known>>;
}

function placesOf({ attached }: HostInputs): Places {
  const gateways = new Map<string, string>();
  for (const { spec, status } of attached.of(Mesh)) {
    const cluster = spec?.istio?.installation?.cluster ?? "";
    for (const { externalAddresses = [] } of status?.appliedEastWestIngressGateways ?? [])
      for (const address of externalAddresses) gateways.set(address, cluster);
  }
  const federated = new Map<string, string>();
  const services = new Map<string, Map<string, Known>>();
  for (const { spec, status } of attached.of(Destination)) {
    const { clusterName: cluster = "" } = spec?.kubeService?.ref ?? {};
    if (spec?.kubeService === undefined || spec.mesh === undefined) continue;
    const { federatedHostname } = status?.appliedFederation ?? {};
    if (federatedHostname !== undefined) federated.set(federatedHostname, cluster);
    const endpoints = (spec.kubeService.endpointSubsets ?? []).flatMap((subset) =>
      (subset.endpoints ?? []).flatMap(({ ipAddress = "", labels = {} }) => (ipAddress === "" ? [] : [{ labels, cluster }])),
    );
    const ofCluster = services.get(cluster) ?? new Map<string, Known>();
    services.set(cluster, ofCluster.set(status?.localFqdn ?? "", { kind: "Service", endpoints }));
  }
  return { gateways, federated, services };
}

interface ClusterObjects {
  /** Also those that only one namespace sees. */
  readonly entries: readonly ServiceEntry[];
  readonly rules: readonly DestinationRule[];
  readonly routes: readonly VirtualService[];
}

const NOTHING: ClusterObjects = { entries: [], rules: [], routes: [] };

function objectsByCluster({ networking }: HostInputs): ReadonlyMap<string, ClusterObjects> {
  return new Map(
    networking.clusters().map((cluster) => {
      const resources = [...networking.inCluster(cluster)].map(({ resource }) => resource);
      const all = <R extends Resource>(kind: { readonly apiVersion: string; readonly kind: string }) =>
        resources.filter((resource): resource is R => kindKeyOf(resource) === kindKeyOf(kind));
      return [
        cluster,
        {
          entries: all<ServiceEntry>(ServiceEntry),
          rules: all<DestinationRule>(DestinationRule).filter(isSeen),
          routes: all<VirtualService>(VirtualService).filter(isSeen),
        },
      ];
    }),
  );
}

/** What only the namespace of gateways sees is not what callers use. */
function isSeen({ spec }: { readonly spec?: { readonly exportTo?: readonly string[] } }): boolean {
  const { exportTo = [] } = spec ?? {};
  return exportTo.length === 0 || exportTo.includes("*");
}

function hostsIn(caller: string, { entries, rules, routes }: ClusterObjects, places: Places): readonly ReachableHost[] {
  const known = new Map<string, Known>(places.services.get(caller));
  for (const entry of entries) {
    for (const host of entry.spec?.hosts ?? []) {
      const home = places.federated.get(host);
      const service = places.services.get(caller)?.get(host);
      const endpointOf = ({ address = "", labels = {}, weight: pods }: WorkloadEntry): Endpoint => {
        const gateway = home === undefined ? places.gateways.get(address) : undefined;
        return {
          labels,
          cluster: home ?? gateway ?? caller,
          ...(gateway === undefined ? {} : { gateway: address }),
          ...(pods === undefined ? {} : { pods }),
        };
      };
      const endpoints = (entry.spec?.endpoints ?? []).map(endpointOf);
      // Istio adds these to the pods of the Service, no matter which namespace sees the object (docs/decisions/0085).
      if (service !== undefined) known.set(host, { kind: "Service", endpoints: [...service.endpoints, ...endpoints] });
      else if (isSeen(entry)) known.set(host, { kind: home === undefined ? "VirtualDestination" : "FederatedService", endpoints });
    }
  }
  const ruleOf = new Map(rules.map((rule) => [rule.spec?.host ?? "", rule]));
  const tiersOf = (host: string, subset: string) => tiersIn(known.get(host)?.endpoints ?? [], ruleOf.get(host), subset);
  const routesOf = new Map(routes.flatMap((route) => (route.spec?.hosts ?? []).map((host) => [host, route] as const)));
  return [...known].map(([host, { kind }]) => ({
    kind,
    host,
    caller,
    legs: targetsOf(host, routesOf.get(host)).map((target) => ({ ...target, tiers: tiersOf(target.host, target.subset) })),
  }));
}

/** To which hosts the requests for one go; the largest share of a route for each. */
function targetsOf(host: string, route: VirtualService | undefined): readonly Omit<Leg, "tiers">[] {
  const targets = new Map<string, Omit<Leg, "tiers">>();
  const { http = [], tcp = [] } = route?.spec ?? {};
  for (const { route: shares = [] } of [...http, ...tcp]) {
    for (const { destination, weight = 100 } of shares) {
      const { host: target = host, subset = "" } = destination ?? {};
      const before = targets.get(`${target} ${subset}`);
      if (before === undefined || before.weight < weight) targets.set(`${target} ${subset}`, { host: target, subset, weight });
    }
  }
  return targets.size === 0 ? [{ host, subset: "", weight: 100 }] : [...targets.values()];
}

/**
 * Endpoints in Istio's order of failover: the more of the labels of failoverPriority an endpoint has from the first on, the earlier it comes.
 * Labels without a value ask for the caller's own: those of topology order endpoints within a cluster, and any other no caller has.
 */
function tiersIn(endpoints: readonly Endpoint[], rule: DestinationRule | undefined, subset: string): readonly EndpointTier[] {
  const { trafficPolicy, subsets = [] } = rule?.spec ?? {};
  const { labels: wanted } = subsets.find(({ name }) => name === subset) ?? {};
  const { loadBalancer = trafficPolicy?.portLevelSettings?.[0]?.loadBalancer } = trafficPolicy ?? {};
  const order = (loadBalancer?.localityLbSetting?.failoverPriority ?? [])
    .filter((label) => !label.startsWith("topology."))
    .map((label) => {
      const [name = "", value] = label.split("=");
      return { name, value };
    });
  const tiers = new Map<number, Map<string, number>>();
  const seen = new Set<string>();
  for (const { labels, cluster, gateway, pods = 1 } of endpoints) {
    if (wanted !== undefined && !matchesLabels(wanted, labels)) continue;
    const miss = order.findIndex(({ name, value }) => labels[name] !== value);
    const rank = miss < 0 ? order.length : miss;
    if (gateway !== undefined && seen.has(`${rank} ${gateway}`)) continue;
    seen.add(`${rank} ${gateway}`);
    const tier = tiers.get(rank) ?? new Map<string, number>();
    tiers.set(rank, tier.set(cluster, (tier.get(cluster) ?? 0) + pods));
  }
  return [...tiers.keys()].sort((a, b) => b - a).flatMap((rank) => tiers.get(rank) ?? []);
}
