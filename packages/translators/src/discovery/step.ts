import { ConfigMap, Deployment, Namespace } from "@isthmus/api";
import { equalJson, type Owner, type Resource, type Snapshot } from "@isthmus/core";
import { type Changes, changesSince, versionsOf } from "../incremental/changes.ts";
import { isSame } from "../incremental/rows.ts";
import { namespaceLocationOf } from "./indexes.ts";
import { controlPlanesIn, meshConfigMap, settingsOf } from "./meshes.ts";
import { type DiscoveryOptions, discoveryOwner } from "./metadata.ts";
import { discoveryScope, type Scope } from "./scope.ts";

/** One run of discovery: what it looks at, and what is new there. */
export interface DiscoveryStep {
  readonly snapshot: Snapshot;
  /** What the discovery before looked at, and what changed since; undefined from scratch. */
  readonly since: { readonly snapshot: Snapshot; readonly changes: Changes } | undefined;
  readonly options: DiscoveryOptions;
  readonly owner: Owner;
  /** Whether discovery looks at a cluster. */
  isWanted(clusterName: string): boolean;
  /** Whether discovery looks at an object's namespace. */
  isInScope(resource: Resource): boolean;
}

export function discoveryStep(snapshot: Snapshot, options: DiscoveryOptions, before: Snapshot | undefined): DiscoveryStep {
  const { namespace, agentCluster } = options;
  // Nothing is discovered in the management cluster as such; registered, it has a name like any other.
  const isWanted = (clusterName: string) => clusterName !== "" && (agentCluster ?? clusterName) === clusterName;
  const scopes = new Map<string, Scope>();
  return {
    snapshot,
    since: before === undefined ? undefined : { snapshot: before, changes: changesSince(before, snapshot) },
    options,
    owner: discoveryOwner(options),
    isWanted,
    isInScope(resource) {
      const place = namespaceLocationOf(resource);
      if (!isWanted(place.clusterName)) return false;
      const scope = scopes.get(place.clusterName) ?? discoveryScope(snapshot, place.clusterName, namespace);
      scopes.set(place.clusterName, scope);
      return scope(place.namespace);
    },
  };
}

/** Some clusters by name, or all there are. */
export type Clusters = ReadonlySet<string> | "all";

/** The clusters in which discovery may look into other namespaces than before. */
export function rescopedClusters({ snapshot, since, options }: DiscoveryStep): Clusters {
  if (since === undefined || !equalJson(discoverySettings(snapshot, options), discoverySettings(since.snapshot, options))) return "all";
  const rescoped = new Set<string>();
  for (const namespace of versionsOf(since.changes.of(Namespace))) rescoped.add(namespaceLocationOf(namespace).clusterName);
  const candidates = new Set<string>();
  for (const configMap of versionsOf(since.changes.of(ConfigMap))) candidates.add(namespaceLocationOf(configMap).clusterName);
  for (const deployment of versionsOf(since.changes.of(Deployment))) candidates.add(namespaceLocationOf(deployment).clusterName);
  for (const clusterName of candidates) {
    if (!isSame(configurationOf(snapshot, clusterName), configurationOf(since.snapshot, clusterName))) rescoped.add(clusterName);
  }
  return rescoped;
}

function discoverySettings(snapshot: Snapshot, { namespace }: DiscoveryOptions) {
  return settingsOf(snapshot, namespace)?.spec?.discovery;
}

/** The control planes of a cluster, each with its configuration. */
function configurationOf(snapshot: Snapshot, clusterName: string): readonly unknown[] {
  return controlPlanesIn(snapshot, clusterName).flatMap((deployment) => [deployment, meshConfigMap(snapshot, deployment)]);
}

/** All clusters of several groups. */
export function unionOfClusters(...groups: readonly Clusters[]): Clusters {
  const names = new Set<string>();
  for (const group of groups) {
    if (group === "all") return "all";
    for (const name of group) names.add(name);
  }
  return names;
}
