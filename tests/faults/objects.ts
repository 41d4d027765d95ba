import { AuthorizationPolicy, CiliumNetworkPolicy, DestinationRule, Gateway, ServiceEntry, VirtualService } from "@isthmus/api";
import type { AnyResource, Kind, Resource } from "@isthmus/core";
import { REVOKED_BEFORE } from "@isthmus/plane";

/** The objects of tiny clusters, put as they would come to be by users and controllers. */

export const NAMESPACE = "gloo-mesh";
export const SHOP = "shop";
const ISTIO = "istio-system";
const KUBE_SYSTEM = "kube-system";

/** On what somebody else made of a kind that we write too. */
export const THEIRS = "theirs";

export function isTheirs({ metadata }: Resource): boolean {
  return metadata.labels?.[THEIRS] === "yes";
}

/** Namespaces, for every cluster. */
export function namespaces(): Resource[] {
  return [NAMESPACE, SHOP, ISTIO, KUBE_SYSTEM].map((name) => ({
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name, labels: { name } },
  }));
}

/** The shop's namespace; in odd variants with the label that Settings may select it by. */
export function shop(variant: number): AnyResource {
  const labels = { name: SHOP, open: variant % 2 === 1 ? "yes" : "no" };
  return { apiVersion: "v1", kind: "Namespace", metadata: { name: SHOP, labels } };
}

/** Variants differ in what is discovered, odd ones in what resources of workload clusters may select, and those from 8 on in what Cilium is to do. */
export function settings(variant: number): AnyResource {
  const without = (name: string) => ({ matchExpressions: [{ key: "name", operator: "NotIn", values: [name] }] });
  const selectors = [[], [without(SHOP)], [without(SHOP), { matchLabels: { open: "yes" } }], [{ matchLabels: { name: SHOP } }]];
  return {
    apiVersion: "settings.mesh.gloo.solo.io/v1",
    kind: "Settings",
    metadata: { name: "settings", namespace: NAMESPACE },
    spec: {
      discovery: { selectors: selectors[(variant >> 1) % 4] ?? [] },
      workloadClusterResources: { targets: variant % 2 === 0 ? "ANY_DESTINATION" : "OWN_DESTINATIONS" },
      ...(variant < 8 ? {} : { cilium: { accessPolicies: variant < 16 ? "ENABLED" : "AUDIT" } }),
    },
  } as AnyResource;
}

/** Kinds of others that we write: API servers know them by CRDs, which come and go. */
export const DEFINED_KINDS: readonly Kind[] = [
  VirtualService,
  DestinationRule,
  ServiceEntry,
  Gateway,
  AuthorizationPolicy,
  CiliumNetworkPolicy,
];

/** The CustomResourceDefinition of a kind. */
export function definition({ kind, plural, versions, namespaced }: Kind): AnyResource {
  const [group = ""] = (versions[0] ?? "").split("/");
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: namespaced ? "Namespaced" : "Cluster",
      names: { kind, plural },
      versions: versions.map((version, i) => ({ name: version.split("/")[1] ?? "", served: true, storage: i === 0 })),
    },
  };
}

/** What is in a Secret, and must never be anywhere else. */
export const CANARY = "Y2FuYXJ5LXRoYXQtc3RheXM=";

export function secret(): AnyResource {
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "password", namespace: SHOP },
    type: "Opaque",
    data: { password: CANARY },
  };
}

/** Istio's configuration of its mesh. */
export function meshConfig(variant: number): AnyResource {
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "istio", namespace: ISTIO },
    data: { mesh: `trustDomain: domain-${variant}` },
  };
}

/** Istio's control plane: the cluster has a mesh. */
export function istiod(cluster: string, version: number): AnyResource {
  const labels = { app: "istiod", istio: "pilot" };
  return deployment("istiod", ISTIO, {
    labels,
    podSpec: {
      serviceAccountName: "istiod",
      containers: [{ name: "discovery", image: `docker.io/istio/pilot:1.27.${version}`, env: [{ name: "CLUSTER_ID", value: cluster }] }],
    },
  });
}

/** Cilium with its configuration: as by default, with policies that are not enforced, and with an identity that lacks the labels of Services. */
export function cilium(variant: number): AnyResource[] {
  const labels = { app: "cilium", "k8s-app": "cilium" };
  const podSpec = { containers: [{ name: "cilium-agent", image: `quay.io/cilium/cilium:v1.20.${variant}` }] };
  const data = [{}, { "enable-policy": "never" }, { labels: "k8s:tier" }][variant] ?? {};
  return [
    { ...deployment("cilium", KUBE_SYSTEM, { labels, podSpec }), kind: "DaemonSet" },
    {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "cilium-config", namespace: KUBE_SYSTEM },
      data: { "cluster-name": "default", ...data },
    },
  ];
}

