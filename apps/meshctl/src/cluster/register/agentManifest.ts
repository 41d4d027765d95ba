import { type AnyResource, isClusterName, type JsonObject, UsageError } from "@isthmus/core";
import manifest from "../../gen/agentManifest.json";
import { addressText, isHost, type RelayAddress } from "./relayAddress.ts";

/** What an agent is told at its installation. */
export interface AgentInstallation {
  readonly clusterName: string;
  /** Of the agent. */
  readonly namespace: string;
  /** Of the management plane, in its cluster. */
  readonly managementNamespace: string;
  readonly relay: Pick<RelayAddress, "host" | "port" | "authority">;
}

/** Name of the agent's Deployment and its label `app`. */
export const AGENT = "gloo-mesh-agent";

/** The namespace that the manifest was rendered for. */
const RENDERED_NAMESPACE = "gloo-mesh";

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
 * The objects of the agent chart (deploy/manifests), in the order in which they are applied. Values are put in place of whole
 * texts of parsed objects, and of what follows the `=` of an argument: no value can become anything but a text.
 */
export function agentObjects(settings: AgentInstallation): readonly AnyResource[] {
  checkAgentInstallation(settings);
  const { clusterName, namespace, managementNamespace, relay } = settings;
  const values = new Map([
    ["CLUSTER_NAME", clusterName],
    ["RELAY_ADDRESS", addressText(relay)],
    ["RELAY_AUTHORITY", relay.authority],
  ]);
  const objects = (manifest as unknown as readonly AnyResource[])
    .map((object) => filled(object, values) as AnyResource)
    .map((object) => inNamespace(object, namespace))
    .map((object) => (isAgent(object) ? withArgument(object, managementNamespace) : object));
  return [...objects].sort((a, b) => rankOf(a) - rankOf(b));
}

function filled(value: unknown, values: ReadonlyMap<string, string>): unknown {
  if (typeof value === "string") return filledText(value, values);
  if (Array.isArray(value)) return value.map((item) => filled(item, values));
  if (typeof value !== "object" || value === null) return value;
  // The name of an environment variable may be that of a value.
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, key === "name" ? member : filled(member, values)]));
}

function filledText(text: string, values: ReadonlyMap<string, string>): string {
  const start = text.startsWith("--") ? text.indexOf("=") + 1 : 0;
  return text.slice(0, start) + (values.get(text.slice(start)) ?? text.slice(start));
}

function inNamespace(object: AnyResource, namespace: string): AnyResource {
  const moved = <T extends { readonly namespace?: string | undefined }>(place: T): T =>
    place.namespace === RENDERED_NAMESPACE ? { ...place, namespace } : place;
  const { subjects } = object as { readonly subjects?: readonly { readonly namespace?: string }[] };
  const isNamespace = object.kind === "Namespace" && object.metadata.name === RENDERED_NAMESPACE;
  return {
    ...object,
    metadata: { ...moved(object.metadata), ...(isNamespace ? { name: namespace } : {}) },
    ...(subjects === undefined ? {} : { subjects: subjects.map(moved) as readonly JsonObject[] }),
  };
}

export function isAgent({ kind, metadata }: AnyResource): boolean {
  return kind === "Deployment" && metadata.name === AGENT;
}

/** Names the namespace of the management plane, where it is another than the agent assumes. */
function withArgument(deployment: AnyResource, managementNamespace: string): AnyResource {
  if (managementNamespace === RENDERED_NAMESPACE) return deployment;
  const { spec } = deployment as unknown as AgentDeployment;
  const { template } = spec;
  const [agent, ...others] = template.spec.containers;
  if (agent === undefined) return deployment;
  const args = (agent.args ?? []).filter((argument) => !argument.startsWith(`${MANAGEMENT_NAMESPACE}=`));
  const containers = [{ ...agent, args: [...args, `${MANAGEMENT_NAMESPACE}=${managementNamespace}`] }, ...others];
  return { ...deployment, spec: { ...spec, template: { ...template, spec: { ...template.spec, containers } } } };
}

interface AgentDeployment {
  readonly spec: {
    readonly template: { readonly spec: { readonly containers: readonly (JsonObject & { readonly args?: readonly string[] })[] } };
  };
}

const MANAGEMENT_NAMESPACE = "--management-namespace";

/** What is needed by others comes first: definitions, namespaces, accounts and rights, then what runs. */
function rankOf({ kind }: AnyResource): number {
  const rank = ORDER.indexOf(kind);
  return rank === -1 ? ORDER.length : rank;
}

const ORDER = [
  "CustomResourceDefinition",
  "Namespace",
  "ServiceAccount",
  "ClusterRole",
  "Role",
  "ClusterRoleBinding",
  "RoleBinding",
  "Secret",
];
