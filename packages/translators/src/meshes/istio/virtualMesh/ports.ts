import type { KubeServicePort, ServiceEntryPort } from "@isthmus/api";
import { exactly, intern } from "@isthmus/core";
import { memoizeLast } from "../../../incremental/memoizeRow.ts";
import { portProtocol } from "../portProtocol.ts";

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
    const reason = reasonOf(port, protocol) ?? reasonBeside(port, ports);
    if (reason !== undefined) omitted.push({ port, reason });
    else ports.push({ number: port.port ?? 0, ...(protocol ? { protocol } : {}), name: portName(port) });
  }
  return { ports: intern(exactly(ports)), omitted };
});

/** Why a port can't be called through gateways at all. They make no cluster for UDP: istio.io/istio, buildOutboundSniDnatClusters. */
function reasonOf({ protocol: transport }: KubeServicePort, protocol: string | undefined): string | undefined {
  if (protocol === undefined) return `Istio does not support ${transport}`;
  return protocol === "UDP" ? "gateways do not forward UDP" : undefined;
}

/** Why a port can't stand beside the others. */
function reasonBeside(port: KubeServicePort, taken: readonly ServiceEntryPort[]): string | undefined {
  if (taken.some(({ number }) => number === port.port)) return "Istio allows each port number once";
  return taken.some(({ name }) => name === portName(port)) ? "Istio allows each port name once" : undefined;
}
