import type { AccessPolicy, CiliumEndpointSelector, CiliumInstallation, Mesh, Workload } from "@isthmus/api";
import { keyOfResource } from "@isthmus/core";
import { meshCluster } from "../../../policy/policyScope.ts";
import type { DestinationInputs } from "../../inputs.ts";
import { trustDomainOf } from "../access/trustDomainOf.ts";

// Labels that Cilium gives to pods. Source: docs.cilium.io, Kubernetes constructs in policy.
const NAMESPACE = "k8s:io.kubernetes.pod.namespace";
const ACCOUNT = "k8s:io.cilium.k8s.policy.serviceaccount";
const CLUSTER = "k8s:io.cilium.k8s.policy.cluster";

/** Where the callers of a Destination may be. */
export interface CallerPlaces {
  /** The mesh of the Destination. */
  readonly mesh: Mesh;
  readonly cilium: CiliumInstallation;
  /** All meshes that name a trust domain. */
  readonly callingMeshes: readonly Mesh[];
  /** `keyOf` the meshes of its VirtualMesh; undefined without one. */
  readonly joined: ReadonlySet<string> | undefined;
  /** The gateways through which callers of those meshes may reach it; none where nothing leads them there. */
  readonly gateways: readonly CiliumPeer[];
  /** Who gateways on the network of their nodes are in the mesh: Cilium knows them only as nodes. */
  readonly gatewaysOnNodes: readonly MeshIdentity[];
}

/** By namespace and service account. */
export interface MeshIdentity {
  readonly namespace: string;
  readonly account: string;
}

/** Pods with an identity of their own in Cilium, or all that is on other nodes without one: processes, and pods with hostNetwork. */
export type CiliumPeer = CiliumEndpointSelector | typeof OTHER_NODES;

// One of its entities. Source: docs.cilium.io, entities based. That of the own node is let in anyhow.
export const OTHER_NODES = "remote-node";

type SourceSelector = NonNullable<NonNullable<AccessPolicy["spec"]>["sourceSelector"]>[number];

/** Whom callers of an entry of a sourceSelector may come from, in order and perhaps some twice; none where no caller can reach this cluster. */
export function callerPeers(selector: SourceSelector, places: CallerPlaces): readonly CiliumPeer[] {
  const { clusters = [], namespaces = [] } = selector.kubeIdentityMatcher ?? {};
  const { serviceAccounts = [] } = selector.kubeServiceAccountRefs ?? {};
  const matched = clusters.flatMap((cluster) => inPlaces(cluster, anyOf(namespaces), "", places));
  // Istio reads namespaces without clusters as a condition on the accounts beside them.
  const limits = clusters.length === 0 ? namespaces : [];
  const named = serviceAccounts.flatMap(({ name = "", namespace = "", clusterName = "" }) => {
    if (limits.length === 0) return inPlaces(clusterName, [namespace], name, places);
    return inPlaces(clusterName, namespace === "" ? limits : limits.filter((one) => one === namespace), name, places);
  });
  const alone = serviceAccounts.length === 0 && clusters.length === 0 ? inPlaces("", namespaces, "", places) : [];
  return [...matched, ...named, ...alone];
}

/** Pods of one cluster, or of every one for "". */
function inPlaces(clusterName: string, namespaces: readonly string[], account: string, places: CallerPlaces): readonly CiliumPeer[] {
  const { mesh, cilium, gateways, gatewaysOnNodes, joined } = places;
  const own = cilium.clusterMesh === true ? [cilium.clusterName ?? ""] : [];
  const ofPods = (cluster: string | undefined) => namespaces.map((namespace) => podsOf({ namespace, account, cluster }));
  if (namespaces.length === 0) return [];
  if (clusterName === "") {
    const ofNodes: readonly CiliumPeer[] = gatewaysOnNodes.some((one) => isNamed(one, namespaces, account)) ? [OTHER_NODES] : [];
    return [...ofPods(own.length === 0 ? undefined : ""), ...(joined === undefined ? [] : gateways), ...ofNodes];
  }
  return meshesLetIn(clusterName, places).flatMap((one) => {
    if (meshCluster(one) === meshCluster(mesh)) return ofPods(own[0]);
    return [
      ...(isJoinedTo(one, cilium) ? ofPods(one.spec?.cilium?.clusterName ?? "") : []),
      ...(joined?.has(keyOfResource(one)) === true ? gateways : []),
    ];
  });
}

/** Whether a gateway is among the callers itself, as it is for what it sends on with its own identity. */
function isNamed(gateway: MeshIdentity, namespaces: readonly string[], account: string): boolean {
  return (account === "" || account === gateway.account) && namespaces.some((one) => one === "" || one === gateway.namespace);
}

/**
 * The mesh of a cluster, the last one by key as for the mesh's own policies, before all others of its trust domain: those the mesh can't
 * tell apart, and no caller that it lets in must be refused here. None for a cluster that is not known.
 */
