import { type AnyResource, isClusterName, type JsonObject, UsageError } from "@isthmus/core";
import manifest from "../../gen/agentManifest.json";
import { inApplyOrder, placedObjects, RENDERED_NAMESPACE } from "../renderedObjects.ts";
import { addressText, isHost, type RelayAddress } from "./relayAddress.ts";

/** What an agent is given at its installation. */
export interface AgentInstallation {
  readonly clusterName: string;
  /** Of the agent. */
  readonly namespace: string;
  /** Of the management plane, in its cluster. */
  readonly managementNamespace: string;
  readonly relay: Pick<RelayAddress, "host" | "port" | "authority">;
  /** Whether the agent obtains a certificate; else each of its calls carries the shared token. Default: it does. */
  readonly clientCertificates?: boolean;
}

/** Name of the agent's Deployment and its label `app`. */
export const AGENT = "gloo-mesh-agent";

/** What a cluster and the management plane may be called, so that values are never taken for anything else. Throws UsageError. */
export function checkAgentInstallation({ clusterName, namespace, managementNamespace, relay }: AgentInstallation): void {
  if (!isClusterName(clusterName)) {
    throw new UsageError(`${clusterName} is not a valid cluster name: use at most 63 lower-case letters, digits and hyphens`);
  }
  for (const [flag, value] of [
    ["--remote-namespace", namespace],
    ["--mgmt-namespace", managementNamespace],
  ] as const) {
    if (!isClusterName(value)) throw new UsageError(`${flag} ${value}: is not a valid namespace name`);
  }
  if (!isHost(relay.authority)) throw new UsageError(`--relay-authority ${relay.authority}: must be a DNS name`);
  if (!isHost(relay.host)) throw new UsageError(`the address of the management server, ${relay.host}, is no host name or IP address`);
}

/**
 * The objects of the agent chart (deploy/manifests), in the order in which they are applied.
 */
export function agentObjects(settings: AgentInstallation): readonly AnyResource[] {
  checkAgentInstallation(settings);
  const { clusterName, namespace, managementNamespace, relay, clientCertificates = true } = settings;
  const values = new Map([
    ["CLUSTER_NAME", clusterName],
    ["RELAY_ADDRESS", addressText(relay)],
    ["RELAY_AUTHORITY", relay.authority],
  ]);
  const objects = placedObjects(manifest as unknown as readonly AnyResource[], { namespace, values });
  const more = [
    // Where it is another than the agent assumes.
    ...(managementNamespace === RENDERED_NAMESPACE ? [] : [`${MANAGEMENT_NAMESPACE}=${managementNamespace}`]),
    ...(clientCertificates ? [] : ["--disable-client-certificates"]),
  ];
  return inApplyOrder(objects.map((object) => (isAgent(object) ? withArguments(object, more) : object)));
}

/** Whether an object of the agent chart is the agent's Deployment: it alone takes arguments, and it is applied after all others. */
export function isAgent({ kind, metadata }: AnyResource): boolean {
  return kind === "Deployment" && metadata.name === AGENT;
}

/** With more arguments for the agent; one that it has is replaced. */
function withArguments(deployment: AnyResource, more: readonly string[]): AnyResource {
  if (more.length === 0) return deployment;
  const { spec } = deployment as unknown as AgentDeployment;
  const { template } = spec;
  const [agent, ...others] = template.spec.containers;
  if (agent === undefined) return deployment;
  const flags = new Set(more.map(flagOf));
  const args = [...(agent.args ?? []).filter((argument) => !flags.has(flagOf(argument))), ...more];
  const containers = [{ ...agent, args }, ...others];
  return { ...deployment, spec: { ...spec, template: { ...template, spec: { ...template.spec, containers } } } };
}

function flagOf(argument: string): string {
  return argument.split("=", 1)[0] ?? "";
}

interface AgentDeployment {
  readonly spec: {
    readonly template: { readonly spec: { readonly containers: readonly (JsonObject & { readonly args?: readonly string[] })[] } };
  };
}

const MANAGEMENT_NAMESPACE = "--management-namespace";
