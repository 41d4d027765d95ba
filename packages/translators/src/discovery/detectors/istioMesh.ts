import { type Deployment, MESH_CONFIG_KEY, MESH_CONFIG_NAME } from "@isthmus/api";
import { type Report, refOf } from "@isthmus/core";
import { finding } from "../findings.ts";
import { placeOf } from "../indexes.ts";
import { type MeshConfig, type MeshConfigProblem, meshConfigOf } from "../meshConfig.ts";
import { regionOf } from "../nodes.ts";
import { withoutZeroValues } from "../zeroValues.ts";
import { containerWithImage, type DetectedMesh, installationOf, isReport, type MeshDetector, type MeshInputs } from "./controlPlane.ts";
import { ingressGatewaysOf } from "./istioGateways.ts";

const PILOT_IMAGE = ["istio", "pilot"];

/** On istiod's pods: which revision of the control plane they are. Source: istio.io/docs/setup/upgrade/canary. */
export const REVISION_LABEL = "istio.io/rev";

/** Knows istiod: a Deployment of that name, perhaps with a revision, that runs Istio's pilot. */
export const istioMesh: MeshDetector = {
  isControlPlane: (deployment) =>
    deployment.metadata.name.startsWith("istiod") && containerWithImage(deployment, PILOT_IMAGE) !== undefined,
  detect: detectIstio,
};

/** Names of the ConfigMap that holds a control plane's mesh configuration, the most specific first. */
export function meshConfigNames(deployment: Deployment): readonly string[] {
  const revision = deployment.spec?.template?.metadata?.labels?.[REVISION_LABEL] ?? "default";
  return revision === "default" ? [MESH_CONFIG_NAME] : [`${MESH_CONFIG_NAME}-${revision}`, MESH_CONFIG_NAME];
}

function detectIstio(inputs: MeshInputs): DetectedMesh {
  const { deployment, firstNode, agentNamespace } = inputs;
  const installation = installationOf(deployment, PILOT_IMAGE, regionOf(firstNode));
  if (isReport(installation)) return { reports: [installation] };
  const config = configOf(inputs);
  if ("code" in config) return { reports: [config] };
  const { gateways, reports } = ingressGatewaysOf(inputs);
  const istio = withoutZeroValues({
    installation,
    trustDomain: config.trustDomain,
    istiodServiceAccount: deployment.spec?.template?.spec?.serviceAccountName,
    ingressGateways: gateways,
    smartDnsProxyingEnabled: config.isDnsCaptured,
  });
  return { spec: { istio, ...(agentNamespace === "" ? {} : { agentInfo: { agentNamespace } }) }, reports };
}

function configOf({ deployment, configMap }: MeshInputs): MeshConfig | Report {
  const { clusterName, namespace } = placeOf(deployment);
  if (configMap === undefined) {
    const message = `ConfigMap ${MESH_CONFIG_NAME}.${namespace} not found in ${clusterName}: install Istio with its mesh configuration`;
    return finding(refOf(deployment), "INVALID", "MeshConfigMissing", message);
  }
  const config: MeshConfig | MeshConfigProblem = meshConfigOf(configMap);
  if (!("problem" in config)) return config;
  const message = `ConfigMap ${configMap.metadata.name}.${namespace}, data.${MESH_CONFIG_KEY}: ${config.problem}`;
  return finding(refOf(deployment), "INVALID", "MeshConfigInvalid", message);
}
