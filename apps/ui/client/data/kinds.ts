import type {
  AccessPolicy as AccessPolicyObject,
  CiliumClusterwideNetworkPolicy as CiliumClusterwideNetworkPolicyObject,
  CiliumEndpoint as CiliumEndpointObject,
  CiliumNetworkPolicy as CiliumNetworkPolicyObject,
  CiliumPolicyReport as CiliumPolicyReportObject,
  CiliumReport as CiliumReportObject,
  Controller,
  Destination as DestinationObject,
  IssuedCertificate as IssuedCertificateObject,
  KubernetesCluster as KubernetesClusterObject,
  Mesh as MeshObject,
  Pod as PodObject,
  Settings as SettingsObject,
  Sidecar as SidecarObject,
  TrafficPolicy as TrafficPolicyObject,
  VirtualDestination as VirtualDestinationObject,
  VirtualMesh as VirtualMeshObject,
  Workload as WorkloadObject,
} from "@isthmus/api";
import type { Kind, Resource } from "@isthmus/core";

// The schemas of @isthmus/api compile validators, which is no work for a browser: what the server sends was parsed there.
function nameOf<R extends Resource>(apiVersion: string, kind: string, plural: string): Kind<R> {
  return {
    apiVersion,
    kind,
    plural,
    namespaced: true,
    versions: [],
    parse() {
      throw new Error(`${kind} objects are parsed by the server`);
    },
  };
}

const DISCOVERY = "discovery.mesh.gloo.solo.io/v1";
const NETWORKING = "networking.mesh.gloo.solo.io/v1";

export const KubernetesCluster = nameOf<KubernetesClusterObject>(
  "multicluster.solo.io/v1alpha1",
  "KubernetesCluster",
  "kubernetesclusters",
);
export type KubernetesCluster = KubernetesClusterObject;
export const Mesh = nameOf<MeshObject>(DISCOVERY, "Mesh", "meshes");
export type Mesh = MeshObject;
export const Workload = nameOf<WorkloadObject>(DISCOVERY, "Workload", "workloads");
export type Workload = WorkloadObject;
export const Destination = nameOf<DestinationObject>(DISCOVERY, "Destination", "destinations");
export type Destination = DestinationObject;
export const IssuedCertificate = nameOf<IssuedCertificateObject>(
  "certificates.mesh.gloo.solo.io/v1",
  "IssuedCertificate",
  "issuedcertificates",
);
export type IssuedCertificate = IssuedCertificateObject;
export const TrafficPolicy = nameOf<TrafficPolicyObject>(NETWORKING, "TrafficPolicy", "trafficpolicies");
export type TrafficPolicy = TrafficPolicyObject;
export const AccessPolicy = nameOf<AccessPolicyObject>(NETWORKING, "AccessPolicy", "accesspolicies");
export type AccessPolicy = AccessPolicyObject;
export const VirtualMesh = nameOf<VirtualMeshObject>(NETWORKING, "VirtualMesh", "virtualmeshes");
export type VirtualMesh = VirtualMeshObject;
export const VirtualDestination = nameOf<VirtualDestinationObject>(
  "networking.enterprise.mesh.gloo.solo.io/v1beta1",
  "VirtualDestination",
  "virtualdestinations",
);
export type VirtualDestination = VirtualDestinationObject;
export const ServiceDependency = nameOf("networking.enterprise.mesh.gloo.solo.io/v1beta1", "ServiceDependency", "servicedependencies");
export const AccessLogRecord = nameOf("observability.enterprise.mesh.gloo.solo.io/v1", "AccessLogRecord", "accesslogrecords");
export const Settings = nameOf<SettingsObject>("settings.mesh.gloo.solo.io/v1", "Settings", "settings");
export type Settings = SettingsObject;
export const Sidecar = nameOf<SidecarObject>("networking.istio.io/v1", "Sidecar", "sidecars");
export type Sidecar = SidecarObject;
const APPS = "apps/v1";

export type { Controller };
export const Deployment = nameOf<Controller>(APPS, "Deployment", "deployments");
export const StatefulSet = nameOf<Controller>(APPS, "StatefulSet", "statefulsets");
export const DaemonSet = nameOf<Controller>(APPS, "DaemonSet", "daemonsets");
export const ReplicaSet = nameOf(APPS, "ReplicaSet", "replicasets");
export const Pod = nameOf<PodObject>("v1", "Pod", "pods");
export type Pod = PodObject;
export const Namespace: Kind = { ...nameOf("v1", "Namespace", "namespaces"), namespaced: false };
const CILIUM = "cilium.io/v2";
export const CiliumNetworkPolicy = nameOf<CiliumNetworkPolicyObject>(CILIUM, "CiliumNetworkPolicy", "ciliumnetworkpolicies");
export type CiliumNetworkPolicy = CiliumNetworkPolicyObject;
export const CiliumClusterwideNetworkPolicy: Kind<CiliumClusterwideNetworkPolicyObject> = {
  ...nameOf(CILIUM, "CiliumClusterwideNetworkPolicy", "ciliumclusterwidenetworkpolicies"),
  namespaced: false,
};
export type CiliumClusterwideNetworkPolicy = CiliumClusterwideNetworkPolicyObject;
export const CiliumEndpoint = nameOf<CiliumEndpointObject>(CILIUM, "CiliumEndpoint", "ciliumendpoints");
export type CiliumEndpoint = CiliumEndpointObject;
export const CiliumPolicyReport = nameOf<CiliumPolicyReportObject>(
  "reports.mesh.gloo.solo.io/v1",
  "CiliumPolicyReport",
  "ciliumpolicyreports",
);
export type CiliumPolicyReport = CiliumPolicyReportObject;
export const CiliumReport: Kind<CiliumReportObject> = {
  ...nameOf("reports.mesh.gloo.solo.io/v1", "CiliumReport", "ciliumreports"),
  namespaced: false,
};
export type CiliumReport = CiliumReportObject;

/** The kinds with a status that answers their users, of all that the page of policies lists. */
export const POLICY_KINDS: readonly Kind[] = [
  TrafficPolicy,
  AccessPolicy,
  VirtualMesh,
  VirtualDestination,
  ServiceDependency,
  AccessLogRecord,
  nameOf("networking.enterprise.mesh.gloo.solo.io/v1beta1", "WasmDeployment", "wasmdeployments"),
];
