import type { Destination } from "@isthmus/api";
import { type ClusterObjectRef, DEFAULT_CLUSTER_DOMAIN, federatedDomain, hostOfService, intern, keyOf } from "@isthmus/core";
import { memoizeLast } from "../../incremental/memoizeRow.ts";

/** The DNS domain of services in a cluster. */
export function clusterDomainOf(clusterName: string, clusterDomains: ReadonlyMap<string, string>): string {
  return clusterDomains.get(clusterName) ?? DEFAULT_CLUSTER_DOMAIN;
}

/** The host name of a Service inside its own cluster. */
export function localHostname(service: ClusterObjectRef, clusterDomains: ReadonlyMap<string, string>): string {
  return intern(hostOfService(service, clusterDomainOf(service.clusterName, clusterDomains)));
}

/** Whether pods of a Service's own cluster may mean it by a name: its host name, or what is left of that without its last parts. */
export function isLocalName(name: string, service: ClusterObjectRef, clusterDomains: ReadonlyMap<string, string>): boolean {
  const short = `${service.name}.${service.namespace}`;
  return name === short || name === `${short}.svc` || name === localHostname(service, clusterDomains);
}

/** The host name of a Service in other clusters. */
export function federatedHostname(service: ClusterObjectRef, suffix: string | undefined): string {
  return intern(hostOfService(service, federatedDomain(service.clusterName, suffix)));
}

/** The name by which east-west gateways know the Services of one name and namespace, each its own. Federated host names have one part more. */
export function failoverHostname(service: ClusterObjectRef, federatedHost: string): string {
  const suffix = federatedHost.slice(hostOfService(service, `${service.clusterName}.`).length);
  return intern([service.name, service.namespace, "failover", suffix].join("."));
}

/** The host name by which a Destination is called from a cluster: the local one at home, else the federated one. */
export function hostnameFrom(
  clusterName: string,
  { service, destination }: { readonly service: ClusterObjectRef; readonly destination: Destination | undefined },
  clusterDomains: ReadonlyMap<string, string>,
): string {
  if (service.clusterName === clusterName) return localHostname(service, clusterDomains);
  return destination?.status?.appliedFederation?.federatedHostname || federatedHostname(service, undefined);
}

/** The key of the Service behind a Destination; undefined for other destinations. */
export function serviceKeyOf(destination: Destination): string | undefined {
  const ref = destination.spec?.kubeService?.ref;
  return ref === undefined ? undefined : keyOfService(ref);
}

const keyOfService = memoizeLast((ref: ClusterObjectRef) => keyOf(ref));
