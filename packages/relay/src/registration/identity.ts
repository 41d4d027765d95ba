import { isClusterName } from "@isthmus/core";

// Source: decisions §5.2.
const AGENT_URI = "spiffe://gloo-mesh/agent/";

/** The names that an agent's certificate bears. */
export function agentNames(clusterName: string): { readonly dnsNames: readonly string[]; readonly uris: readonly string[] } {
  return { dnsNames: [clusterName], uris: [AGENT_URI + clusterName] };
}

/**
 * The cluster that a verified certificate names; undefined when it names none, or more than one. A certificate of somebody's
 * own authority may do without the URI: then its only DNS name is the cluster's.
 */
export function clusterOfCertificate({
  dnsNames,
  uris,
}: {
  readonly dnsNames: readonly string[];
  readonly uris: readonly string[];
}): string | undefined {
  const named = uris.filter((uri) => uri.startsWith(AGENT_URI)).map((uri) => uri.slice(AGENT_URI.length));
  const [clusterName, ...others] = named.length > 0 ? named : dnsNames;
  if (clusterName === undefined || others.length > 0 || !isClusterName(clusterName)) return undefined;
  return dnsNames.length === 0 || dnsNames.includes(clusterName) ? clusterName : undefined;
}
