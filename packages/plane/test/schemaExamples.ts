import {
  AccessLogRecord,
  AccessPolicy,
  contributedKinds,
  KubernetesCluster,
  Mesh,
  ServiceDependency,
  Settings,
  TrafficPolicy,
  userStatusKinds,
  VirtualDestination,
  VirtualMesh,
  WasmDeployment,
} from "@isthmus/api";
import type { AnyResource, Kind } from "@isthmus/core";
import { lastKnownMeshOf } from "@isthmus/translators";
import { leavesOf, type SchemaField, type SchemaNode, withField } from "./schemaFields.ts";

/** Every kind by which users ask something: those with a status, those that they may write in workload clusters, and registrations. */
export const USER_KINDS: readonly Kind[] = [...new Set([...userStatusKinds(), ...contributedKinds(), KubernetesCluster])];

/** The schema of a kind's `spec`. */
export function specOf(kind: Kind): SchemaNode {
  return (kind as typeof TrafficPolicy).definition.fields.spec as object as SchemaNode;
}

/** Where a field's effect shows, and what value shows it. Found by the longest path that begins a field's. */
export interface Example {
  /** What else the object says; each by its path. Default: what the kind's row says. */
  readonly given?: Readonly<Record<string, unknown>>;
  /** Of that field alone, never of those below it. Default: a word, a number, seconds. */
  readonly value?: unknown;
  /** Objects beside it. */
  readonly beside?: readonly AnyResource[];
  /** What the field stands in is answered as a whole. */
  readonly isAnsweredWhole?: boolean;
  /** Why the field may have no effect and nothing is said of it. */
  readonly isSilent?: string;
}

/** The least object of a kind. */
function leastOf({ apiVersion, kind }: Kind): AnyResource {
  const name = kind === KubernetesCluster.kind ? "east" : kind === Settings.kind ? "settings" : "example";
  const status = kind === KubernetesCluster.kind ? { namespace: "gloo-mesh", agent: { version: "1.0.0", connected: true } } : undefined;
  return { apiVersion, kind, metadata: { name, namespace: "gloo-mesh" }, spec: {}, ...(status && { status }) };
}

/** All fields of a kind's `spec`. */
export function fieldsOf(kind: Kind): readonly SchemaField[] {
  return leavesOf(specOf(kind), "spec");
}

/** What an example of a field begins with. */
export function exampleFor(kind: Kind, path: string): Required<Pick<Example, "given" | "beside">> & Example {
  const rows = EXAMPLES[kind.kind] ?? {};
  const near = Object.keys(rows)
    .filter((prefix) => path === prefix || path.startsWith(`${prefix}.`) || path.startsWith(`${prefix}[`) || path.startsWith(`${prefix}{`))
    .sort((a, b) => a.length - b.length)
    .map((prefix) => ({ ...rows[prefix], ...(prefix === path ? {} : { value: undefined, isSilent: undefined }) }));
  const merged: Example = Object.assign(
    {},
    ...near.map((row) => Object.fromEntries(Object.entries(row).filter(([, value]) => value !== undefined))),
  );
  return { given: {}, beside: [], ...merged };
}

/** An object that says some things; each by its path. */
export function objectSaying(kind: Kind, given: Readonly<Record<string, unknown>>): AnyResource {
  return Object.entries(given).reduce((object, [path, value]) => withField(object, path, value), leastOf(kind));
}

