import { type Destination, KubernetesCluster, type Mesh, Service, type ServiceEntry, type VirtualMesh, type Workload } from "@isthmus/api";
import { DEFAULT_HOSTNAME_SUFFIX, type Index, keyOf, nearestName, type Resource, serviceOfHostname } from "@isthmus/core";
import { lookUpPart } from "../rule.ts";

/** Names a Kubernetes Service. */
export interface ServiceName {
  readonly name: string;
  readonly namespace: string;
}

/** The namespace and cluster of an object, as an index key. */
export function placeKey({ metadata: { namespace = "", clusterName = "" } }: Resource): string {
  return `${namespace}/${clusterName}`;
}

/** Objects by namespace and cluster. */
export const byPlace: Index<Resource> = (object) => [placeKey(object)];

/** Objects by cluster. */
export const byObjectCluster: Index<Resource> = ({ metadata: { clusterName = "" } }) => [clusterName];

/** Meshes of Istio by the cluster of their control plane. */
export const byMeshCluster: Index<Mesh> = ({ spec }) => {
  const cluster = spec?.istio?.installation?.cluster;
  return cluster === undefined ? [] : [cluster];
};

/** Meshes of Istio by the namespace and cluster of their control plane. */
export const byInstallationPlace: Index<Mesh> = ({ spec }) => {
  const { namespace, cluster } = spec?.istio?.installation ?? {};
  return namespace === undefined || cluster === undefined ? [] : [`${namespace}/${cluster}`];
};

/** Workloads by namespace and cluster. */
export const byWorkloadPlace: Index<Workload> = ({ spec }) => {
  const { namespace, clusterName } = spec?.kubernetes?.controller ?? {};
  return namespace === undefined ? [] : [`${namespace}/${clusterName ?? ""}`];
};

/** Workloads by cluster. */
export const byWorkloadCluster: Index<Workload> = ({ spec }) => {
  const { clusterName } = spec?.kubernetes?.controller ?? {};
  return clusterName === undefined ? [] : [clusterName];
};

/** Workloads by namespace, in whatever cluster. */
export const byAnyNamespace: Index<Workload> = ({ spec }) => {
  const { namespace } = spec?.kubernetes?.controller ?? {};
  return namespace === undefined ? [] : [namespace];
};

type ControllerRef = NonNullable<NonNullable<NonNullable<Workload["spec"]>["kubernetes"]>["controller"]>;

/** The service accounts of workloads, by what `keyOf` says of their controllers. */
export function accountsBy(
  workloads: readonly Workload[],
  keyOf: (controller: ControllerRef) => string,
): ReadonlyMap<string, ReadonlySet<string>> {
  const accounts = new Map<string, Set<string>>();
  for (const { spec } of workloads) {
    const { controller, serviceAccountName } = spec?.kubernetes ?? {};
    if (controller?.namespace === undefined) continue;
    const key = keyOf(controller);
    accounts.set(key, (accounts.get(key) ?? new Set()).add(serviceAccountName || "default"));
  }
  return accounts;
}

/** Whether pods with these labels are a gateway, as Istio's charts label them: `istio: ingressgateway`, `istio: eastwestgateway`. */
export function isGateway(podLabels: Readonly<Record<string, string>> | undefined): boolean {
  return podLabels?.["istio"]?.endsWith("gateway") === true;
}

/**
 * The Service that a host of an Istio object means: a name without dots is one of the object's namespace. Undefined for other hosts.
 * Source: istio.io/docs/reference/config/networking/virtual-service, "Destination".
 */
export function serviceOfHost(host: string | undefined, { metadata: { namespace = "" } }: Resource): ServiceName | undefined {
  if (host === undefined || host === "" || host.startsWith("*")) return undefined;
  const [name = "", itsNamespace = "", kind] = host.split(".");
  if (!host.includes(".")) return { name, namespace };
  // Hosts of federated services, such as `reviews.bookinfo.svc.east.global`, are in ServiceEntries.
  return kind === "svc" && !isFederatedHost(host) ? { name, namespace: itsNamespace } : undefined;
}

const FEDERATED = `.${DEFAULT_HOSTNAME_SUFFIX}`;

/** Whether a host is that of a Service of another cluster, in the form that federation gives it by default. */
export function isFederatedHost(host: string): boolean {
  return serviceOfHostname(host) !== undefined && host.endsWith(FEDERATED);
}