/** A policy for the network layer that a user wrote, beside ours: nobody else's business. */
export function networkPolicy(variant: number): AnyResource {
  return {
    apiVersion: CiliumNetworkPolicy.apiVersion,
    kind: CiliumNetworkPolicy.kind,
    metadata: { name: "of-a-user", namespace: SHOP },
    spec: { endpointSelector: { matchLabels: { "k8s:app": `s${variant}` } }, ingress: [{ fromEntities: ["world"] }] },
  } as AnyResource;
}

/** Where other clusters come in. */
export function gateway(cluster: string, variant: number): AnyResource {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: {
      name: "istio-ingressgateway",
      namespace: ISTIO,
      labels: { istio: "ingressgateway", tier: "edge" },
      annotations: { "discovery.mesh.gloo.solo.io/enabled": "true" },
    },
    spec: {
      type: "LoadBalancer",
      selector: { istio: "ingressgateway" },
      clusterIP: "None",
      ports: [{ name: "tls", port: 15443, targetPort: 15443, protocol: "TCP" }],
    },
    status: { loadBalancer: { ingress: [{ ip: `10.${cluster.charCodeAt(0)}.0.${variant + 1}` }] } },
  };
}

/** A Service of the shop. Odd variants are in the mesh by their annotation, even ones by the sidecars of their workload. */
export function service(name: string, variant: number): AnyResource {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: {
      name,
      namespace: SHOP,
      labels: { app: name, tier: variant < 2 ? "front" : "back" },
      ...(variant % 2 === 1 ? { annotations: { "discovery.mesh.gloo.solo.io/enabled": "true" } } : {}),
    },
    spec: {
      type: "ClusterIP",
      clusterIP: "None",
      selector: { app: name },
      ports: [{ name: "http", port: 80 + variant, targetPort: 8080, protocol: "TCP" }],
    },
  };
}

/** A Service that no message can hold, and that nothing is made of. */
export function largeService(): AnyResource {
  const large = service("large", 0);
  return { ...large, metadata: { ...large.metadata, annotations: { note: "x".repeat(20 * 1024) } } };
}

/** What runs behind a Service of the shop: a Deployment, its ReplicaSet, a Pod with a sidecar, and its address. */
export function workload(name: string, variant: number): AnyResource[] {
  return [
    ...workloadOf(name, SHOP, { app: name, version: `v${variant}` }),
    {
      apiVersion: "discovery.k8s.io/v1",
      kind: "EndpointSlice",
      metadata: { name: `${name}-0`, namespace: SHOP, labels: { "kubernetes.io/service-name": name } },
      addressType: "IPv4",
      ports: [{ name: "http", port: 8080, protocol: "TCP" }],
      endpoints: [{ addresses: [`10.1.0.${variant + 1}`], targetRef: { kind: "Pod", name: `${name}-1-0`, namespace: SHOP } }],
    },
  ];
}

function workloadOf(name: string, namespace: string, labels: Readonly<Record<string, string>>): AnyResource[] {
  const podSpec = { serviceAccountName: name, containers: [{ name: "istio-proxy", image: "docker.io/istio/proxyv2:1.27.1" }] };
  const controller = deployment(name, namespace, { labels, podSpec });
  return [
    controller,
    { ...controller, kind: "ReplicaSet", metadata: { name: `${name}-1`, namespace, labels, ownerReferences: [owner("Deployment", name)] } },
    {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: `${name}-1-0`, namespace, labels, ownerReferences: [owner("ReplicaSet", `${name}-1`)] },
      spec: podSpec,
      status: { phase: "Running" },
    },
  ];
}

function deployment(
  name: string,
  namespace: string,
  { labels, podSpec }: { readonly labels: Readonly<Record<string, string>>; readonly podSpec: object },
): AnyResource {
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name, namespace, labels },
    spec: { selector: { matchLabels: { app: labels["app"] ?? "" } }, template: { metadata: { labels }, spec: podSpec as never } },
  };
}

function owner(kind: string, name: string) {
  return { apiVersion: "apps/v1", kind, name, uid: `${kind}-${name}`, controller: true };
}

/** `revokedBefore`: certificates that were issued earlier do not count. */
export function kubernetesCluster(name: string, revokedBefore?: string): AnyResource {
  const annotations = revokedBefore === undefined ? {} : { annotations: { [REVOKED_BEFORE]: revokedBefore } };
  return {
    apiVersion: "multicluster.solo.io/v1alpha1",
    kind: "KubernetesCluster",
    metadata: { name, namespace: NAMESPACE, ...annotations },
  };
}

