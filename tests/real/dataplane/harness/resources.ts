import type { AccessPolicy, DestinationSelector, ServiceDependencySpec, SettingsSpec, TrafficPolicy, VirtualMesh } from "@isthmus/api";
import type { AnyResource } from "@isthmus/core";
import type { ClusterName } from "./testbed.ts";

/** Objects as users write them. */

const networking = "networking.mesh.gloo.solo.io/v1";

interface PolicyOptions {
  readonly name?: string;
  /** Among policies in conflict the older wins. */
  readonly createdAt?: string;
}

type TrafficPolicySpec = NonNullable<TrafficPolicy["spec"]>;
type Rules = NonNullable<TrafficPolicySpec["policy"]>;

/** A TrafficPolicy: `rules` for the requests that `selectors` select. */
export function trafficPolicy(rules: Rules, selectors: Omit<TrafficPolicySpec, "policy"> = {}, options: PolicyOptions = {}): AnyResource {
  return policy("TrafficPolicy", { ...selectors, policy: rules }, options);
}

export function accessPolicy(spec: NonNullable<AccessPolicy["spec"]>, options: PolicyOptions = {}): AnyResource {
  return policy("AccessPolicy", spec, options);
}

function policy(kind: string, spec: object, { name = "under-test", createdAt }: PolicyOptions): AnyResource {
  const created = createdAt === undefined ? {} : { creationTimestamp: createdAt };
  return { apiVersion: networking, kind, metadata: { name, namespace: "gloo-mesh", ...created }, spec };
}

/** What some workloads call. */
export function serviceDependency(spec: ServiceDependencySpec): AnyResource {
  const apiVersion = "networking.enterprise.mesh.gloo.solo.io/v1beta1";
  return { apiVersion, kind: "ServiceDependency", metadata: { name: "under-test", namespace: "gloo-mesh" }, spec };
}

/** A VirtualMesh of both clusters that federates everything, but for what `spec` says. */
export function virtualMesh(spec: NonNullable<VirtualMesh["spec"]> = {}): AnyResource {
  return {
    apiVersion: networking,
    kind: "VirtualMesh",
    metadata: { name: "virtual-mesh", namespace: "gloo-mesh" },
    spec: { meshes: [meshRef("cluster-1"), meshRef("cluster-2")], federation: { selectors: [{}] }, ...spec },
  };
}

/** The Mesh that discovery makes of a cluster's istiod. */
export function meshRef(cluster: ClusterName): { readonly name: string; readonly namespace: string } {
  return { name: `istiod-istio-system-${cluster}`, namespace: "gloo-mesh" };
}

export function settings(spec: SettingsSpec = { mtls: { istio: { tlsMode: "ISTIO_MUTUAL" } } }): AnyResource {
  return {
    apiVersion: "settings.mesh.gloo.solo.io/v1",
    kind: "Settings",
    metadata: { name: "settings", namespace: "gloo-mesh" },
    spec,
  };
}

/** The KubernetesCluster of each cluster. */
export function kubernetesClusters(names: readonly ClusterName[]): readonly AnyResource[] {
  return names.map((name) => ({
    apiVersion: "multicluster.solo.io/v1alpha1",
    kind: "KubernetesCluster",
    metadata: { name, namespace: "gloo-mesh" },
    spec: {},
  }));
}

/** Selects one Service by name. */
export function service(name: string, clusterName: ClusterName): DestinationSelector {
  return { kubeServiceRefs: { services: [{ name, namespace: "bookinfo", clusterName }] } };
}

/** Selects a Service in both clusters. */
export function services(name: string): readonly DestinationSelector[] {
  return [service(name, "cluster-1"), service(name, "cluster-2")];
}

/** A VirtualDestination for port 9080, exported to the VirtualMesh. */
export function virtualDestination(spec: object, name = "reviews"): AnyResource {
  return {
    apiVersion: "networking.enterprise.mesh.gloo.solo.io/v1beta1",
    kind: "VirtualDestination",
    metadata: { name, namespace: "gloo-mesh" },
    spec: { port: { number: 9080, protocol: "http" }, virtualMesh: { name: "virtual-mesh", namespace: "gloo-mesh" }, ...spec },
  };
}

/** Has the sidecars of a cluster make a connection for each request: on those that are kept, requests go where they went before. */
export function freshConnections(): AnyResource {
  const options = {
    "@type": "type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions",
    common_http_protocol_options: { max_requests_per_connection: 1 },
    explicit_http_config: { http_protocol_options: {} },
  };
  const value = { typed_extension_protocol_options: { "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": options } };
  const patch = { applyTo: "CLUSTER", match: { context: "SIDECAR_OUTBOUND" }, patch: { operation: "MERGE", value } };
  return {
    apiVersion: "networking.istio.io/v1alpha3",
    kind: "EnvoyFilter",
    metadata: { name: "fresh-connections", namespace: "istio-system" },
    spec: { configPatches: [patch] },
  };
}