export function meshesLetIn(clusterName: string, { mesh, callingMeshes }: Pick<CallerPlaces, "mesh" | "callingMeshes">): readonly Mesh[] {
  const named =
    callingMeshes.filter((one) => meshCluster(one) === clusterName).at(-1) ?? (meshCluster(mesh) === clusterName ? mesh : undefined);
  if (named === undefined) return [];
  const { trustDomain } = trustDomainOf(named) ?? {};
  const others = [mesh, ...callingMeshes].filter((one) => trustDomain !== undefined && trustDomainOf(one)?.trustDomain === trustDomain);
  return [named, ...others.filter((one) => keyOfResource(one) !== keyOfResource(named))];
}

/** The clusters of which an entry names callers, some perhaps twice; "" for any. */
export function namedClusters({ kubeIdentityMatcher, kubeServiceAccountRefs }: SourceSelector): readonly string[] {
  const { clusters = [] } = kubeIdentityMatcher ?? {};
  const { serviceAccounts = [] } = kubeServiceAccountRefs ?? {};
  return anyOf([...clusters, ...serviceAccounts.map(({ clusterName = "" }) => clusterName)]);
}

/** Whether a Cluster Mesh of Cilium carries calls from the cluster of a mesh. Names of clusters must differ in one. */
export function isJoinedTo(mesh: Mesh, own: CiliumInstallation): boolean {
  return own.clusterMesh === true && mesh.spec?.cilium?.clusterMesh === true && !isOfSameName(mesh, own);
}

/** Whether a Cluster Mesh cannot join the cluster of a mesh, though both take part in one, because they have one name or ID in it. */
export function isOfSameName({ spec }: Mesh, own: CiliumInstallation): boolean {
  const other = spec?.cilium;
  if (own.clusterMesh !== true || other?.clusterMesh !== true) return false;
  return own.clusterName === other.clusterName || own.clusterId === other.clusterId;
}

interface PodPlace {
  /** "" for any. */
  readonly namespace: string;
  readonly account: string;
  /** Its name in Cilium; "" for any cluster of the Cluster Mesh, undefined for this one where there is none. */
  readonly cluster: string | undefined;
}

/** Without a label of a namespace Cilium would mean that of the policy, without one of a cluster the own one. */
function podsOf({ namespace, account, cluster }: PodPlace): CiliumEndpointSelector {
  const matchLabels = {
    ...(account === "" ? {} : { [ACCOUNT]: account }),
    ...(cluster === undefined || cluster === "" ? {} : { [CLUSTER]: cluster }),
    ...(namespace === "" ? {} : { [NAMESPACE]: namespace }),
  };
  const matchExpressions = [
    ...(namespace === "" ? [{ key: NAMESPACE, operator: "Exists" }] : []),
    ...(cluster === "" ? [{ key: CLUSTER, operator: "Exists" }] : []),
  ];
  return {
    ...(Object.keys(matchLabels).length === 0 ? {} : { matchLabels }),
    ...(matchExpressions.length === 0 ? {} : { matchExpressions }),
  };
}

/** Pods of an account of this cluster. */
export function podsOfAccount(namespace: string, account: string, cilium: CiliumInstallation): CiliumEndpointSelector {
  return podsOf({ namespace, account, cluster: cilium.clusterMesh === true ? (cilium.clusterName ?? "") : undefined });
}

/** The pods of gateways; where their account is not known, all of their namespace. */
export function gatewayPeers(
  { ownGateways, gatewayWorkloads }: Pick<DestinationInputs, "ownGateways" | "gatewayWorkloads">,
  cilium: CiliumInstallation,
): readonly CiliumPeer[] {
  return ownGateways.flatMap(({ destination }) => {
    const { ref, workloadSelectorLabels = {} } = destination.spec?.kubeService ?? {};
    if (ref === undefined) return [];
    const behind = gatewayWorkloads.filter((workload) => isBehind(workload, ref.namespace, workloadSelectorLabels));
    if (behind.length === 0) return [podsOfAccount(ref.namespace, "", cilium)];
    return behind.map(({ spec: { kubernetes } = {} }) =>
      kubernetes?.hostNetwork === true ? OTHER_NODES : podsOfAccount(ref.namespace, kubernetes?.serviceAccountName || "default", cilium),
    );
  });
}

/** Those of them that have the network of their nodes, as the mesh knows them. */
export function gatewaysOnNodes({
  ownGateways,
  gatewayWorkloads,
}: Pick<DestinationInputs, "ownGateways" | "gatewayWorkloads">): readonly MeshIdentity[] {
  return ownGateways.flatMap(({ destination }) => {
    const { ref, workloadSelectorLabels = {} } = destination.spec?.kubeService ?? {};
    const behind = gatewayWorkloads.filter((workload) => ref !== undefined && isBehind(workload, ref.namespace, workloadSelectorLabels));
    return behind.flatMap(({ spec: { kubernetes } = {} }) =>
      kubernetes?.hostNetwork === true ? [{ namespace: ref?.namespace ?? "", account: kubernetes.serviceAccountName || "default" }] : [],
    );
  });
}

function isBehind({ spec }: Workload, namespace: string, labels: Readonly<Record<string, string>>): boolean {
  const { controller, podLabels = {} } = spec?.kubernetes ?? {};
  return controller?.namespace === namespace && Object.entries(labels).every(([key, value]) => podLabels[key] === value);
}

function anyOf(names: readonly string[]): readonly string[] {
  return names.length === 0 ? [""] : names;
}
