import { type Deployment, MESH_CONFIG_KEY, MESH_CONFIG_NAME } from "@isthmus/api";
import { displayName, keptText, type Report, refOf } from "@isthmus/core";
import { namespaceLocationOf } from "../../policy/podIndexes.ts";
import { isTrustDomain } from "../../policy/trustDomain.ts";
import { finding } from "../findings.ts";
import { regionOf } from "../nodes.ts";
import { withoutZeroValues } from "../zeroValues.ts";
import { type ControlPlaneInputs, type DetectedMesh, installationInUse, installationOf, type MeshDetector } from "./controlPlane.ts";
import { ingressGatewaysOf } from "./istioGateways.ts";
import { DEFAULT_TRUST_DOMAIN, type MeshConfig, type MeshConfigProblem, meshConfigOf } from "./istioMeshConfig.ts";
import { istiodContainer } from "./istioShape.ts";

/** On istiod's pods: which revision of the control plane they are. Source: istio.io/docs/setup/upgrade/canary. */
export const REVISION_LABEL = "istio.io/rev";

/** Knows istiod: a Deployment that says so by its name or the labels of its pods, and has the container of it, from whatever registry. */
export const istioMesh: MeshDetector = {
  isControlPlane: (deployment) => pilotOf(deployment) !== undefined,
  detect: detectIstio,
};

function pilotOf({ metadata: { name }, spec }: Deployment) {
  const { metadata, spec: pods } = spec?.template ?? {};
  return istiodContainer({ name, labels: metadata?.labels }, pods?.containers ?? []);
}

/** Names of the ConfigMap that holds a control plane's mesh configuration, the most specific first. */
export function meshConfigNames(deployment: Deployment): readonly string[] {
  const revision = deployment.spec?.template?.metadata?.labels?.[REVISION_LABEL] ?? "default";
  return revision === "default" ? [MESH_CONFIG_NAME] : [`${MESH_CONFIG_NAME}-${revision}`, MESH_CONFIG_NAME];
}

function detectIstio(inputs: ControlPlaneInputs): DetectedMesh {
  const { deployment, firstNode, agent, systemNamespaces } = inputs;
  const { installation, reports: ofImage } = installationInUse(
    installationOf(deployment, pilotOf(deployment), regionOf(firstNode)),
    inputs,
  );
  if (installation === undefined) return { reports: ofImage };
  const read = configOf(inputs);
  const { config, problem } = "code" in read ? { config: lastConfig(inputs), problem: read } : trusted(read, inputs);
  if (config === undefined) return { reports: problem === undefined ? ofImage : [...ofImage, problem] };
  const { gateways, reports: ofGateways } = ingressGatewaysOf(inputs);
  const reports = [...ofImage, ...(problem === undefined ? [] : [problem]), ...unheeded(read, inputs), ...ofGateways];
  const istio = withoutZeroValues({
    installation,
    trustDomain: config.trustDomain,
    trustDomainAliases: config.trustDomainAliases.filter(isTrustDomain),
    trustDomainProblem: problem === undefined ? "" : problem.message,
    severalTrustDomains: inputs.severalTrustDomains,
    rootNamespace: config.rootNamespace === installation.namespace ? "" : config.rootNamespace,
    istiodServiceAccount: deployment.spec?.template?.spec?.serviceAccountName,
    ingressGateways: gateways,
    smartDnsProxyingEnabled: config.isDnsCaptured,
    autoMtlsDisabled: !config.isAutoMtls,
    // IPv4 alone is not noted: nearly all clusters have that.
    ipFamilies: inputs.ipFamilies.includes("IPv6") ? inputs.ipFamilies : [],
    privateByDefault: config.privateByDefault,
    ambientNamespaces: inputs.ambientNamespaces,
    // Where it is known at all, it names the namespace of a control plane at least, which makes it no empty list.
    systemNamespaces: systemNamespaces && [...new Set([...systemNamespaces, installation.namespace ?? ""])].sort(),
  });
  return { spec: { istio, ...(agent === undefined ? {} : { agentInfo: agent }) }, reports };
}

type UsedConfig = Pick<
  MeshConfig,
  "trustDomain" | "trustDomainAliases" | "rootNamespace" | "isDnsCaptured" | "isAutoMtls" | "privateByDefault"
>;

/** What of a configuration is not heeded, once for each mesh. */
function unheeded(read: MeshConfig | Report, { deployment, configMap }: ControlPlaneInputs): readonly Report[] {
  if ("code" in read || read.unheeded.length === 0) return [];
  const { name, namespace = "" } = configMap?.metadata ?? { name: MESH_CONFIG_NAME };
  const message = `ConfigMap ${displayName({ name, namespace })}, data.${MESH_CONFIG_KEY}: ${read.unheeded.join(", ")}: what these say is in force in the mesh, and is not considered here: compare docs/reference/mesh-config.md`;
  return [finding(refOf(deployment), "WARNING", "MeshConfigNotHeeded", message)];
}

