import {
  ConfigMap,
  Deployment,
  KubernetesCluster,
  type Mesh,
  MutatingWebhookConfiguration,
  Namespace,
  Node,
  type SettingsSpec,
  ValidatingWebhookConfiguration,
  type Workload,
} from "@isthmus/api";
import {
  type Collection,
  equalJson,
  keyOfResource,
  type LabelSelector,
  type Owner,
  type Resource,
  type Snapshot,
  type Table,
} from "@isthmus/core";
import { derived } from "../incremental/derived.ts";
import { type Group, groupedBy } from "../incremental/groupedBy.ts";
import { inputKind, inputTable, type JoinSource, join } from "../incremental/join.ts";
import { memoizeRow } from "../incremental/memoizeRow.ts";
import { reuseIfEqual } from "../incremental/rows.ts";
import { unionOfKinds } from "../incremental/unionOfKinds.ts";
import { LastKnownMesh } from "../policy/lastKnownMesh.ts";
import { namespaceLocationOf } from "../policy/podIndexes.ts";
import { controlPlanesByCluster, controlPlanesByMeshConfig, isControlPlane, settingsOf } from "./controlPlanes.ts";
import { istioMesh } from "./detectors/istioMesh.ts";
import { DEFAULT_TRUST_DOMAIN, meshConfigOf } from "./detectors/istioMeshConfig.ts";
import { keyAcrossKinds } from "./discoveryResult.ts";
import { byCluster, byNamespaceObject } from "./indexes.ts";
import { controlPlanesThatCount, type Infrastructure, infrastructureOf, isYounger, meshNameOf } from "./infrastructure.ts";
import { type DiscoveryOptions, discoveryOwner } from "./metadata.ts";
import { reachableAddress } from "./nodes.ts";
import type { OtherController } from "./otherControllers.ts";
import { isNamespaceInScope, type MeshScope, meshScopeOf, settingsSelectors } from "./scope.ts";

/** What every row of discovery reads: another one computes all rows again. */
export interface DiscoveryContext {
  readonly options: DiscoveryOptions;
  readonly owner: Owner;
  /** Of the Settings. */
  readonly discovery: NonNullable<SettingsSpec>["discovery"];
  /** By what the Settings select namespaces; none: all. */
  readonly selectors: readonly LabelSelector[];
}

/** The tables that the rows of discovery are computed from. Each stage adds one. */
export interface DiscoverySources {
  readonly inputs: Snapshot;
  readonly context: DiscoveryContext;
  /** The Deployments that are control planes, by `keyAcrossKinds`: few of all that there are. */
  readonly controlPlanes: Table<Deployment>;
  /** What makes pods by way of ReplicaSets and is no Deployment, by `keyAcrossKinds`. */
  readonly otherControllers: Table<OtherController>;
  /** By cluster. */
  readonly scopes: Table<ClusterScope>;
  /** The discovered meshes. */
  readonly meshes: Collection<Mesh>;
  /** The workloads that Services may select. */
  readonly workloads: Collection<Workload>;
}

/** What the meshes of a cluster look into, and which those are. */
export interface ClusterScope extends MeshScope {
  /** The cluster. */
  readonly key: string;
  /** Where control planes, Cilium and gateways count. */
  readonly infrastructure: Infrastructure;
  /** The control planes that count, by `keyAcrossKinds`: those first to which others yield. */
  readonly planes: readonly string[];
  /** The names of their Meshes, in the same order. */
  readonly meshes: readonly string[];
  /** Those that are younger than the first, by `keyAcrossKinds`. */
  readonly younger: readonly string[];
  /** Of the first, the trust domain that its configuration names; "" for none. */
  readonly trustDomain: string;
  /** Whether they have different ones, or one that is not known. */
  readonly severalTrustDomains: boolean;
}

type Snapshots = Pick<DiscoverySources, "inputs">;