const service = (name: string, clusterName = "east", namespace = "shop") => ({ name, namespace, clusterName });
const mesh = (cluster: string) => ({ name: `istiod-istio-system-${cluster}`, namespace: "gloo-mesh" });
const TIMEOUT = { "spec.policy.requestTimeout": "5s" };
const SHIFT = "spec.policy.trafficShift.destinations[]";
const MESHES = { "spec.meshes": [mesh("east"), mesh("west")] };
const FEDERATED = { ...MESHES, "spec.federation.selectors": [{}] };
const PERMISSIVE = { ...MESHES, "spec.federation.permissive": {} };
const SHARED = { ...MESHES, "spec.mtlsConfig.shared": {} };
const CLOSED = { "spec.destinationSelector": [{ kubeServiceMatcher: { namespaces: ["shop"] } }] };
const VIRTUAL_MESH = objectSaying(VirtualMesh, FEDERATED);
// A mesh as a server remembers it, of which nothing is there any more.
const GONE_MESH: AnyResource = {
  apiVersion: Mesh.apiVersion,
  kind: Mesh.kind,
  metadata: {
    name: "istiod-istio-old-east",
    namespace: "gloo-mesh",
    labels: { "cluster.discovery.mesh.gloo.solo.io": "east" },
  },
  spec: { istio: { installation: { namespace: "istio-old", cluster: "east", podLabels: { app: "istiod" }, version: "1.26.0" } } },
};
const REMEMBERED: AnyResource = { ...GONE_MESH, ...lastKnownMeshOf(GONE_MESH) };
// In force in every namespace, which is an insight.
const EVERYWHERE: AnyResource = {
  apiVersion: "networking.istio.io/v1",
  kind: "VirtualService",
  metadata: { name: "mine", namespace: "shop", clusterName: "east" },
  spec: { hosts: ["mine.example"], http: [{ route: [{ destination: { host: "cart" } }] }] },
};
const SUPPRESSING = { "spec.insights.suppressions": [{ code: "BP*", reason: "known" }] };
const ON = { accessPolicies: "ENABLED" };
/** Cilium in a cluster, and a policy for its network layer. */
const CILIUM: readonly AnyResource[] = [
  {
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    metadata: { name: "cilium", namespace: "kube-system", clusterName: "east" },
    spec: {
      selector: { matchLabels: { "k8s-app": "cilium" } },
      template: {
        metadata: { labels: { "k8s-app": "cilium" } },
        spec: { containers: [{ name: "cilium-agent", image: "quay.io/cilium/cilium:v1.20.2" }] },
      },
    },
  },
  objectSaying(AccessPolicy, { "spec.destinationSelector": [{ kubeServiceMatcher: { namespaces: ["shop"] } }] }),
];
/** Callers of a cluster that cannot be distinguished from those of another one. */
const ONE_TRUST_DOMAIN: readonly AnyResource[] = [
  VIRTUAL_MESH,
  objectSaying(AccessPolicy, { "spec.sourceSelector": [{ kubeIdentityMatcher: { clusters: ["east"] } }] }),
  {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "istio", namespace: "istio-system", clusterName: "west" },
    data: { mesh: "trustDomain: east" },
  },
];
const policyIn = (metadata: object): AnyResource => ({
  ...objectSaying(TrafficPolicy, TIMEOUT),
  metadata: { name: "contributed", namespace: "shop", ...metadata },
});
const headers = (path: string): Readonly<Record<string, Example>> => ({
  [`${path}.appendRequestHeaders{}`]: { value: "one" },
  [`${path}.appendResponseHeaders{}`]: { value: "one" },
});
const SELECTED = [{ kubeServiceMatcher: { labels: { app: "cart" } } }];
const NAMED_HOST = {
  "spec.hostname": "cart.mesh.global",
  "spec.port": { number: 80, protocol: "http" },
  "spec.virtualMesh": { name: "example", namespace: "gloo-mesh" },
};
const HOST = { ...NAMED_HOST, "spec.localized.destinationSelectors": SELECTED };
const ORDER = { ...NAMED_HOST, "spec.static.destinations": [{ kubeService: service("cart") }] };
const MATCHED = { "spec.destinationSelector": [{ virtualDestinationMatcher: {} }] };
const VIRTUAL_DESTINATION = objectSaying(VirtualDestination, HOST);

const IMAGE_FILTER = { wasmImageSource: { wasmImageTag: "registry.example.com/header:v1" } };
const HTTP_SOURCE = { uri: "https://example.com/header.wasm", sha: "a".repeat(64) };
const TEXT_CONFIG = { "@type": "type.googleapis.com/google.protobuf.StringValue", value: "on" };

