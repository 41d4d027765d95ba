import { isClusterName } from "./names.ts";

/** Last part of federated host names unless a VirtualMesh says otherwise. */
export const DEFAULT_HOSTNAME_SUFFIX = "global";
/** The DNS domain of a cluster unless its operator has chosen another one. */
export const DEFAULT_CLUSTER_DOMAIN = "cluster.local";

/** A Service, as a host name names it. */
export interface ServiceOfHost {
  readonly name: string;
  readonly namespace: string;
  /** What stands behind `svc`: the domain of the caller's cluster, or CLUSTER.SUFFIX. Empty: the former. */
  readonly domain: string;
}

/** The host name of a Service under a domain. */
export function hostOfService({ name, namespace }: { readonly name: string; readonly namespace: string }, domain: string): string {
  return [name, namespace, "svc", domain].join(".");
}

/** The domain of the federated Services of a cluster. */
export function federatedDomain(clusterName: string, suffix: string | undefined): string {
  return [clusterName, suffix || DEFAULT_HOSTNAME_SUFFIX].join(".");
}

/** The Service that a host name of `hostOfService` names; undefined for hosts of another form. */
export function serviceOfHostname(host: string): ServiceOfHost | undefined {
  const [name = "", namespace = "", svc, ...domain] = host.split(".");
  return svc === "svc" && name !== "" && namespace !== "" ? { name, namespace, domain: domain.join(".") } : undefined;
}

/**
 * The cluster that a domain means to a caller: "" for its own, as by the domain that most clusters have, else the one of which `federatedDomain` with
 * the default suffix is made. Undefined for any other: only who knows the fleet can tell a cluster's own domain from a cluster and a suffix.
 */
export function clusterOfDomain(domain: string): string | undefined {
  if (domain === "" || domain === DEFAULT_CLUSTER_DOMAIN) return "";
  const end = domain.length - DEFAULT_HOSTNAME_SUFFIX.length - 1;
  const clusterName = domain.slice(0, Math.max(end, 0));
  return isClusterName(clusterName) && domain === federatedDomain(clusterName, undefined) ? clusterName : undefined;
}