/** Of a mesh that is known: a mistake in its configuration takes nothing away that others rely on. */
function lastConfig({ lastKnown }: ControlPlaneInputs): UsedConfig | undefined {
  return (
    lastKnown && {
      trustDomain: lastKnown.trustDomain,
      trustDomainAliases: lastKnown.trustDomainAliases,
      rootNamespace: lastKnown.rootNamespace,
      isDnsCaptured: lastKnown.smartDnsProxyingEnabled,
      isAutoMtls: !lastKnown.autoMtlsDisabled,
      privateByDefault: lastKnown.privateByDefault,
    }
  );
}

/**
 * The configuration with a trust domain that principals can be made of. It stays one that meshes of the cluster were first seen with: another one is the word of a user who may
 * write a ConfigMap there, and counts once the management cluster says so.
 */
function trusted(read: MeshConfig, inputs: ControlPlaneInputs): { readonly config: UsedConfig; readonly problem?: Report } {
  const { deployment, configMap, acceptedTrustDomain, knownTrustDomains } = inputs;
  const last = lastTrustDomain(inputs);
  // One that was named before may be lost by mistake, and with it who all callers are.
  const isDefault = !read.namesTrustDomain && (last === "" || last === DEFAULT_TRUST_DOMAIN);
  const config = isDefault ? { ...read, trustDomain: DEFAULT_TRUST_DOMAIN } : read;
  const { trustDomain } = config;
  // Without a registration there is no other cluster of which the trust domain could be.
  const isKnown = knownTrustDomains.length === 0 ? acceptedTrustDomain === "" : knownTrustDomains.includes(trustDomain);
  const isExpected = acceptedTrustDomain === undefined || trustDomain === acceptedTrustDomain || isKnown;
  if ((isTrustDomain(trustDomain) && isExpected) || (trustDomain === "" && last === "")) return { config };
  const { name, namespace = "" } = configMap?.metadata ?? { name: MESH_CONFIG_NAME };
  const field = `ConfigMap ${displayName({ name, namespace })}, data.${MESH_CONFIG_KEY}: trustDomain`;
  const code = isTrustDomain(trustDomain) ? "TrustDomainChanged" : "TrustDomainInvalid";
  const message = `${field}: ${isTrustDomain(trustDomain) ? changed(inputs, trustDomain) : invalid(trustDomain, last)}`;
  return { config: { ...config, trustDomain: last }, problem: finding(refOf(deployment), "INVALID", code, message) };
}

function invalid(trustDomain: string, last: string): string {
  const given = trustDomain === "" ? "is missing" : `${quoted(trustDomain)} is not a DNS name such as cluster.local`;
  return `${given}; ${last === "" ? CALLERS_UNKNOWN : `the last known one, ${last}, is still used`}`;
}

/** The one that the mesh was last used with. */
function lastTrustDomain({ lastKnown, pinnedTrustDomain }: ControlPlaneInputs): string {
  return lastKnown?.trustDomain || pinnedTrustDomain;
}

function changed(inputs: ControlPlaneInputs, trustDomain: string): string {
  const { deployment, acceptedTrustDomain = "", knownTrustDomains } = inputs;
  const { clusterName } = namespaceLocationOf(deployment);
  const last = lastTrustDomain(inputs);
  const known = knownTrustDomains.join(", ");
  const before =
    known === "" ? `spec.trustDomain of KubernetesCluster ${clusterName} is ${acceptedTrustDomain}` : `the last known one is ${known}`;
  const consequence = last === "" ? CALLERS_UNKNOWN : `${last} is still used`;
  return `is ${trustDomain}, and ${before}; ${consequence} until you run: meshctl cluster trust-domain accept ${clusterName} ${trustDomain}`;
}

const CALLERS_UNKNOWN = "AccessPolicies cannot name callers of this mesh";

function quoted(text: string): string {
  return JSON.stringify(text.length > 80 ? `${keptText(text, 80)}…` : text);
}

function configOf({ deployment, configMap }: ControlPlaneInputs): MeshConfig | Report {
  const { clusterName, namespace } = namespaceLocationOf(deployment);
  if (configMap === undefined) {
    const message = `ConfigMap ${displayName({ name: MESH_CONFIG_NAME, namespace, clusterName })} not found: install Istio with its mesh configuration`;
    return finding(refOf(deployment), "INVALID", "MeshConfigMissing", message);
  }
  const config: MeshConfig | MeshConfigProblem = meshConfigOf(configMap);
  if (!("problem" in config)) return config;
  const message = `ConfigMap ${displayName({ name: configMap.metadata.name, namespace })}, data.${MESH_CONFIG_KEY}: ${config.problem}`;
  return finding(refOf(deployment), "INVALID", "MeshConfigInvalid", message);
}