/** What every row reads now; the one before where that says the same. */
export function discoveryContext(snapshot: Snapshot, options: DiscoveryOptions, before: DiscoveryContext | undefined): DiscoveryContext {
  const settings = settingsOf(snapshot, options.namespace);
  const discovery = settings?.spec?.discovery;
  if (before !== undefined && equalJson(before.discovery, discovery) && equalJson(before.options, options)) return before;
  return { options, owner: discoveryOwner(options), discovery, selectors: settingsSelectors(settings) };
}

type ControlPlanes = Pick<DiscoverySources, "inputs" | "controlPlanes" | "context">;

const deploymentsOf = unionOfKinds<Deployment>([Deployment]);

/** The Deployments that are control planes. */
export const knownControlPlanes = derived({
  from: inputTable(({ inputs }: Snapshots) => deploymentsOf(inputs), keyAcrossKinds),
  context: () => undefined,
  joins: {},
  make: (deployment): Deployment | undefined => (isControlPlane(deployment) ? deployment : undefined),
});

const clusters = inputTable(
  ({ controlPlanes }: ControlPlanes) => planesOf(controlPlanes),
  ({ key }) => key,
);
const planesOf = groupedBy(controlPlanesByCluster);

/** What the meshes of each cluster look into, and which those are. */
export const clusterScopes = derived({
  from: clusters,
  context: ({ context }) => context.options,
  joins: {
    meshConfigs: join({ from: clusters, key: byMeshConfig, to: inputKind<ControlPlanes, ConfigMap>(ConfigMap) }),
    injectors: join({
      from: clusters,
      key: ofItself,
      to: inputKind<ControlPlanes, MutatingWebhookConfiguration>(MutatingWebhookConfiguration),
      index: byCluster,
    }),
    validators: join({
      from: clusters,
      key: ofItself,
      to: inputKind<ControlPlanes, ValidatingWebhookConfiguration>(ValidatingWebhookConfiguration),
      index: byCluster,
    }),
    registrations: join({
      from: clusters,
      key: ofItself,
      to: inputKind<ControlPlanes, KubernetesCluster>(KubernetesCluster),
      index: ({ metadata }) => [metadata.name],
    }),
    known: join({
      from: clusters,
      key: ofItself,
      to: inputKind<ControlPlanes, LastKnownMesh>(LastKnownMesh),
      index: ({ cluster }) => [cluster],
      isSame: (before, after) => before.home === after.home,
    }),
  },
  make: ({ key, rows }, { lookup, context: { namespace, ages = "FIRST_SEEN" }, before }): ClusterScope | undefined => {
    // Nothing is discovered in the management cluster as such.
    if (key === "") return undefined;
    const isOfPlane = ({ metadata }: Resource) => metadata.namespace === namespace && (metadata.clusterName ?? "") === "";
    const webhooks = [...lookup("injectors"), ...lookup("validators")];
    const infrastructure = infrastructureOf({ webhooks, registration: lookup("registrations").find(isOfPlane) });
    const known = new Set(
      lookup("known")
        .filter(isOfPlane)
        .map(({ metadata, home }) => `${home}/${metadata.name}`),
    );
    const planes = controlPlanesThatCount(rows, { ...infrastructure, ages, known });
    const configMaps = new Map(lookup("meshConfigs").map((configMap) => [keyOfResource(configMap), configMap]));
    const configOf = (plane: Deployment) =>
      controlPlanesByMeshConfig(plane)
        .map((name) => configMaps.get(name))
        .find((configMap) => configMap !== undefined);
    const [first] = planes;
    const config = first && configOf(first);
    const read = config && meshConfigOf(config);
    const scope = {
      key,
      ...meshScopeOf(planes, configOf),
      infrastructure,
      planes: planes.map(keyAcrossKinds),
      meshes: planes.map(meshNameOf),
      younger: planes.filter((plane) => first !== undefined && isYounger(plane, first, ages)).map(keyAcrossKinds),
      trustDomain: read === undefined || "problem" in read ? "" : read.trustDomain,
      // Where nothing vouches for a control plane, one of another namespace may be anybody's, and puts nothing about the first into doubt.
      severalTrustDomains: haveSeveralTrustDomains(
        planes.filter(({ metadata }) => infrastructure.namespaces !== undefined || metadata.namespace === first?.metadata.namespace),
        configOf,
      ),
    };
    return reuseIfEqual(scope, before);
  },
});

