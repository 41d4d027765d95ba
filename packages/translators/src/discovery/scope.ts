import { ConfigMap, type Deployment, Namespace, type Settings } from "@isthmus/api";
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
import { meshConfigMap, settingsOf } from "./controlPlanes.ts";
import { meshConfigOf } from "./detectors/istioMeshConfig.ts";
import { knownPlanesIn } from "./detectors/knownPlanes.ts";

/** Tells which namespaces of a cluster discovery looks into. */
export type Scope = (namespace: string) => boolean;

/** Every namespace. */
const EVERYWHERE: Scope = () => true;

type Labels = Readonly<Record<string, string>>;

/** What the meshes of a cluster look into. */
export interface MeshScope {
  /** The namespaces of the control planes. */
  readonly home: readonly string[];
  /** By what they look into others; none: into all. */
  readonly selectors: readonly LabelSelector[];
}

/** What may be looked into in one namespace. */
export interface ScopeSources {
  /** Undefined without control planes. */
  readonly ofMeshes: MeshScope | undefined;
  readonly ofSettings: readonly LabelSelector[];
  /** Labels of a namespace as it is known. */
  readonly labelsOf: (namespace: string) => Labels | undefined;
}

/**
 * Whether discovery looks into a namespace of a cluster: where its meshes look by their Istio discovery selectors, and that the Settings
 * select. A namespace that one mesh of the cluster looks into is in scope, and so is each control plane's own. Without selectors: all.
 * Source: istio.io/docs/reference/config/istio.mesh.v1alpha1/#MeshConfig-discovery_selectors.
 */
export function isNamespaceInScope(name: string, { ofMeshes = NO_MESHES, ofSettings, labelsOf }: ScopeSources): boolean {
  const { home, selectors } = ofMeshes;
  if (selectors.length === 0 && ofSettings.length === 0) return true;
  if (home.includes(name)) return true;
  // Of a namespace that we don't know, the label that Kubernetes puts on each.
  const labels = { "kubernetes.io/metadata.name": name, ...labelsOf(name) };
  return selects(selectors, labels) && selects(ofSettings, labels);
}

const NO_MESHES: MeshScope = { home: [], selectors: [] };

/** Whether a scope has every namespace. */
export function isEverywhere(scope: Scope): boolean {
  return scope === EVERYWHERE;
}

/**
 * The namespaces of a cluster that discovery looks into. `namespace`: that of the management plane. What a control plane that is known and gone made
 * it look into counts: that it is gone was perhaps nobody's wish.
 */
export function discoveryScope(snapshot: Snapshot, clusterName: string, namespace: string): Scope {
  const planes = knownPlanesIn(snapshot, clusterName);
  const ofMeshes = meshScopeOf(planes, (plane) => meshConfigMap(snapshot, plane));
  const ofSettings = settingsSelectors(settingsOf(snapshot, namespace));
  if (ofMeshes.selectors.length === 0 && ofSettings.length === 0) return EVERYWHERE;
  const labelsOf = (name: string) => snapshot.of(Namespace).get({ name, namespace: "", clusterName })?.metadata.labels;
  const known = new Map<string, boolean>();
  return (name) => {
    const isInScope = known.get(name) ?? isNamespaceInScope(name, { ofMeshes, ofSettings, labelsOf });
    known.set(name, isInScope);
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
  const ofSettings = settingsSelectors(settings);
  if (settings !== undefined && !equalJson(ofSettings, settingsSelectors(settingsOf(before, planeNamespace)))) edits.push(settings);
  for (const deployment of knownPlanesIn(now, clusterName)) {
    const configMap = meshConfigMap(now, deployment);
    const earlier = configMap && before.of(ConfigMap).get(clusterRefOf(configMap));
    if (earlier !== undefined && configMap !== undefined && !equalJson(earlier.data, configMap.data)) edits.push(configMap);
  }
  return edits.map(refOf);
}

/** What the meshes of some control planes look into. */
export function meshScopeOf(planes: readonly Deployment[], configOf: (plane: Deployment) => ConfigMap | undefined): MeshScope {
  const ofEach = planes.map((plane): readonly LabelSelector[] => {
    const configMap = configOf(plane);
    const config = configMap === undefined ? undefined : meshConfigOf(configMap);
    return config === undefined || "problem" in config ? [] : config.discoverySelectors;
  });
  return {
    home: planes.map(({ metadata }) => metadata.namespace ?? ""),
    selectors: ofEach.some((selectors) => selectors.length === 0) ? [] : ofEach.flat(),
  };
}

/** By what the Settings select namespaces; none: all. */
export function settingsSelectors(settings: Pick<Settings, "spec"> | undefined): readonly LabelSelector[] {
  return (settings?.spec?.discovery?.selectors ?? []).map(({ matchLabels = {}, matchExpressions = [] }) => ({
    matchLabels,
    // An expression that isn't understood must not widen the selection: such a key is on no namespace.
    matchExpressions: matchExpressions.map(({ key = "", operator = "Exists", values = [] }) => ({ key, operator, values })),
  }));
}

function selects(selectors: readonly LabelSelector[], labels: Labels): boolean {
  return selectors.length === 0 || selectors.some((selector) => matchesSelector(selector, labels));
}
