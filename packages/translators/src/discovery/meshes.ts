import { ConfigMap, Deployment, KubernetesCluster, Mesh, Node, Pod, Service, Settings, settingsInForce } from "@isthmus/api";
import { clusterRefOf, discoveredName, matchesLabels, type Owner, refOf, type Snapshot } from "@isthmus/core";
import type { ControlPlaneInputs } from "./detectors/controlPlane.ts";
import { meshDetectors } from "./detectors/index.ts";
import { gatewayDetector } from "./detectors/istioGateways.ts";
import { meshConfigNames } from "./detectors/istioMesh.ts";
import type { DiscoveryResult } from "./discoveryResult.ts";
import { agentPods, byCluster, namespaceKey, namespaceLocationOf, podsByNamespace, servicesByNamespace } from "./indexes.ts";
import { LastKnownMesh } from "./lastKnownMesh.ts";
import { type DiscoveryOptions, discoveredMetadata } from "./metadata.ts";

/** Translates one control plane into its Mesh. */
export function translateMesh(inputs: ControlPlaneInputs): DiscoveryResult<Mesh> {
  const { deployment, owner, namespace } = inputs;
  const detector = meshDetectors.find(({ isControlPlane }) => isControlPlane(deployment));
  const { spec, reports } = detector?.detect(inputs) ?? { reports: [] };
  if (spec === undefined) return { reports };
  const metadata = discoveredMetadata(discoveredName(clusterRefOf(deployment)), deployment, owner, namespace);
  const mesh: Mesh = { apiVersion: Mesh.apiVersion, kind: Mesh.kind, metadata, spec };
  return { output: { resource: mesh, parents: [refOf(deployment)] }, reports };
}

/** The Deployments of a cluster that are control planes, in key order. */
export function controlPlanesIn(snapshot: Snapshot, clusterName: string): readonly Deployment[] {
  return snapshot.of(Deployment).where(controlPlanesByCluster, clusterName);
}

/** Every control plane, in key order. */
export function allControlPlanes(snapshot: Snapshot): readonly Deployment[] {
  return snapshot.of(Deployment).where(controlPlanes, "");
}

function isControlPlane(deployment: Deployment): boolean {
  return meshDetectors.some((detector) => detector.isControlPlane(deployment));
}

function controlPlanesByCluster(deployment: Deployment): readonly string[] {
  return isControlPlane(deployment) ? [namespaceLocationOf(deployment).clusterName] : [];
}

function controlPlanes(deployment: Deployment): readonly string[] {
  return isControlPlane(deployment) ? [""] : [];
}

/** The mesh configuration of an istiod; undefined when there is none. */
export function meshConfigMap(snapshot: Snapshot, deployment: Deployment): ConfigMap | undefined {
  return meshConfigNames(deployment)
    .map((name) => snapshot.of(ConfigMap).get({ name, ...namespaceLocationOf(deployment) }))
    .find((configMap) => configMap !== undefined);
}

/** The Settings in use: the one object `settings` in the plane's namespace. */
export function settingsOf(snapshot: Snapshot, namespace: string): Settings | undefined {
  const settings = snapshot.of(Settings).get({ name: "settings", namespace, clusterName: "" });
  return settings && settingsInForce(settings);
}

/** What the detection of one control plane reads. */
export function controlPlaneInputs(
  snapshot: Snapshot,
  deployment: Deployment,
  options: DiscoveryOptions,
  owner: Owner,
): ControlPlaneInputs {
  const place = namespaceLocationOf(deployment);
  const settings = settingsOf(snapshot, options.namespace);
  const { labels } = gatewayDetector(settings, place.clusterName);
  const gatewayPod = snapshot
    .of(Pod)
    .where(podsByNamespace, namespaceKey(place))
    .find(({ metadata }) => matchesLabels(labels, metadata.labels));
  return {
    deployment,
    configMap: meshConfigMap(snapshot, deployment),
    firstNode: snapshot.of(Node).where(byCluster, place.clusterName)[0],
    agentNamespace: agentNamespace(snapshot, place.clusterName, options),
    services: snapshot.of(Service).where(servicesByNamespace, namespaceKey(place)),
    gatewayNode: nodeOf(snapshot, gatewayPod),
    settings,
    lastKnown: snapshot
      .of(LastKnownMesh)
      .get({ name: discoveredName(clusterRefOf(deployment)), namespace: options.namespace, clusterName: "" }),
    owner,
    namespace: options.namespace,
  };
}

/** Where the agent of a cluster runs: an agent that discovers says so itself; else by its pods, or as it said when it registered. */
function agentNamespace(snapshot: Snapshot, clusterName: string, { namespace, agentCluster }: DiscoveryOptions): string {
  if (agentCluster !== undefined) return namespace;
  const pod = snapshot.of(Pod).where(agentPods, clusterName)[0];
  if (pod !== undefined) return pod.metadata.namespace ?? "";
  const registration = snapshot.of(KubernetesCluster).get({ name: clusterName, namespace, clusterName: "" });
  return registration?.status?.agent === undefined ? "" : (registration.status.namespace ?? "");
}

/** The node that a pod runs on; undefined when it is not scheduled, or its node is not known. */
export function nodeOf(snapshot: Snapshot, pod: Pod | undefined): Node | undefined {
  const nodeName = pod?.spec?.nodeName ?? "";
  return nodeName === ""
    ? undefined
    : snapshot.of(Node).get({ name: nodeName, namespace: "", clusterName: pod?.metadata.clusterName ?? "" });
}
