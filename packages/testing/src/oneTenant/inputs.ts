import { type AnyResource, FIRST_SEEN, refOf, resourceKeyOf } from "@isthmus/core";
import fc from "fast-check";

/** The cluster with the tenant, and the namespace that is the tenant's. */
export interface Tenancy {
  readonly cluster: string;
  readonly namespace: string;
}

export const HOME = "east";
const OTHER = "west";
const NETWORKING = "networking.mesh.gloo.solo.io/v1";

/** What vouches for the control planes of both clusters: nothing in files, and with agents of before. */
export type Vouched = "by webhooks" | "by nothing";

/** What operators may have done otherwise. */
export interface Operation {
  /** Whether agents have said where they run. */
  readonly isAgentKnown: boolean;
  /** Whether gateways are selected by their labels. */
  readonly isGatewaySelected: boolean;
  readonly globalAccessPolicy: "ENABLED" | "DISABLED";
  /** Whether the mesh looks into labelled namespaces alone. */
  readonly isScoped: boolean;
}

const USUAL: Operation = { isAgentKnown: true, isGatewaySelected: false, globalAccessPolicy: "DISABLED", isScoped: false };

/** Every way of it, but for labels that select gateways where nothing vouches for a namespace: there every namespace counts, and the VirtualMesh selects the tenant's. */
export function operations(vouched: Vouched): fc.Arbitrary<Operation> {
  return fc.record({
    isAgentKnown: fc.boolean(),
    isGatewaySelected: vouched === "by nothing" ? fc.constant(false) : fc.boolean(),
    globalAccessPolicy: fc.constantFrom("ENABLED", "DISABLED"),
    isScoped: fc.boolean(),
  });
}

/** Two federated clusters, as agents report them, and the policies of their operators. */
export function fleet(vouched: Vouched, operation = USUAL): readonly AnyResource[] {
  const objects = [...[HOME, OTHER].flatMap((cluster) => clusterIn(cluster, vouched, operation)), ...management(operation)];
  return objects.map((one, i) => seen(one, 1000 + i));
}

/** The same with what the tenant creates later. */
export function withTenant(given: readonly AnyResource[], tenants: readonly AnyResource[]): readonly AnyResource[] {
  const held = new Set(given.map((one) => resourceKeyOf(refOf(one))));
  const added = new Map(tenants.map((one) => [resourceKeyOf(refOf(one)), one]));
  return [...given, ...[...added].filter(([key]) => !held.has(key)).map(([, one], i) => seen(one, 90_000 + i))];
}

function seen(object: AnyResource, at: number): AnyResource {
  const { metadata } = object;
  if (metadata.clusterName === undefined) return object;
  const stamp = new Date(Date.UTC(2026, 0, 1) + at).toISOString();
  return { ...object, metadata: { ...metadata, annotations: { ...metadata.annotations, [FIRST_SEEN]: stamp } } };
}

function clusterIn(clusterName: string, vouched: Vouched, { isScoped }: Operation): readonly AnyResource[] {
  return [
    ...["bookinfo", "istio-ingress", "istio-system", "kube-system", "aaa", "zzz"].map((name) => namespace(name, clusterName)),
    ...(vouched === "by webhooks" ? webhooks(clusterName) : []),
    istiod({ name: "istiod", namespace: "istio-system", clusterName }),
    meshConfig({ namespace: "istio-system", clusterName }, `${clusterName}.example`, isScoped ? SCOPE : ""),
    { apiVersion: "v1", kind: "Pod", metadata: { name: "agent", namespace: "gloo-mesh", clusterName, labels: { app: "gloo-mesh-agent" } } },
    cilium({ namespace: "kube-system", clusterName }),
    ciliumConfig({ namespace: "kube-system", clusterName }, { "cluster-name": clusterName, "cluster-id": "1" }),
    ...runningService({ name: "gateway", namespace: "istio-ingress", clusterName }, GATEWAY, { address: "198.51.100.7" }),
    ...runningService({ name: "reviews", namespace: "bookinfo", clusterName }, { app: "reviews" }),
    ...runningService({ name: "ratings", namespace: "bookinfo", clusterName }, { app: "ratings" }),
  ];
}

