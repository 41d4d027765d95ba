import { Service, type ServiceEntry } from "@isthmus/api";
import { type Index, keyOf, nearestName, type Resource } from "@isthmus/core";

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

/**
 * The Service that a host of an Istio object means: a name without dots is one of the object's namespace. Undefined for other hosts.
 * Source: istio.io/docs/reference/config/networking/virtual-service, "Destination".
 */
export function serviceOfHost(host: string | undefined, { metadata: { namespace = "" } }: Resource): ServiceName | undefined {
  if (host === undefined || host === "" || host.startsWith("*")) return undefined;
  const [name = "", itsNamespace = "", kind] = host.split(".");
  if (!host.includes(".")) return { name, namespace };
  return kind === "svc" ? { name, namespace: itsNamespace } : undefined;
}

/** The key of a Service in the cluster of an object. */
export function serviceKey({ name, namespace }: ServiceName, { metadata: { clusterName = "" } }: Resource): string {
  return keyOf({ name, namespace, clusterName });
}

/** Two hosts of one namespace are one when they mean one Service, or are written alike. */
export function hostKey(host: string | undefined, object: Resource): string {
  const service = serviceOfHost(host, object);
  const { clusterName = "" } = object.metadata;
  return service === undefined ? `${host ?? ""}/${clusterName}` : serviceKey(service, object);
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