function haveSeveralTrustDomains(planes: readonly Deployment[], configOf: (plane: Deployment) => ConfigMap | undefined): boolean {
  const domains = planes.filter(istioMesh.isControlPlane).map((plane) => {
    const config = configOf(plane);
    const read = config && meshConfigOf(config);
    if (read === undefined || "problem" in read) return "";
    return read.namesTrustDomain ? read.trustDomain : DEFAULT_TRUST_DOMAIN;
  });
  return new Set(domains).size > 1;
}

function ofItself({ key }: Group<Deployment>): readonly string[] {
  return [key];
}

function byMeshConfig({ rows }: Group<Deployment>): readonly string[] {
  return rows.flatMap(controlPlanesByMeshConfig);
}

/** What the meshes of clusters look into. */
export const scopes = inputTable(
  ({ scopes: table }: Pick<DiscoverySources, "scopes">) => table,
  ({ key }) => key,
);

/** What of the clusters discovery looks into, for rows of `from`. */
export function scopeJoins<R extends Resource>(from: JoinSource<DiscoverySources, R, R>) {
  return {
    meshScope: join({ from, key: byCluster, to: scopes }),
    namespace: join({
      from,
      key: byNamespaceObject,
      to: inputKind<DiscoverySources, Namespace>(Namespace),
      select: ({ metadata: { labels = NO_LABELS } }) => labels,
      isSame: equalJson,
    }),
  };
}

const NO_LABELS: Readonly<Record<string, string>> = {};

/** Whether discovery looks at a cluster. */
export function isDiscoveredCluster(clusterName: string, { options: { agentCluster } }: DiscoveryContext): boolean {
  // Nothing is discovered in the management cluster as such; registered, it has a name like any other.
  return clusterName !== "" && (agentCluster ?? clusterName) === clusterName;
}

/** What `scopeJoins` find. */
export interface FoundScope {
  readonly meshScope: MeshScope | undefined;
  readonly namespace: () => Readonly<Record<string, string>> | undefined;
}

/** Whether discovery looks at a resource. */
export function isInDiscoveryScope(resource: Resource, context: DiscoveryContext, { meshScope, namespace: labelsOf }: FoundScope): boolean {
  const { clusterName, namespace } = namespaceLocationOf(resource);
  return (
    isDiscoveredCluster(clusterName, context) &&
    isNamespaceInScope(namespace, { ofMeshes: meshScope, ofSettings: context.selectors, labelsOf })
  );
}

/** The nodes of each cluster. Which rows read which node is not worth an index: what we read of nodes hardly ever changes. */
export const nodes = inputTable(
  ({ inputs }: Snapshots) => nodesOf(inputs.of(Node)),
  ({ key }) => key,
);
const nodesOf = groupedBy<Node>(byCluster);

/** One node of a cluster. */
export function nodeNamed(name: string | undefined, group: Group<Node> | undefined): Node | undefined {
  return name === undefined || name === "" || group === undefined ? undefined : byName(group).get(name);
}

/** A node of a cluster that is reached from outside, whose node ports lead to pods that run nowhere for now; undefined without one. */
export const reachableNode = memoizeRow(({ rows }: Group<Node>) => ({ node: rows.find((node) => reachableAddress(node) !== undefined) }));

const byName = memoizeRow(({ rows }: Group<Node>) => new Map(rows.map((node) => [node.metadata.name, node])));