function management({ isAgentKnown, isGatewaySelected, globalAccessPolicy }: Operation): readonly AnyResource[] {
  const plane = { namespace: "gloo-mesh", creationTimestamp: "2026-01-01T00:00:00Z", generation: 1 };
  return [
    ...[HOME, OTHER].map((name) => ({
      apiVersion: "multicluster.solo.io/v1alpha1",
      kind: "KubernetesCluster",
      metadata: { ...plane, name },
      spec: {},
      ...(isAgentKnown ? { status: { namespace: "gloo-mesh", agent: { version: "1.0.0", connected: true } } } : {}),
    })),
    {
      apiVersion: "settings.mesh.gloo.solo.io/v1",
      kind: "Settings",
      metadata: { ...plane, name: "settings" },
      spec: { cilium: { accessPolicies: "ENABLED" }, policies: { namespaces: "OWN" } },
    },
    {
      apiVersion: NETWORKING,
      kind: "VirtualMesh",
      metadata: { ...plane, name: "shop" },
      spec: {
        meshes: [HOME, OTHER].map((cluster) => ({ name: `istiod-istio-system-${cluster}`, namespace: "gloo-mesh" })),
        federation: {
          selectors: [{}],
          ...(isGatewaySelected
            ? { eastWestIngressGatewaySelectors: [{ destinationSelectors: [{ kubeServiceMatcher: { labels: GATEWAY } }] }] }
            : {}),
        },
        globalAccessPolicy,
      },
    },
    {
      apiVersion: NETWORKING,
      kind: "AccessPolicy",
      // Policies of a namespace are about that one.
      metadata: { ...plane, name: "callers", namespace: "bookinfo" },
      spec: {
        destinationSelector: [{ kubeServiceMatcher: { namespaces: ["bookinfo"] } }],
        sourceSelector: [{ kubeIdentityMatcher: { clusters: [HOME], namespaces: ["bookinfo"] } }],
      },
    },
    {
      apiVersion: NETWORKING,
      kind: "TrafficPolicy",
      metadata: { ...plane, name: "timeout", namespace: "bookinfo" },
      spec: { destinationSelector: [{ kubeServiceMatcher: { namespaces: ["bookinfo"] } }], policy: { requestTimeout: "2s" } },
    },
  ];
}

interface Place {
  readonly namespace: string;
  readonly clusterName: string;
}
type Named = Place & { readonly name: string };

const SCOPE = "discoverySelectors:\n- matchLabels: { istio-injection: enabled }\n";
const GATEWAY = { istio: "ingressgateway" };
const TLS = [{ name: "tls", port: 15443, targetPort: 15443 }];

function namespace(name: string, clusterName: string): AnyResource {
  return { apiVersion: "v1", kind: "Namespace", metadata: { name, clusterName, labels: { "istio-injection": "enabled" } } };
}

/** What the injector and the validator of Istio are called by. */
export function webhooks(clusterName: string, home = "istio-system"): readonly AnyResource[] {
  const clientConfig = { service: { namespace: home, name: "istiod" } };
  const admission = (kind: string, name: string, webhook: string) => ({
    apiVersion: "admissionregistration.k8s.io/v1",
    kind,
    metadata: { name, clusterName },
    webhooks: [{ name: webhook, clientConfig }],
  });
  return [
    admission("MutatingWebhookConfiguration", "istio-sidecar-injector", "namespace.sidecar-injector.istio.io"),
    admission("ValidatingWebhookConfiguration", "istio-validator-istio-system", "rev.validation.istio.io"),
  ];
}

/** What looks like a control plane of Istio. */
export function istiod(metadata: Named, replicas = 1): AnyResource {
  const labels = { app: "istiod" };
  const spec = { serviceAccountName: "istiod", containers: [{ name: "discovery", image: "istio/pilot:1.27.0" }] };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata,
    spec: { replicas, selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
  };
}

/** What looks like its configuration. */
export function meshConfig(place: Place, trustDomain: string, more = ""): AnyResource {
  const data = { mesh: `trustDomain: ${trustDomain}\n${more}` };
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "istio", ...place }, data };
}

/** What looks like Cilium's agent. */
export function cilium(place: Place): AnyResource {
  const labels = { "k8s-app": "cilium" };
  const spec = { containers: [{ name: "cilium-agent", image: "quay.io/cilium/cilium:v1.18.0" }] };
  return {
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    metadata: { name: "cilium", ...place },
    spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
  };
}

/** What looks like its configuration. */
export function ciliumConfig(place: Place, data: Readonly<Record<string, string>>): AnyResource {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "cilium-config", ...place }, data };
}

interface Exposure {
  /** Of its load balancer. */
  readonly address?: string;
  readonly externalIPs?: readonly string[];
}

