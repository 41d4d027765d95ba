import { AuthorizationPolicy, Destination, DestinationRule, EnvoyFilter, ServiceEntry, VirtualService } from "@isthmus/api";
import { isOwnedBy, kindKeyOf, matchesLabels, outputSet, type Resource, type ResourceRef, refOf } from "@isthmus/core";
import type { SimulatedCluster } from "@isthmus/simulator";
import { accessEvaluator, networkingOwner, type ReachableHost, reachableHosts, type Translation } from "@isthmus/translators";
import { type MeshProxy, proxiesIn } from "./proxies.ts";

/** What proxies of simulated clusters go by at one moment. */
export interface TrafficEffect {
  readonly proxies: readonly MeshProxy[];
  /** As callers of a cluster know it; undefined: they do not. */
  host(cluster: string, host: string): ReachableHost | undefined;
  /** What routes the requests of a cluster's callers for a host. */
  virtualService(cluster: string, host: string): VirtualService | undefined;
  /** The Service that callers of a cluster mean by a host; undefined for the host of no Service. */
  serviceOf(cluster: string, host: string): ServicePlace | undefined;
  /** The namespace of the ServiceEntry by which callers of a cluster know a host; undefined: it is one of a Service. */
  entryNamespace(cluster: string, host: string): string | undefined;
  /** The ready pods of a cluster that answer for a host and subset that callers of another, or the same, know. */
  podsBehind(place: PodPlace): readonly MeshProxy[];
  /** Whether the pod's proxy lets the caller in; undefined: nobody of the caller's mesh gets there. */
  isAllowed(caller: MeshProxy, called: MeshProxy, request: { readonly method: string; readonly path: string }): boolean | undefined;
  /** EnvoyFilters about a pod. */
  filtersOf(proxy: MeshProxy): readonly EnvoyFilter[];
}

/** A Service, and where it is. */
export interface ServicePlace {
  readonly cluster: string;
  readonly namespace: string;
  readonly name: string;
}

/** Which pods are asked for. */
export interface PodPlace {
  readonly caller: string;
  readonly host: string;
  readonly subset: string;
  readonly cluster: string;
}

/**
 * The effect of what is in the clusters, by the engine that also says it to users: of our objects those that agents have written, not those that are
 * desired. `translation` is the server's, for what it has discovered.
 */
export function trafficEffect(translation: Translation, clusters: readonly SimulatedCluster[], namespace: string): TrafficEffect {
  const objects = clusters.map((cluster) => ({ cluster: cluster.name, written: writtenIn(cluster, namespace) }));
  const networking = outputSet(
    networkingOwner(namespace),
    objects.flatMap(({ written }) => written.map((resource) => ({ resource, parents: [] }))),
  );
  const { inputs, attached, cache } = translation;
  const hosts = reachableHosts({ attached, networking });
  const access = accessEvaluator({ inputs, attached, cache, networking });
  const proxies = clusters.flatMap(proxiesIn);
  const services = servicesIn(attached.of(Destination));
  const of = <R extends Resource>(cluster: string, kind: { readonly apiVersion: string; readonly kind: string }) =>
    (objects.find((one) => one.cluster === cluster)?.written ?? []).filter((one): one is R => kindKeyOf(one) === kindKeyOf(kind));
  const verdicts = new Map<string, boolean | undefined>();

  function virtualService(cluster: string, host: string): VirtualService | undefined {
    return of<VirtualService>(cluster, VirtualService).find(({ spec }) => isSeen(spec?.exportTo) && spec?.hosts?.includes(host));
  }

  function subsetLabels(cluster: string, host: string, subset: string): Readonly<Record<string, string>> {
    const rules = of<DestinationRule>(cluster, DestinationRule).filter(({ spec }) => spec?.host === host && isSeen(spec.exportTo));
    return rules.flatMap(({ spec }) => spec?.subsets ?? []).find(({ name }) => name === subset)?.labels ?? {};
  }

  function podsBehind({ caller, host, subset, cluster }: PodPlace): readonly MeshProxy[] {
    const labels = subset === "" ? {} : subsetLabels(caller, host, subset);
    const service = services.of(caller, host);
    const addresses =
      service === undefined ? entryAddresses(of<ServiceEntry>(cluster, ServiceEntry), host) : services.addresses({ ...service, cluster });
    return proxies.filter(
      (proxy) => proxy.cluster === cluster && addresses.has(proxy.address) && matchesLabels(podLabels(labels), proxy.labels),
    );
  }

  return {
    proxies,
    host: (cluster, host) => hosts.get(`${cluster} ${host}`),
    virtualService,
    serviceOf: services.of,
    entryNamespace: (cluster, host) =>
      of<ServiceEntry>(cluster, ServiceEntry).find(({ spec }) => isSeen(spec?.exportTo) && spec?.hosts?.includes(host))?.metadata.namespace,
    podsBehind,
    isAllowed(caller, called, request) {
      const destination = services.destinationAt(called.cluster, called.address);
      if (destination === undefined) return true;
      const key = [
        caller.cluster,
        caller.namespace,
        caller.serviceAccount,
        called.cluster,
        called.address,
        request.method,
        request.path,
      ].join(" ");
      if (verdicts.has(key)) return verdicts.get(key);
      const asking = { clusterName: caller.cluster, namespace: caller.namespace, serviceAccount: caller.serviceAccount };
      const verdict = access.verdict(destination.ref, { caller: asking, port: destination.port, ...request })?.verdict;
      const isAllowed = verdict === "UNREACHABLE" ? undefined : verdict !== "DENIED";
      verdicts.set(key, isAllowed);
      return isAllowed;
    },
    filtersOf: (proxy) =>
      of<EnvoyFilter>(proxy.cluster, EnvoyFilter).filter(
        ({ metadata, spec }) => metadata.namespace === proxy.namespace && isAbout(spec, proxy),
      ),
  };
}