/** Joins the meshes of `clusters`. */
export function virtualMesh(clusters: readonly string[], variant: number): AnyResource {
  return {
    apiVersion: "networking.mesh.gloo.solo.io/v1",
    kind: "VirtualMesh",
    metadata: { name: "all", namespace: NAMESPACE },
    spec: {
      meshes: clusters.map((cluster) => ({ name: `istiod-${ISTIO}-${cluster}`, namespace: NAMESPACE })),
      federation: {
        selectors: [
          { destinationSelectors: [{ kubeServiceMatcher: variant % 2 === 0 ? { namespaces: [SHOP] } : { labels: { tier: "front" } } }] },
        ],
      },
      ...(variant >= 2 ? { globalAccessPolicy: "ENABLED" } : {}),
    },
  };
}

/** Variants differ in what they select and in what they say. */
export function trafficPolicy(name: string, variant: number): AnyResource {
  const selectors = [
    { kubeServiceMatcher: { labels: { app: "s0" } } },
    { kubeServiceMatcher: { labels: { tier: "front" } } },
    { kubeServiceMatcher: { namespaces: [SHOP], clusters: ["a"] } },
    { kubeServiceRefs: { services: [{ name: "s1", namespace: SHOP, clusterName: "b" }] } },
  ];
  const policies = [{ requestTimeout: "2s" }, { retries: { attempts: 3 } }];
  return {
    apiVersion: "networking.mesh.gloo.solo.io/v1",
    kind: "TrafficPolicy",
    metadata: { name, namespace: SHOP },
    spec: { destinationSelector: [selectors[variant % 4] ?? {}], policy: policies[variant >> 2] ?? {} },
  } as AnyResource;
}

/** Variants from 3 on name callers of a cluster, for which its trust domain is needed. */
export function accessPolicy(name: string, variant: number): AnyResource {
  return {
    apiVersion: "networking.mesh.gloo.solo.io/v1",
    kind: "AccessPolicy",
    metadata: { name, namespace: SHOP },
    spec: {
      sourceSelector: [{ kubeIdentityMatcher: variant < 3 ? { namespaces: [SHOP] } : { clusters: ["b"] } }],
      destinationSelector: [{ kubeServiceMatcher: { labels: { app: `s${variant % 3}` } } }],
    },
  };
}

/** On what a user got wrong, for the oracle: it opens nothing. */
export const MISTAKE_LABEL = "faults.test/mistake";

/** An AccessPolicy with a typing error, of another sort in each variant. */
export function mistakenPolicy(policy: AnyResource, variant: number): AnyResource {
  const mistakes = [
    { requiredHeaders: ["x"] },
    { allowedPaths: ["/{x}"] },
    { sourceSelector: [{ kubeIdentityMatcher: { clusters: ["nowhere"] } }] },
    { sourceSelector: [{ kubeIdentityMatchr: {} }] },
    { destinationSelector: [{ kubeServiceMatchr: {} }] },
  ];
  const { metadata } = policy;
  const spec = { ...(policy["spec"] as object), ...mistakes[variant] };
  return { ...policy, metadata: { ...metadata, labels: { [MISTAKE_LABEL]: "" } }, spec } as AnyResource;
}

/** A TrafficPolicy or a VirtualMesh with a typing error, of another sort in each variant. Those of variant 0 say of access what is there. */
export function mistakenObject(object: AnyResource, variant: number): AnyResource {
  const { metadata } = object;
  const spec = object["spec"] as Readonly<Record<string, object>>;
  const nobody = { name: "nobody", namespace: SHOP };
  const mistaken =
    object.kind === "VirtualMesh"
      ? [{ federation: { ...spec["federation"], selectr: [{}] } }, { meshes: [nobody] }]
      : [{ destinationSelectr: [] }, { destinationSelector: [{ kubeServiceRefs: { services: [nobody] } }] }];
  const labels = variant === 0 ? { labels: { [MISTAKE_LABEL]: "" } } : {};
  return { ...object, metadata: { ...metadata, ...labels }, spec: { ...spec, ...mistaken[variant] } } as AnyResource;
}

/** A mesh configuration without a usable trust domain. */
export function mistakenMeshConfig(variant: number): AnyResource {
  const { metadata, ...config } = meshConfig(0);
  const mesh = ["trustDomain: '*'", "trustDomain: a_b", "{}", "trustDomain: ["][variant] ?? "";
  return { ...config, metadata: { ...metadata, labels: { [MISTAKE_LABEL]: "" } }, data: { mesh } };
}