/** A Service with a pod in the mesh behind it. */
export function runningService(
  { name, ...place }: Named,
  labels: Readonly<Record<string, string>>,
  { address, externalIPs }: Exposure = {},
): readonly AnyResource[] {
  const isReached = address !== undefined || externalIPs !== undefined;
  const containers = [
    { name: "app", image: "app:1" },
    { name: "istio-proxy", image: "istio/proxyv2:1.27.0" },
  ];
  const template = { metadata: { labels }, spec: { serviceAccountName: name, containers: containers.slice(0, 1) } };
  return [
    {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name, ...place, labels },
      spec: {
        type: isReached ? "LoadBalancer" : "ClusterIP",
        selector: labels,
        ports: isReached ? TLS : [{ name: "http", port: 9080, targetPort: 9080 }],
        ...(externalIPs === undefined ? {} : { externalIPs }),
      },
      ...(address === undefined ? {} : { status: { loadBalancer: { ingress: [{ ip: address }] } } }),
    },
    { apiVersion: "apps/v1", kind: "StatefulSet", metadata: { name, ...place }, spec: { selector: { matchLabels: labels }, template } },
    {
      apiVersion: "v1",
      kind: "Pod",
      metadata: {
        name: `${name}-0`,
        ...place,
        labels,
        ownerReferences: [{ apiVersion: "apps/v1", kind: "StatefulSet", name, controller: true }],
      },
      spec: { serviceAccountName: name, containers },
    },
    {
      apiVersion: "discovery.k8s.io/v1",
      kind: "EndpointSlice",
      metadata: { name: `${name}-x`, ...place, labels: { "kubernetes.io/service-name": name } },
      addressType: "IPv4",
      ports: [{ name: isReached ? "tls" : "http", port: isReached ? 15443 : 9080 }],
      endpoints: [{ addresses: ["10.0.0.9"], targetRef: { kind: "Pod", name: `${name}-0`, namespace: place.namespace } }],
    },
  ];
}

/** What was done, in the review in which it was found: each takes something that is not the tenant's. */
export const ATTACKS: Readonly<Record<string, (place: Place) => readonly AnyResource[]>> = {
  "a control plane without pods, whose configuration names another trust domain": (place) => [
    istiod({ name: "istiod-x", ...place }, 0),
    meshConfig(place, "other-mesh.example"),
  ],
  "a control plane in a namespace that comes first": (place) => [
    istiod({ name: "istiod", ...place }),
    meshConfig(place, `${HOME}.example`),
  ],
  "a DaemonSet with the label of Cilium": (place) => [
    cilium(place),
    ciliumConfig(place, { "cluster-name": "evil", "enable-policy": "never", labels: "k8s:nothing" }),
  ],
  "pods and endpoints like those of a Service of others": (place) => [
    ...runningService({ name: "reviews", ...place }, { app: "reviews" }),
    {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "reviews-1", ...place, labels: { app: "reviews" } },
      spec: { serviceAccountName: "evil" },
    },
    {
      apiVersion: "discovery.k8s.io/v1",
      kind: "EndpointSlice",
      metadata: { name: "reviews-y", ...place, labels: { "kubernetes.io/service-name": "reviews" } },
      addressType: "IPv4",
      endpoints: [
        { addresses: ["203.0.113.66"] },
        { addresses: ["10.0.0.9"], targetRef: { kind: "Pod", name: "reviews-0", namespace: "bookinfo" } },
      ],
    },
  ],
  "a Service with the label of gateways and an address of its own": (place) =>
    runningService({ name: "a1", ...place }, GATEWAY, { externalIPs: ["203.0.113.66"] }),
};

// As others have them: the more a tenant's objects look like those, the better.
const NAMES = ["istiod", "istiod-x", "reviews", "gateway", "a1", "cilium", "osm-controller", "clustermesh-apiserver", "istio-istio"];
const LABELS: readonly Readonly<Record<string, string>>[] = [
  { app: "reviews" },
  { app: "istiod", "istio.io/rev": "default" },
  GATEWAY,
  { istio: "eastwestgateway" },
  { "k8s-app": "cilium" },
  { app: "gloo-mesh-agent" },
  { "istio.io/tag": "default", "istio.io/rev": "x" },
  { "owner.discovery.mesh.gloo.solo.io": "gloo-mesh", "cluster.discovery.mesh.gloo.solo.io": HOME },
  { "kubernetes.io/service-name": "reviews" },
];
const ANNOTATIONS: readonly Readonly<Record<string, string>>[] = [
  {},
  { "istio.io/rev": "default" },
  { "sidecar.istio.io/status": '{"revision":"default"}' },
  { "inject.istio.io/templates": "gateway" },
  { "sidecar.istio.io/inject": "true" },
];
const IMAGES = [
  "app:1",
  "istio/pilot:1.27.0",
  "istio/proxyv2:1.27.0",
  "quay.io/cilium/cilium:v1.18.0",
  "openservicemesh/osm-controller:v1.2.0",
];
const CONTAINERS = ["app", "discovery", "istio-proxy", "cilium-agent", "osm-controller"];
const ADDRESSES = ["203.0.113.66", "198.51.100.7", "10.0.0.9"];

