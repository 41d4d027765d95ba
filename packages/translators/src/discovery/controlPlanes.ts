import { ConfigMap, Deployment, Settings, settingsInForce } from "@isthmus/api";
import { keyOf, type Snapshot } from "@isthmus/core";
import { namespaceKey, namespaceLocationOf } from "../policy/podIndexes.ts";
import { meshDetectors } from "./detectors/index.ts";
import { meshConfigNames } from "./detectors/istioMesh.ts";

/** Whether a Deployment is the control plane of a mesh. */
export function isControlPlane(deployment: Deployment): boolean {
  return meshDetectors.some((detector) => detector.isControlPlane(deployment));
}

/** Control planes by their cluster. */
export function controlPlanesByCluster(deployment: Deployment): readonly string[] {
  return isControlPlane(deployment) ? [namespaceLocationOf(deployment).clusterName] : [];
}

/** Control planes by `namespaceKey`. */
export function controlPlanesByNamespace(deployment: Deployment): readonly string[] {
  return isControlPlane(deployment) ? [namespaceKey(namespaceLocationOf(deployment))] : [];
}

/** Control planes by `keyOf` the ConfigMaps that may hold their mesh's configuration; the first that exists does. */
export function controlPlanesByMeshConfig(deployment: Deployment): readonly string[] {
  if (!isControlPlane(deployment)) return [];
  return meshConfigNames(deployment).map((name) => keyOf({ name, ...namespaceLocationOf(deployment) }));
}

/** The Deployments of a cluster that are control planes, in key order. */
export function controlPlanesIn(snapshot: Snapshot, clusterName: string): readonly Deployment[] {
  return snapshot.of(Deployment).where(controlPlanesByCluster, clusterName);
}

/** The mesh configuration of an istiod; undefined when there is none. */
export function meshConfigMap(snapshot: Snapshot, deployment: Deployment): ConfigMap | undefined {
  const configMaps = controlPlanesByMeshConfig(deployment).map((key) => snapshot.of(ConfigMap).row(key));
  return configMaps.find((configMap) => configMap !== undefined);
}

/** The Settings in use: the one object `settings` in the plane's namespace. */
export function settingsOf(snapshot: Snapshot, namespace: string): Settings | undefined {
  const settings = snapshot.of(Settings).get({ name: "settings", namespace, clusterName: "" });
  return settings && settingsInForce(settings);
}