/** Those without a selector are about the mesh's clusters. */
function isAbout(spec: EnvoyFilter["spec"], { labels }: MeshProxy): boolean {
  const selector = spec !== undefined && "workloadSelector" in spec ? spec.workloadSelector : undefined;
  return selector?.labels !== undefined && matchesLabels(selector.labels, labels);
}

const WRITTEN = new Set([VirtualService, DestinationRule, ServiceEntry, AuthorizationPolicy, EnvoyFilter].map(kindKeyOf));

function writtenIn(cluster: SimulatedCluster, namespace: string): readonly Resource[] {
  const owner = networkingOwner(namespace);
  return cluster
    .objects()
    .filter((object) => WRITTEN.has(kindKeyOf(object)) && isOwnedBy(object, owner))
    .map((object) => ({ ...object, metadata: { ...object.metadata, clusterName: cluster.name } }));
}

/** What only the namespace of gateways sees is not what callers use. */
function isSeen(exportTo: readonly string[] = []): boolean {
  return exportTo.length === 0 || exportTo.includes("*");
}

/** Labels of a subset that a pod can have: which cluster it is in is said of gateways alone. */
function podLabels({ cluster: _, ...labels }: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return labels;
}

function entryAddresses(entries: readonly ServiceEntry[], host: string): ReadonlySet<string> {
  const found = entries.filter(({ spec }) => spec?.hosts?.includes(host));
  return new Set(found.flatMap(({ spec }) => (spec?.endpoints ?? []).map(({ address = "" }) => address)));
}

interface Services {
  of(cluster: string, host: string): ServicePlace | undefined;
  addresses(service: ServicePlace): ReadonlySet<string>;
  destinationAt(cluster: string, address: string): { readonly ref: ResourceRef; readonly port: number } | undefined;
}

function servicesIn(destinations: Iterable<Destination>): Services {
  const local = new Map<string, ServicePlace>();
  const federated = new Map<string, ServicePlace>();
  const addresses = new Map<string, ReadonlySet<string>>();
  const at = new Map<string, { readonly ref: ResourceRef; readonly port: number }>();
  for (const destination of destinations) {
    const { ref, endpointSubsets = [], ports = [] } = destination.spec?.kubeService ?? {};
    if (ref === undefined) continue;
    const service = { cluster: ref.clusterName ?? "", namespace: ref.namespace ?? "", name: ref.name ?? "" };
    local.set(`${service.cluster} ${destination.status?.localFqdn ?? ""}`, service);
    const { federatedHostname } = destination.status?.appliedFederation ?? {};
    if (federatedHostname !== undefined) federated.set(federatedHostname, service);
    const own = endpointSubsets.flatMap(({ endpoints = [] }) => endpoints.map(({ ipAddress = "" }) => ipAddress));
    addresses.set(serviceKey(service), new Set(own));
    const port = endpointSubsets[0]?.ports?.[0]?.port ?? ports[0]?.port ?? 0;
    for (const address of own) at.set(`${service.cluster} ${address}`, { ref: refOf(destination), port });
  }
  return {
    of: (cluster, host) => local.get(`${cluster} ${host}`) ?? federated.get(host),
    addresses: (service) => addresses.get(serviceKey(service)) ?? NONE,
    destinationAt: (cluster, address) => at.get(`${cluster} ${address}`),
  };
}

const NONE: ReadonlySet<string> = new Set();

function serviceKey({ cluster, namespace, name }: ServicePlace): string {
  return `${cluster} ${namespace} ${name}`;
}
