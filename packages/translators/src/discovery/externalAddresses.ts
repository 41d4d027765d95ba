import type { ExternalAddress, Node, Service } from "@isthmus/api";
import { externalAddressesOfNode } from "./nodes.ts";

/**
 * Where a Service is reached from outside its cluster: its external IPs, then what its type gives. `podNodes` are the nodes of
 * its pods, one for each pod: as in the published API, a node with several of them shows several times.
 */
export function externalAddresses({ spec, status }: Service, podNodes: readonly Node[]): readonly ExternalAddress[] {
  const { type, externalIPs = [] } = spec ?? {};
  const stated = externalIPs.map((ip) => ({ ip }));
  if (type === "NodePort") return [...stated, ...podNodes.flatMap(externalAddressesOfNode)];
  if (type !== "LoadBalancer") return stated;
  const given = (status?.loadBalancer?.ingress ?? []).flatMap(({ ip = "", hostname = "" }): ExternalAddress[] => {
    if (ip !== "") return [{ ip }];
    return hostname === "" ? [] : [{ dnsName: hostname }];
  });
  return [...stated, ...given];
}
