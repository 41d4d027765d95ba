import type { AccessPolicy, CiliumEndpointSelector, CiliumInstallation, Mesh, Workload } from "@isthmus/api";
import { keyOfResource } from "@isthmus/core";
import { meshCluster } from "../../../policy/policyScope.ts";
import type { DestinationInputs } from "../../inputs.ts";
import { trustDomainOf } from "../callers.ts";

// Labels that Cilium gives to pods. Source: docs.cilium.io, Kubernetes constructs in policy.
const NAMESPACE = "k8s:io.kubernetes.pod.namespace";
const ACCOUNT = "k8s:io.cilium.k8s.policy.serviceaccount";
const CLUSTER = "k8s:io.cilium.k8s.policy.cluster";

/** Where the callers of a Destination may be. */
export interface CallerPlaces {
  /** The cluster of the Destination. */
  readonly here: string;
  readonly mesh: Mesh;
  readonly cilium: CiliumInstallation;
  /** Meshes of which the AccessPolicies name callers. */
  readonly callingMeshes: readonly Mesh[];
  /** `keyOf` the meshes of its VirtualMesh; undefined without one. */
  readonly joined: ReadonlySet<string> | undefined;
  /** The pods of the gateways through which those meshes reach it. */
  readonly gateways: readonly CiliumEndpointSelector[];
}

type SourceSelector = NonNullable<NonNullable<AccessPolicy["spec"]>["sourceSelector"]>[number];

/** Pods that callers of an entry of a sourceSelector may be, in order and perhaps some twice; none where no caller can reach this cluster. */
export function callerEndpoints(selector: SourceSelector, places: CallerPlaces): readonly CiliumEndpointSelector[] {
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
function inPlaces(
  clusterName: string,
  namespaces: readonly string[],
  account: string,
  places: CallerPlaces,
): readonly CiliumEndpointSelector[] {
  const { here, cilium, callingMeshes, gateways } = places;
  const isAnywhere = clusterName === "";
  const own = cilium.clusterMesh === true ? [cilium.clusterName ?? ""] : [];
  const ofPods = (cluster: string | undefined) => namespaces.map((namespace) => podsOf({ namespace, account, cluster }));
  if (namespaces.length === 0) return [];
  if (isAnywhere) return [...ofPods(own.length === 0 ? undefined : ""), ...(places.joined === undefined ? [] : gateways)];
  if (clusterName === here) return ofPods(own[0]);
  const mesh = callingMeshes.filter((one) => meshCluster(one) === clusterName).at(-1);
  if (mesh === undefined) return [];
  return [
    // The mesh can't tell them apart: anyone whom it lets in must not be refused here.
    ...(trustDomainOf(mesh)?.trustDomain === trustDomainOf(places.mesh)?.trustDomain ? ofPods(own[0]) : []),
    ...(isJoinedTo(mesh, cilium) ? ofPods(mesh.spec?.cilium?.clusterName ?? "") : []),
    ...(places.joined?.has(keyOfResource(mesh)) === true ? gateways : []),
  ];
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
export function gatewayPodSelectors(
  { ownGateways, gatewayWorkloads }: Pick<DestinationInputs, "ownGateways" | "gatewayWorkloads">,
  cilium: CiliumInstallation,
): readonly CiliumEndpointSelector[] {
  return ownGateways.flatMap(({ destination }) => {
    const { ref, workloadSelectorLabels = {} } = destination.spec?.kubeService ?? {};
    if (ref === undefined) return [];
    const behind = gatewayWorkloads.filter((workload) => isBehind(workload, ref.namespace, workloadSelectorLabels));
    const accounts = [...new Set(behind.map(({ spec }) => spec?.kubernetes?.serviceAccountName || "default"))];
    return anyOf(accounts).map((account) => podsOfAccount(ref.namespace, account, cilium));
  });
}

function isBehind({ spec }: Workload, namespace: string, labels: Readonly<Record<string, string>>): boolean {
  const { controller, podLabels = {} } = spec?.kubernetes ?? {};
  return controller?.namespace === namespace && Object.entries(labels).every(([key, value]) => podLabels[key] === value);
}

function anyOf(names: readonly string[]): readonly string[] {
  return names.length === 0 ? [""] : names;
}