/** Destinations by the host names that others call them by. */
export const byFederatedHost: Index<Destination> = ({ status }) => {
  const { federatedHostname, federatedToMeshes = [] } = status?.appliedFederation ?? {};
  return federatedHostname === undefined || federatedToMeshes.length === 0 ? [] : [federatedHostname];
};

/** What says the DNS domain of an object's cluster. */
export const itsRegistration = lookUpPart(KubernetesCluster, {
  key: byObjectCluster,
  index: ({ metadata }) => [metadata.name],
  select: ({ spec }) => spec?.clusterDomain,
});

// Source: Kubernetes, kubelet --cluster-domain.
const DEFAULT_DOMAIN = "cluster.local";

/**
 * Whether a host that reads as a Service's is one of the object's cluster, by its domain. Others are multi-cluster services or imports of another
 * mesh, of which nothing is known. `domains`: what `itsRegistration` found.
 */
export function isInCluster(host: string | undefined, domains: readonly (string | undefined)[]): boolean {
  const domain = (host ?? "").split(".").slice(3).join(".");
  return domain === "" || domain === (domains[0] || DEFAULT_DOMAIN);
}

/** Whether an object is there without its place: files as they are before anybody applies them. */
export function isWithoutNamespace({ metadata: { namespace = "" } }: Resource): boolean {
  return namespace === "";
}

/** The key of a Service in the cluster of an object. */
export function serviceKey({ name, namespace }: ServiceName, { metadata: { clusterName = "" } }: Resource): string {
  return keyOf({ name, namespace, clusterName });
}

/** Two hosts of one namespace are one when they mean one Service, or are written alike. */
export function hostKey(host: string | undefined, object: Resource): string {
  const service = serviceOfHost(host, object);
  const { clusterName = "" } = object.metadata;
  return service === undefined ? `${wildcardOf(host) ?? host ?? ""}/${clusterName}` : serviceKey(service, object);
}

const EVERY_SERVICE: ReadonlySet<string> = new Set(["*", "*.local", "*.cluster.local", "*.svc.cluster.local"]);

/** Wildcards that hold for Services, whatever the domain of the cluster. */
function wildcardOf(host: string | undefined): string | undefined {
  if (host === undefined || EVERY_SERVICE.has(host)) return host && "*";
  return /^\*\.[^.]+\.svc(?=\.|$)/.exec(host)?.[0];
}

// DNS has names of at most 127.
const MOST_LABELS = 128;

/** The keys of what holds for a host only as its host is a wildcard. */
export function wildcardKeys(host: string | undefined, object: Resource): readonly string[] {
  const service = serviceOfHost(host, object);
  const { clusterName = "" } = object.metadata;
  const labels = (host ?? "").split(".", MOST_LABELS);
  const wildcards =
    service === undefined ? labels.slice(1).map((_, i) => `*.${labels.slice(i + 1).join(".")}`) : [`*.${service.namespace}.svc`];
  return [...wildcards, "*"].map((wildcard) => `${wildcard}/${clusterName}`);
}

/** ServiceEntries by their hosts and cluster. */
export const byEntryHost: Index<ServiceEntry> = (entry) => (entry.spec?.hosts ?? []).map((host) => hostKey(host, entry));

/** Services by name and cluster, whatever their namespace. */
export const byNameInCluster: Index<Resource> = ({ metadata: { name, clusterName = "" } }) => [`${name}@${clusterName}`];

/** The Service that was probably meant: one of the namespace with a similar name, or one of this name in another namespace. */
export function nearService(
  { name, namespace }: ServiceName,
  { inNamespace, namesakes }: { readonly inNamespace: readonly Resource[]; readonly namesakes: readonly Resource[] },
): string | undefined {
  const near = nearestName(
    name,
    inNamespace.filter(({ metadata }) => metadata.namespace === namespace).map(({ metadata }) => metadata.name),
  );
  if (near !== undefined) return `${near}.${namespace}.svc.cluster.local`;
  const [namesake] = namesakes.filter(({ kind, metadata }) => kind === Service.kind && metadata.namespace !== namespace);
  return namesake === undefined ? undefined : `${name}.${namesake.metadata.namespace}.svc.cluster.local`;
}

/** The meshes that a VirtualMesh joins. */
export const meshesNamed: Index<VirtualMesh> = ({ spec }) =>
  (spec?.meshes ?? []).map(({ name = "", namespace = "" }) => keyOf({ name, namespace, clusterName: "" }));
