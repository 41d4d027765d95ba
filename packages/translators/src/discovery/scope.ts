import { ConfigMap, Namespace } from "@isthmus/api";
import {
  clusterRefOf,
  equalJson,
  type LabelSelector,
  matchesSelector,
  type Resource,
  type ResourceRef,
  refOf,
  type Snapshot,
} from "@isthmus/core";
import { meshConfigOf } from "./meshConfig.ts";
import { controlPlanesIn, meshConfigMap, settingsOf } from "./meshes.ts";

/** Tells which namespaces of a cluster discovery looks into. */
export type Scope = (namespace: string) => boolean;

/** Every namespace. */
const EVERYWHERE: Scope = () => true;

/**
 * The namespaces of a cluster that its meshes look into by their Istio discovery selectors, and that the Settings select. A namespace
 * that one mesh of the cluster looks into is in scope, and so is each control plane's own. Without selectors: all of them.
 * Source: istio.io/docs/reference/config/istio.mesh.v1alpha1/#MeshConfig-discovery_selectors.
 */
export function discoveryScope(snapshot: Snapshot, clusterName: string, namespace: string): Scope {
  const { home, ofMeshes } = meshScope(snapshot, clusterName);
  const ofSettings = settingsSelectors(snapshot, namespace);
  if (ofMeshes.length === 0 && ofSettings.length === 0) return EVERYWHERE;

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

/** Where discovery looks for what it found in a namespace of a cluster, earlier and now. */
export interface ExcludedNamespace {
  readonly before: Snapshot;
  readonly now: Snapshot;
  readonly place: { readonly namespace: string; readonly clusterName: string };
  /** That of the management plane. */
  readonly planeNamespace: string;
}

/**
 * The objects that somebody edited so that discovery does not look into a namespace any more: the Settings, a mesh's configuration,
 * the Namespace itself. Empty where it still looks there, or where the namespace merely is not seen: nobody meant that.
 */
export function exclusionCauses({ before, now, place, planeNamespace }: ExcludedNamespace): readonly ResourceRef[] {
  const { namespace, clusterName } = place;
  const [then, here] = [before, now].map((snapshot) => snapshot.of(Namespace).get({ name: namespace, namespace: "", clusterName }));
  if (here === undefined || discoveryScope(now, clusterName, planeNamespace)(namespace)) return [];
  const edits: Resource[] = [];
  if (then !== undefined && !equalJson(then.metadata.labels, here.metadata.labels)) edits.push(here);
  const settings = settingsOf(now, planeNamespace);
  const ofSettings = settingsSelectors(now, planeNamespace);
  if (settings !== undefined && !equalJson(ofSettings, settingsSelectors(before, planeNamespace))) edits.push(settings);
  for (const deployment of controlPlanesIn(now, clusterName)) {
    const configMap = meshConfigMap(now, deployment);
    const earlier = configMap && before.of(ConfigMap).get(clusterRefOf(configMap));
    if (earlier !== undefined && configMap !== undefined && !equalJson(earlier.data, configMap.data)) edits.push(configMap);
  }
  return edits.map(refOf);
}

/** The namespaces of the control planes of a cluster, and by what selectors their meshes look into others; none: into all. */
function meshScope(snapshot: Snapshot, clusterName: string) {
  const meshSelectors: (readonly LabelSelector[])[] = [];
  const home = new Set<string>();
  for (const deployment of controlPlanesIn(snapshot, clusterName)) {
    home.add(deployment.metadata.namespace ?? "");
    const configMap = meshConfigMap(snapshot, deployment);
    const config = configMap === undefined ? undefined : meshConfigOf(configMap);
    meshSelectors.push(config === undefined || "problem" in config ? [] : config.discoverySelectors);
  }
  return { home, ofMeshes: meshSelectors.some((selectors) => selectors.length === 0) ? [] : meshSelectors.flat() };
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