/** Whatever a user may create who may write one namespace, of every kind that agents send. */
export function tenantsObjects({ namespace: own, cluster: clusterName }: Tenancy): fc.Arbitrary<readonly AnyResource[]> {
  const place = { namespace: own, clusterName };
  const metadata = fc
    .record({
      name: fc.constantFrom(...NAMES),
      labels: fc.constantFrom(...LABELS),
      annotations: fc.constantFrom(...ANNOTATIONS),
      creationTimestamp: fc.constantFrom("1970-01-01T00:00:00Z", "2026-06-01T00:00:00Z"),
      owner: fc.constantFrom(
        undefined,
        ["Deployment", "istiod"],
        ["StatefulSet", "reviews"],
        ["DaemonSet", "cilium"],
        ["Rollout", "reviews"],
        ["deployment", "istiod"],
        ["A/b", "-"],
      ),
    })
    .map(({ owner, ...rest }) => ({
      ...rest,
      ...place,
      ...(owner === undefined
        ? {}
        : { ownerReferences: [{ apiVersion: "apps/v1", kind: owner[0] ?? "", name: owner[1] ?? "", controller: true }] }),
    }));
  const podSpec = fc
    .array(fc.record({ name: fc.constantFrom(...CONTAINERS), image: fc.constantFrom(...IMAGES) }), { minLength: 1, maxLength: 2 })
    .map((containers) => ({ serviceAccountName: "istiod", containers }));
  const labels = fc.constantFrom(...LABELS);
  const controller = fc
    .record({
      kind: fc.constantFrom("Deployment", "DaemonSet", "StatefulSet", "ReplicaSet"),
      metadata,
      labels,
      annotations: fc.constantFrom(...ANNOTATIONS),
      spec: podSpec,
      replicas: fc.constantFrom(0, 1),
    })
    .map(({ kind, metadata: meta, labels: wanted, annotations, spec, replicas }) => ({
      apiVersion: "apps/v1",
      kind,
      metadata: meta,
      spec: { replicas, selector: { matchLabels: wanted }, template: { metadata: { labels: wanted, annotations }, spec } },
      status: { readyReplicas: replicas },
    }));
  const pod = fc.record({ metadata, spec: podSpec }).map((rest) => ({ apiVersion: "v1", kind: "Pod", ...rest }));
  const configMap = fc
    .record({
      name: fc.constantFrom("istio", "istio-x", "cilium-config"),
      data: fc.constantFrom<Readonly<Record<string, string>>>(
        { mesh: "trustDomain: other-mesh.example\n" },
        { mesh: "trustDomain: west.example\ntrustDomainAliases: [east.example]\nrootNamespace: aaa\n" },
        { mesh: "discoverySelectors:\n- matchLabels: { none: 'at all' }\n" },
        { "enable-policy": "never", labels: "k8s:nothing" },
      ),
    })
    .map(({ name, data }) => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name, ...place }, data }));
  const exposed = fc
    .record({
      metadata,
      selector: labels,
      type: fc.constantFrom("ClusterIP", "LoadBalancer", "NodePort", "ExternalName"),
      externalIPs: fc.constantFrom(undefined, ADDRESSES.slice(0, 1), ADDRESSES.slice(0, 2)),
      ports: fc.constantFrom<readonly object[]>(TLS, [{ name: "http", port: 80, targetPort: 8080 }]),
    })
    .map(({ metadata: meta, externalIPs, ...spec }) => ({
      apiVersion: "v1",
      kind: "Service",
      metadata: meta,
      spec: { ...spec, ...(externalIPs === undefined ? {} : { externalIPs }) },
    }));
  const target = fc.record({
    kind: fc.constant("Pod"),
    name: fc.constantFrom("reviews-0", "istiod-0", "gateway-0"),
    namespace: fc.constantFrom(own, "bookinfo", "istio-ingress"),
  });
  const slice = fc
    .record({ metadata, target, address: fc.constantFrom(...ADDRESSES) })
    .map(({ metadata: meta, target: targetRef, address }) => ({
      apiVersion: "discovery.k8s.io/v1",
      kind: "EndpointSlice",
      metadata: meta,
      addressType: "IPv4",
      ports: [{ name: "tls", port: 15443 }],
      endpoints: [{ addresses: [address], targetRef }],
    }));
  const endpoints = fc
    .record({ metadata, target, address: fc.constantFrom(...ADDRESSES) })
    .map(({ metadata: meta, target: targetRef, address }) => ({
      apiVersion: "v1",
      kind: "Endpoints",
      metadata: meta,
      subsets: [{ addresses: [{ ip: address, targetRef }], ports: [{ name: "tls", port: 15443 }] }],
    }));
  const network = metadata.map((meta) => ({
    apiVersion: "cilium.io/v2",
    kind: "CiliumNetworkPolicy",
    metadata: meta,
    spec: { endpointSelector: {}, ingress: [{ fromEntities: ["all"] }] },
  }));
  const policy = fc
    .record({
      kind: fc.constantFrom("AccessPolicy", "TrafficPolicy"),
      metadata,
      destinationSelector: fc.constantFrom<readonly object[]>(
        [],
        [{ kubeServiceMatcher: { namespaces: ["bookinfo"] } }],
        [{ kubeServiceRefs: { services: [{ name: "reviews", namespace: "bookinfo", clusterName: OTHER }] } }],
      ),
    })
    .map(({ kind, metadata: meta, destinationSelector }) => ({
      apiVersion: NETWORKING,
      kind,
      metadata: { ...meta, generation: 1 },
      spec: {
        ...(destinationSelector.length === 0 ? {} : { destinationSelector }),
        ...(kind === "AccessPolicy" ? { sourceSelector: [{}] } : { policy: { requestTimeout: "9s" } }),
      },
    }));
  const istio = fc
    .record({
      kind: fc.constantFrom("VirtualService", "DestinationRule", "ServiceEntry", "Gateway", "AuthorizationPolicy", "Sidecar"),
      metadata,
      host: fc.constantFrom("reviews", "a1").map((name) => `${name}.${own}.svc.cluster.local`),
    })
    .map(({ kind, metadata: meta, host }) => ({
      apiVersion: kind === "AuthorizationPolicy" ? "security.istio.io/v1" : "networking.istio.io/v1",
      kind,
      metadata: meta,
      spec:
        kind === "DestinationRule"
          ? { host, trafficPolicy: { tls: { mode: "DISABLE" } } }
          : kind === "AuthorizationPolicy"
            ? { action: "ALLOW", rules: [{}] }
            : kind === "Sidecar"
              ? { egress: [{ hosts: ["./*"] }] }
              : kind === "Gateway"
                ? {
                    selector: GATEWAY,
                    servers: [{ port: { number: 15443, protocol: "TLS", name: "tls" }, hosts: ["*"], tls: { mode: "PASSTHROUGH" } }],
                  }
                : { hosts: [host], ...(kind === "VirtualService" ? { http: [{ route: [{ destination: { host } }] }] } : {}) },
    }));
  const asked = fc
    .record({ kind: fc.constantFrom("VirtualMesh", "ServiceDependency", "AccessLogRecord"), metadata })
    .map(({ kind, metadata: meta }) => ({
      apiVersion:
        kind === "VirtualMesh"
          ? NETWORKING
          : kind === "AccessLogRecord"
            ? "observability.enterprise.mesh.gloo.solo.io/v1"
            : "networking.enterprise.mesh.gloo.solo.io/v1beta1",
      kind,
      metadata: { ...meta, generation: 1 },
      spec:
        kind === "VirtualMesh"
          ? { meshes: [{ name: `istiod-istio-system-${HOME}`, namespace: "gloo-mesh" }], globalAccessPolicy: "ENABLED" }
          : kind === "AccessLogRecord"
            ? {}
            : { sourceSelectors: [{}], destinationSelectors: [] },
    }));
  const attack = fc.constantFrom(...Object.values(ATTACKS)).map((make) => make(place));
  const one = fc.oneof(controller, pod, configMap, exposed, slice, endpoints, network, policy, istio, asked);
  return fc
    .tuple(fc.array(one, { minLength: 1, maxLength: 8 }), fc.array(attack, { maxLength: 2 }))
    .map(([own_, attacks]) => [...attacks.flat(), ...own_]);
}
