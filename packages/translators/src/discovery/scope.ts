import { Namespace } from "@isthmus/api";
import { type LabelSelector, matchesSelector, type Snapshot } from "@isthmus/core";
import { meshConfigOf } from "./meshConfig.ts";
import { controlPlanesIn, meshConfigMap, settingsOf } from "./meshes.ts";

/** Tells which namespaces of a cluster discovery looks into. */
export type Scope = (namespace: string) => boolean;

/**
 * The namespaces of a cluster that its meshes look into by their Istio discovery selectors, and that the Settings select. A namespace
 * that one mesh of the cluster looks into is in scope, and so is each control plane's own. Without selectors: all of them.
 * Source: istio.io/docs/reference/config/istio.mesh.v1alpha1/#MeshConfig-discovery_selectors.
 */
export function discoveryScope(snapshot: Snapshot, clusterName: string, namespace: string): Scope {
  const meshSelectors: (readonly LabelSelector[])[] = [];
  const home = new Set<string>();
  for (const deployment of controlPlanesIn(snapshot, clusterName)) {
    home.add(deployment.metadata.namespace ?? "");
    const configMap = meshConfigMap(snapshot, deployment);
    const config = configMap === undefined ? undefined : meshConfigOf(configMap);
    meshSelectors.push(config === undefined || "problem" in config ? [] : config.discoverySelectors);
  }
  const ofMeshes = meshSelectors.some((selectors) => selectors.length === 0) ? [] : meshSelectors.flat();
  const ofSettings = settingsSelectors(snapshot, namespace);
  if (ofMeshes.length === 0 && ofSettings.length === 0) return () => true;

  const known = new Map<string, boolean>();
  return (name) => {
    let isInScope = known.get(name);
    if (isInScope === undefined) {
      const labels = namespaceLabels(snapshot, clusterName, name);
      isInScope = home.has(name) || (selects(ofMeshes, labels) && selects(ofSettings, labels));
      known.set(name, isInScope);
    }
    return isInScope;
  };
}

function settingsSelectors(snapshot: Snapshot, namespace: string): readonly LabelSelector[] {
  return (settingsOf(snapshot, namespace)?.spec?.discovery?.selectors ?? []).map(({ matchLabels = {}, matchExpressions = [] }) => ({
    matchLabels,
    // An expression that isn't understood must not widen the selection: such a key is on no namespace.
    matchExpressions: matchExpressions.map(({ key = "", operator = "Exists", values = [] }) => ({ key, operator, values })),
  }));
}

function selects(selectors: readonly LabelSelector[], labels: Readonly<Record<string, string>>): boolean {
  return selectors.length === 0 || selectors.some((selector) => matchesSelector(selector, labels));
}

/** The labels of a namespace; of one that we don't know, the one that Kubernetes puts on each. */
function namespaceLabels(snapshot: Snapshot, clusterName: string, name: string): Readonly<Record<string, string>> {
  const namespace = snapshot.of(Namespace).get({ name, namespace: "", clusterName });
  return { "kubernetes.io/metadata.name": name, ...namespace?.metadata.labels };
}
