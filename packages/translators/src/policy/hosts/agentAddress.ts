import type { MeshAgentInfo, Settings } from "@isthmus/api";
import { type Finding, warningFinding } from "../../findings.ts";
import type { AgeSource } from "../precedence.ts";
import { clusterDomainOf } from "./hostnames.ts";

/** Where proxies find their agent. */
export interface AgentAddress {
  readonly host: string;
  readonly port: number;
}

/** What of a translation's context says where agents are. */
interface AddressSources {
  readonly settings: Settings | undefined;
  readonly clusterDomains: ReadonlyMap<string, string>;
  readonly ages: AgeSource;
  /** Namespace of the management plane. */
  readonly namespace: string;
}

/** The Service of agents that do not say which one they have. */
export const AGENT_SERVICE = "gloo-mesh-agent";
/** And of those with the names of the first generation, which did not say it either. */
export const LEGACY_AGENT = "enterprise-agent";
/** The port of both for access logs and Wasm filters. */
export const AGENT_PORT = 9977;

/**
 * By the Settings, or else by the Service that the agent of the cluster has, as it says; undefined where neither is known, and where it has none.
 * What is no address counts as not set, and what is no name of a Service as none: it stands in the configuration of the proxies of this cluster,
 * and leads to nothing outside of its agent's namespace. Files do not tell where agents run: there the namespace of the management plane counts,
 * which is that of agents unless somebody says otherwise.
 */
export function agentAddress(
  { settings, clusterDomains, ages, namespace: planeNamespace }: AddressSources,
  { clusterName, agent }: { readonly clusterName: string; readonly agent: MeshAgentInfo | undefined },
): AgentAddress | undefined {
  const configured = settings && configuredAddress(settings);
  if (configured !== undefined) return configured;
  const { agentNamespace = "", serviceName = AGENT_SERVICE, servicePort = AGENT_PORT } = agent ?? {};
  const namespace = agentNamespace === "" && ages === "CREATED" ? planeNamespace : agentNamespace;
  if (!DNS_LABEL.test(namespace) || !DNS_LABEL.test(serviceName) || !isPort(servicePort)) return undefined;
  return { host: `${serviceName}.${namespace}.svc.${clusterDomainOf(clusterName, clusterDomains)}`, port: servicePort };
}

function configuredAddress({ spec }: Settings): AgentAddress | undefined {
  const { address = "" } = spec?.agentServices ?? {};
  return parsedAddress(address);
}

/** That what the Settings have for the address is none: the default counts. */
export function addressFindings({ spec }: Settings): readonly Finding[] {
  const { address = "" } = spec?.agentServices ?? {};
  if (address === "" || parsedAddress(address) !== undefined) return [];
  const message = `spec.agentServices.address: ${JSON.stringify(address)} is not a host, or host:port, so the default is used: set one such as ${AGENT_SERVICE}.gloo-mesh.svc.cluster.local:${AGENT_PORT}`;
  return [warningFinding("AgentAddressInvalid", message)];
}

const DNS_LABEL = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/i;
const ADDRESS = /^([^:]{1,253})(?::(\d{1,5}))?$/;

/** A host name or an IPv4 address, perhaps with a port; undefined for anything else. */
function parsedAddress(address: string): AgentAddress | undefined {
  const [, host = "", given] = ADDRESS.exec(address) ?? [];
  const port = given === undefined ? AGENT_PORT : Number(given);
  if (!host.split(".").every((label) => DNS_LABEL.test(label)) || !isPort(port)) return undefined;
  return { host, port };
}

function isPort(port: number): boolean {
  return port >= 1 && port <= 65_535;
}
