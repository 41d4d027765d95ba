import type { KubeServicePort, ServiceEntryPort } from "@isthmus/api";
import { exactly, intern } from "@isthmus/core";
import { memoizeLast } from "../../../incremental/memoizeRow.ts";

// Protocols that Istio knows, by what users write in port names. Source: istio.io/docs/ops/configuration/traffic-management/protocol-selection.
const PROTOCOLS: ReadonlyMap<string, string> = new Map([
  ["tcp", "TCP"],
  ["udp", "UDP"],
  ["grpc", "GRPC"],
  ["http", "HTTP"],
  ["http_proxy", "HTTP_PROXY"],
  ["http2", "HTTP2"],
  ["https", "HTTPS"],
  ["tls", "TLS"],
  ["mongo", "Mongo"],
  ["redis", "Redis"],
  ["mysql", "MySQL"],
  // Istio knows Thrift no more and refuses it; its bytes pass as TCP.
  ["thrift", "TCP"],
]);

/** The protocol of a service's port in Istio's words; undefined for one that Istio cannot carry, such as SCTP. */
export function portProtocol({ name = "", protocol = "TCP", appProtocol }: KubeServicePort): string | undefined {
  if (protocol === "UDP") return "UDP";
  const hint = (appProtocol || name).toLowerCase();
  if (hint.startsWith("grpc-web")) return "GRPC-Web";
  const known = PROTOCOLS.get(hint.split("-", 1)[0] ?? "");
  if (known !== undefined) return known;
  return protocol === "TCP" ? "TCP" : undefined;
}

/** The name of a service's port in a ServiceEntry, where every port needs one. */
export function portName({ name, protocol = "TCP" }: { readonly name?: string; readonly protocol?: string }): string {
  return name || protocol;
}

/** The ports under which a service is federated, and those that cannot be. */
export interface FederatedPorts {
  readonly ports: readonly ServiceEntryPort[];
  readonly omitted: readonly OmittedPort[];
}

export interface OmittedPort {
  readonly port: KubeServicePort;
  /** Why it is not federated, in words. */
  readonly reason: string;
}

/**
 * The ports of a service as ServiceEntries have them. Istio refuses a ServiceEntry as a whole for one port it can't take: of a
 * protocol that it doesn't know, or with a number or name that another port has. Source: istio.io/istio
 * pkg/config/validation, ValidateServiceEntry.
 */
export const federatedPorts = memoizeLast((servicePorts: readonly KubeServicePort[]): FederatedPorts => {
  const ports: ServiceEntryPort[] = [];
  const omitted: OmittedPort[] = [];
  for (const port of servicePorts) {
    const protocol = portProtocol(port);
    const reason = protocol === undefined ? `Istio does not support ${port.protocol}` : reasonBeside(port, protocol, ports);
    if (protocol === undefined || reason !== undefined) omitted.push({ port, reason: reason ?? "" });
    else ports.push({ number: port.port ?? 0, protocol, name: portName(port) });
  }
  return { ports: intern(exactly(ports)), omitted };
});

/** Why a port can't be federated, given those before it. */
function reasonBeside(port: KubeServicePort, protocol: string, taken: readonly ServiceEntryPort[]): string | undefined {
  // They forward connections by their SNI.
  if (protocol === "UDP") return "gateways do not forward UDP";
  if (taken.some(({ number }) => number === port.port)) return "Istio allows each port number once";
  return taken.some(({ name }) => name === portName(port)) ? "Istio allows each port name once" : undefined;
}