const EXAMPLES: Readonly<Record<string, Readonly<Record<string, Example>>>> = {
  [TrafficPolicy.kind]: {
    spec: { given: TIMEOUT },
    "spec.sourceSelector[].kubeWorkloadMatcher.labels{}": { value: "cart" },
    "spec.destinationSelector[].kubeServiceMatcher.labels{}": { value: "cart" },
    "spec.destinationSelector[].kubeServiceRefs.services[]": {
      given: { ...TIMEOUT, "spec.destinationSelector": [{ kubeServiceRefs: { services: [service("cart")] } }] },
    },
    "spec.destinationSelector[].virtualDestinationMatcher": {
      given: { ...TIMEOUT, ...MATCHED },
      beside: [VIRTUAL_MESH, VIRTUAL_DESTINATION],
    },
    "spec.httpRequestMatchers[].name": {
      isSilent: "a name for people: the schema says that it documents the matcher, and asks for nothing",
    },
    "spec.httpRequestMatchers[].uri.ignoreCase": { given: { ...TIMEOUT, "spec.httpRequestMatchers": [{ uri: { exact: "/a" } }] } },
    "spec.httpRequestMatchers[].headers[]": {
      given: { ...TIMEOUT, "spec.httpRequestMatchers": [{ headers: [{ name: "x", value: "y" }] }] },
    },
    "spec.httpRequestMatchers[].headers[].name": { value: "z" },
    "spec.httpRequestMatchers[].queryParameters[]": {
      given: { ...TIMEOUT, "spec.httpRequestMatchers": [{ queryParameters: [{ name: "x", value: "y" }] }] },
    },
    "spec.httpRequestMatchers[].queryParameters[].name": { value: "z" },
    "spec.httpRequestMatchers[].method": { value: "POST" },
    "spec.policy.requestTimeout": { given: {} },
    "spec.policy.trafficShift": {
      given: { "spec.policy.trafficShift.destinations": [{ kubeService: service("cart"), weight: 1 }] },
    },
    [`${SHIFT}.kubeService.name`]: { value: "istio-ingressgateway" },
    [`${SHIFT}.kubeService.port`]: {
      given: { "spec.policy.trafficShift.destinations": [{ kubeService: { ...service("stock"), port: 80 }, weight: 1 }] },
      value: 81,
    },
    [`${SHIFT}.kubeService.subset{}`]: { value: "v1" },
    [`${SHIFT}.virtualDestination`]: {
      given: { "spec.policy.trafficShift.destinations": [{ virtualDestination: { name: "example", namespace: "gloo-mesh" } }] },
      beside: [VIRTUAL_DESTINATION],
    },
    [`${SHIFT}.virtualDestination.name`]: { value: "nobody" },
    [`${SHIFT}.virtualDestination.subset{}`]: { value: "v1" },
    [`${SHIFT}.staticDestination`]: { given: { "spec.policy.trafficShift.destinations": [{}] }, isAnsweredWhole: true },
    [`${SHIFT}.clusterHeader`]: { given: { "spec.policy.trafficShift.destinations": [{}] } },
    ...headers(`${SHIFT}.options.headerManipulation`),
    ...headers("spec.policy.headerManipulation"),
    "spec.policy.faultInjection.fixedDelay": { given: { "spec.policy.faultInjection": {} } },
    "spec.policy.faultInjection.abort.httpStatus": { given: { "spec.policy.faultInjection.abort": { httpStatus: 500 } }, value: 503 },
    "spec.policy.faultInjection.percentage": { given: { "spec.policy.faultInjection.fixedDelay": "1s" } },
    "spec.policy.retries.perTryTimeout": { given: { "spec.policy.retries.attempts": 3 } },
    "spec.policy.retries.attempts": { given: { "spec.policy.retries.perTryTimeout": "1s" } },
    "spec.policy.corsPolicy.allowOrigins[].ignoreCase": { given: { "spec.policy.corsPolicy.allowOrigins": [{ exact: "a.example.com" }] } },
    "spec.policy.mirror": { given: { "spec.policy.mirror.kubeService": service("cart") } },
    "spec.policy.mirror.kubeService.name": { value: "istio-ingressgateway" },
    "spec.policy.mirror.virtualDestination": {
      given: { "spec.policy.mirror": { virtualDestination: { name: "example", namespace: "gloo-mesh" } } },
      beside: [VIRTUAL_DESTINATION],
    },
    "spec.policy.mirror.virtualDestination.name": { value: "nobody" },
    "spec.policy.mirror.port": { given: { "spec.policy.mirror": { kubeService: service("stock"), port: 80 } }, value: 81 },
    "spec.policy.csrf": { given: { "spec.policy.csrf.filterEnabled": true } },
    "spec.policy.csrf.filterEnabled": { given: { "spec.policy.csrf": {} } },
    "spec.policy.csrf.shadowEnabled": { given: { "spec.policy.csrf": {} } },
    "spec.policy.csrf.additionalOrigins[].ignoreCase": {
      given: { "spec.policy.csrf": { filterEnabled: true, additionalOrigins: [{ exact: "a.example.com" }] } },
    },
  },
  [AccessPolicy.kind]: {
    spec: { given: CLOSED },
    "spec.destinationSelector[].kubeServiceMatcher.labels{}": { value: "cart" },
    "spec.destinationSelector[].kubeServiceRefs.services[]": {
      given: { "spec.destinationSelector": [{ kubeServiceRefs: { services: [service("cart")] } }] },
    },
    "spec.destinationSelector[].virtualDestinationMatcher": { given: MATCHED, beside: [VIRTUAL_MESH, VIRTUAL_DESTINATION] },
    "spec.sourceSelector[].kubeIdentityMatcher.clusters": { value: ["west"] },
    "spec.sourceSelector[].kubeServiceAccountRefs.serviceAccounts[]": {
      given: { ...CLOSED, "spec.sourceSelector": [{ kubeServiceAccountRefs: { serviceAccounts: [service("cart")] } }] },
    },
    "spec.sourceSelector[].kubeServiceAccountRefs.serviceAccounts[].clusterName": { value: "west" },
    "spec.allowedPaths": { value: ["/a"] },
    "spec.allowedMethods": { value: ["GET"] },
  },
  [VirtualMesh.kind]: {
    spec: { given: FEDERATED },
    // Nothing of it is carried out yet.
    "spec.mtlsConfig.shared": { given: MESHES, isAnsweredWhole: true },
    "spec.mtlsConfig.limited": { given: { ...MESHES, "spec.mtlsConfig": {} } },
    "spec.mtlsConfig.autoRestartPods": { given: SHARED },
    "spec.federation.permissive": { given: { ...MESHES, "spec.federation": {} } },
    // Without its selectors it would federate everything.
    "spec.federation.selectors": { given: PERMISSIVE },
    "spec.federation.selectors[].destinationSelectors[].kubeServiceMatcher.labels{}": { value: "cart" },
    "spec.federation.selectors[].destinationSelectors[].kubeServiceRefs.services[]": {
      given: {
        ...PERMISSIVE,
        "spec.federation.selectors": [{ destinationSelectors: [{ kubeServiceRefs: { services: [service("cart")] } }] }],
      },
    },
    "spec.federation.selectors[].meshes[]": { given: { ...PERMISSIVE, "spec.federation.selectors": [{ meshes: [mesh("west")] }] } },
    "spec.federation.eastWestIngressGatewaySelectors[].destinationSelectors[].kubeServiceMatcher.labels{}": { value: "other" },
    "spec.federation.eastWestIngressGatewaySelectors[].destinationSelectors[].kubeServiceRefs.services[]": {
      given: {
        ...FEDERATED,
        "spec.federation.eastWestIngressGatewaySelectors": [
          { destinationSelectors: [{ kubeServiceRefs: { services: [service("istio-ingressgateway", "east", "istio-system")] } }] },
        ],
      },
    },
    "spec.federation.eastWestIngressGatewaySelectors[].portName": { value: "other" },
    "spec.federation.failover": { given: { ...FEDERATED, ...SHARED } },
    "spec.globalAccessPolicy": { value: "ENABLED" },
  },
  [VirtualDestination.kind]: {
    spec: { given: HOST, beside: [VIRTUAL_MESH] },
    "spec.hostname": { value: "cart.other.global" },
    "spec.port.number": { value: 8080 },
    "spec.port.protocol": { value: "HTTP2" },
    "spec.port.targetName": { given: { ...HOST, "spec.port": { number: 80 } }, value: "other" },
    "spec.port.targetNumber": { given: { ...HOST, "spec.port": { number: 80 } }, value: 81 },
    "spec.virtualMesh": { given: { ...HOST, "spec.virtualMesh": { name: "example", namespace: "gloo-mesh" } } },
    "spec.virtualMesh.name": { value: "nobody" },
    "spec.virtualMesh.namespace": { value: "nowhere" },
    "spec.meshList": { given: { ...HOST, "spec.meshList.meshes": [mesh("east")] } },
    "spec.meshList.meshes": { given: HOST },
    "spec.meshList.meshes[].name": { value: "nobody" },
    "spec.meshList.meshes[].namespace": { value: "nowhere" },
    "spec.static": { given: ORDER },
    "spec.static.destinations": { given: HOST },
    "spec.static.destinations[].kubeService": { given: ORDER },
    "spec.static.destinations[].kubeService.name": { value: "stock" },
    "spec.static.destinations[].kubeService.clusterName": { value: "west" },
    "spec.localized.destinationSelectors": { given: ORDER },
    "spec.localized.destinationSelectors[].kubeServiceMatcher.labels{}": { value: "stock" },
    "spec.localized.destinationSelectors[].kubeServiceRefs.services[]": {
      given: { ...NAMED_HOST, "spec.localized.destinationSelectors": [{ kubeServiceRefs: { services: [service("cart")] } }] },
    },
    "spec.localized.outlierDetection.maxEjectionPercent": { value: 50 },
  },
  [ServiceDependency.kind]: {
    spec: { given: { "spec.sourceSelectors": [{}], "spec.destinationSelectors": SELECTED } },
    "spec.sourceSelectors[].kubeWorkloadMatcher.labels{}": { value: "stock" },
    "spec.sourceSelectors[].kubeWorkloadMatcher.namespaces": { value: ["nowhere"] },
    "spec.sourceSelectors[].kubeWorkloadMatcher.clusters": { value: ["west"] },
    "spec.destinationSelectors[].kubeServiceMatcher.labels{}": { value: "stock" },
    "spec.destinationSelectors[].kubeServiceRefs.services[]": {
      given: { "spec.sourceSelectors": [{}], "spec.destinationSelectors": [{ kubeServiceRefs: { services: [service("cart")] } }] },
    },
    "spec.destinationSelectors[].kubeServiceRefs.services[].name": { value: "stock" },
  },
  [AccessLogRecord.kind]: {
    "spec.workloadSelectors[].kubeWorkloadMatcher.labels{}": { value: "stock" },
    "spec.workloadSelectors[].kubeWorkloadMatcher.namespaces": { value: ["nowhere"] },
    "spec.workloadSelectors[].kubeWorkloadMatcher.clusters": { value: ["west"] },
    "spec.filters[].statusCodeMatcher": { given: { "spec.filters": [{ statusCodeMatcher: { value: 400, comparator: "GE" } }] } },
    "spec.filters[].statusCodeMatcher.value": { value: 500 },
    "spec.filters[].statusCodeMatcher.comparator": { value: "LE" },
    "spec.filters[].headerMatcher": { given: { "spec.filters": [{ headerMatcher: { name: "x-debug", value: "a.*" } }] } },
    "spec.filters[].headerMatcher.name": { value: "x-user" },
    "spec.includedRequestHeaders": { value: ["x-user"] },
    "spec.includedResponseHeaders": { value: ["x-user"] },
    "spec.includedResponseTrailers": { value: ["grpc-status"] },
    "spec.includedFilterStateObjects": { value: ["wasm.key"] },
  },
  [WasmDeployment.kind]: {
    spec: { given: { "spec.filters": [IMAGE_FILTER] } },
    "spec.workloadSelector[].kubeWorkloadMatcher.labels{}": { value: "stock" },
    "spec.workloadSelector[].kubeWorkloadMatcher.namespaces": { value: ["nowhere"] },
    "spec.workloadSelector[].kubeWorkloadMatcher.clusters": { value: ["west"] },
    "spec.filters[].localPathSource": { given: { "spec.filters": [{ localPathSource: "/header.wasm", rootId: "header" }] } },
    "spec.filters[].httpUriSource": { given: { "spec.filters": [{ httpUriSource: HTTP_SOURCE, rootId: "header" }] } },
    "spec.filters[].httpUriSource.uri": { value: "https://example.com/other.wasm" },
    "spec.filters[].httpUriSource.sha": { value: "b".repeat(64) },
    "spec.filters[].wasmImageSource": { given: { "spec.filters": [IMAGE_FILTER] } },
    "spec.filters[].wasmImageSource.wasmImageTag": { value: "registry.example.com/other:v1" },
    "spec.filters[].staticFilterConfig": { given: { "spec.filters": [{ ...IMAGE_FILTER, staticFilterConfig: TEXT_CONFIG }] } },
    "spec.filters[].staticFilterConfig.@type": { value: "type.googleapis.com/google.protobuf.Int32Value" },
    "spec.filters[].staticFilterConfig.value": { value: "other" },
    "spec.filters[].filterContext": { value: "GATEWAY" },
    "spec.filters[].insertBeforeFilter": { value: "envoy.filters.http.cors" },
  },
  [KubernetesCluster.kind]: {
    // Hosts are named where somebody says something of them.
    "spec.clusterDomain": { beside: [objectSaying(TrafficPolicy, { "spec.policy.requestTimeout": "1s" })] },
    "spec.removed": {
      value: ["istio-old/istiod"],
      beside: [REMEMBERED, objectSaying(VirtualMesh, { "spec.meshes": [{ name: "istiod-istio-old-east", namespace: "gloo-mesh" }] })],
    },
    "spec.providerInfo": { isSilent: "describes the cluster for people and for tools of the published product; it asks for nothing" },
  },
  [Settings.kind]: {
    spec: { beside: [VIRTUAL_MESH] },
    "spec.agentServices.address": { value: "agent.example.com:9988", beside: [objectSaying(AccessLogRecord, {})] },
    "spec.agentServices.metrics": { value: "ENABLED" },
    "spec.agentServices.apiDiscovery": { value: "DISABLED" },
    "spec.cilium": { given: { "spec.cilium": ON }, beside: CILIUM },
    "spec.cilium.accessPolicies": { given: {}, value: "ENABLED", beside: CILIUM },
    "spec.cilium.allowFrom[]": { given: { "spec.cilium": { ...ON, allowFrom: [{ namespace: "monitoring" }] } }, beside: CILIUM },
    "spec.mtls.istio.tlsMode": { value: "ISTIO_MUTUAL" },
    "spec.failover.targets": {
      beside: [
        objectSaying(VirtualMesh, { ...FEDERATED, ...SHARED, "spec.federation.failover": {} }),
        objectSaying(AccessPolicy, { "spec.destinationSelector": [{ kubeServiceMatcher: { clusters: ["east"], namespaces: ["shop"] } }] }),
      ],
      value: "GUARDED_ONLY",
    },
    "spec.policies.hostSuffixes{}": { isSilent: "shows where a namespace of that name gives a host: givenHosts.long.test.ts" },
    "spec.failover.excludeOffline.after": { isSilent: "shows once an agent has been away for so long: offlineClusters.long.test.ts" },
    "spec.discovery.istio.ingressGatewayDetectors{}.gatewayWorkloadLabels{}": { value: "example" },
    "spec.discovery.istio.ingressGatewayDetectors{}.gatewayTlsPortName": { value: "other" },
    "spec.discovery.selectors[].matchLabels{}": { value: "shop" },
    "spec.discovery.selectors[].matchExpressions[]": {
      given: { "spec.discovery.selectors": [{ matchExpressions: [{ key: "kubernetes.io/metadata.name", operator: "Exists" }] }] },
    },
    "spec.discovery.selectors[].matchExpressions[].values": {
      given: {
        "spec.discovery.selectors": [{ matchExpressions: [{ key: "kubernetes.io/metadata.name", operator: "In", values: ["shop"] }] }],
      },
    },
    "spec.federation.maxObjectsPerCluster": { value: 1 },
    "spec.insights.suppressions[]": { given: SUPPRESSING, beside: [EVERYWHERE] },
    "spec.insights.suppressions[].code": { given: { "spec.insights.suppressions": [{ reason: "known" }] }, value: "BP*" },
    "spec.insights.suppressions[].reason": { given: { "spec.insights.suppressions": [{ code: "BP*" }] } },
    "spec.insights.suppressions[].until": { value: "1969-12-31" },
    "spec.policies.namespaces": { beside: [policyIn({})], value: "OWN" },
    "spec.policies.headerOperators": {
      beside: [objectSaying(TrafficPolicy, { "spec.policy.headerManipulation.appendRequestHeaders": { a: "%START_TIME%" } })],
    },
    "spec.policies.sharedTrustDomain": { value: "WARN", beside: ONE_TRUST_DOMAIN },
    "spec.relay.sharedToken": { value: "ANY_NAME" },
    "spec.relay.registration": { value: "KNOWN_CLUSTERS" },
    "spec.workloadClusterResources": { beside: [policyIn({ clusterName: "east" })] },
    "spec.workloadClusterResources.targets": { value: "ANY_DESTINATION" },
    "spec.workloadClusterResources.clusters{}": { value: "ANY_DESTINATION" },
    "spec.workloadClusterResources.workloads": {
      beside: [{ ...objectSaying(AccessLogRecord, {}), metadata: { name: "contributed", namespace: "shop", clusterName: "east" } }],
      value: "OWN_CLUSTER",
    },
    "spec.workloadClusterResources.virtualMeshes": {
      beside: [
        {
          ...objectSaying(VirtualMesh, { "spec.meshes": [mesh("east")], "spec.globalAccessPolicy": "ENABLED" }),
          metadata: { name: "v", namespace: "shop", clusterName: "east" },
        },
      ],
      value: "ALLOWED",
    },
  },
};
