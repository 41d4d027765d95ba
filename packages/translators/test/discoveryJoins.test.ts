import { type AnyResource, refOf, snapshotOf } from "@isthmus/core";
import { expect, test } from "vitest";
import { type DiscoveryTranslation, translateDiscovery } from "../src/discovery/discovery.ts";
import { LastKnownMesh } from "../src/policy/lastKnownMesh.ts";

const OPTIONS = { namespace: "gloo-mesh" };
const clusterName = "east";

function object(apiVersion: string, kind: string, place: string, rest: object = {}): AnyResource {
  const [namespace = "", name = ""] = place.split("/");
  const { metadata = {}, ...body } = rest as { readonly metadata?: object };
  return { apiVersion, kind, metadata: { name, ...(namespace === "" ? {} : { namespace }), clusterName, ...metadata }, ...body };
}

const owned = (kind: string, name: string) => ({ ownerReferences: [{ apiVersion: "apps/v1", kind, name, controller: true }] });
const sidecar = { name: "istio-proxy", image: "istio/proxyv2:1" };

const config = object("v1", "ConfigMap", "istio-system/istio", { data: { mesh: "trustDomain: td\n" } });
const node = object("v1", "Node", "/n1", {
  metadata: { labels: { "topology.kubernetes.io/region": "r1", "topology.kubernetes.io/zone": "z1" } },
  status: { addresses: [{ type: "ExternalIP", address: "34.0.0.1" }] },
});
const otherNode = object("v1", "Node", "/n2", { status: { addresses: [{ type: "ExternalIP", address: "34.0.0.2" }] } });
const replicaSet = object("apps/v1", "ReplicaSet", "c/a-1", { metadata: owned("Deployment", "a") });
const pod = object("v1", "Pod", "c/a-1-x", {
  metadata: { labels: { app: "a" }, ...owned("ReplicaSet", "a-1") },
  spec: { nodeName: "n1", containers: [sidecar] },
});
const podOfSet = object("v1", "Pod", "c/s-0", {
  metadata: { labels: { app: "s" }, ...owned("StatefulSet", "s") },
  spec: { nodeName: "n1", containers: [sidecar] },
});
const endpoints = object("v1", "Endpoints", "c/a", {
  subsets: [{ addresses: [{ ip: "10.0.0.1", nodeName: "n1" }], ports: [{ port: 80 }] }],
});
const slice = object("discovery.k8s.io/v1", "EndpointSlice", "c/s-x", {
  metadata: { labels: { "kubernetes.io/service-name": "s" } },
  addressType: "IPv4",
  ports: [{ port: 80 }],
  endpoints: [{ addresses: ["10.0.0.9"] }],
});
const namespace = object("v1", "Namespace", "/c", { metadata: { labels: { mesh: "on" } } });
const gateway = object("v1", "Service", "istio-system/gateway", {
  spec: {
    type: "NodePort",
    selector: { istio: "ingressgateway" },
    ports: [{ name: "tls", port: 15443, targetPort: 15443, nodePort: 31000 }],
  },
});
const gatewayPod = object("v1", "Pod", "istio-system/gateway-x", {
  metadata: { labels: { istio: "ingressgateway" } },
  spec: { nodeName: "n1" },
});
const agentPod = object("v1", "Pod", "gloo-mesh/agent-x", { metadata: { labels: { app: "gloo-mesh-agent" } } });
const registration = object("multicluster.solo.io/v1alpha1", "KubernetesCluster", "gloo-mesh/east", {
  metadata: { clusterName: "" },
  status: { agent: { version: "1" }, namespace: "agents" },
});
const appMesh = object("appmesh.k8s.aws/v1beta2", "Mesh", "/m", { status: { meshARN: "arn:aws:appmesh:r:1:mesh/m" } });
const lastKnown: AnyResource = {
  ...object(LastKnownMesh.apiVersion, LastKnownMesh.kind, "gloo-mesh/istiod-istio-system-east", { metadata: { clusterName: "" } }),
  ...{ cluster: "east", trustDomain: "last", trustDomainAliases: [], smartDnsProxyingEnabled: false },
};
const settings = object("settings.mesh.gloo.solo.io/v1", "Settings", "gloo-mesh/settings", {
  metadata: { clusterName: "" },
  spec: { discovery: { selectors: [{ matchLabels: { mesh: "on" } }] } },
});
const annotated = object("v1", "Service", "c/annotated", {
  metadata: { annotations: { "discovery.mesh.gloo.solo.io/enabled": "true" } },
  spec: { ports: [{ port: 80 }] },
});

const deployment = (place: string, image: string, labels: object) =>
  object("apps/v1", "Deployment", place, { spec: { template: { metadata: { labels }, spec: { containers: [{ name: "x", image }] } } } });
const controlPlane = deployment("istio-system/istiod", "istio/pilot:1.27.0", { app: "istiod" });
const nodePort = (name: string) =>
  object("v1", "Service", `c/${name}`, { spec: { type: "NodePort", selector: { app: name }, ports: [{ port: 80 }] } });

const canary = object("apps/v1", "Deployment", "istio-system/istiod-next", {
  spec: {
    selector: { matchLabels: { "istio.io/rev": "next" } },
    template: { metadata: { labels: { "istio.io/rev": "next" } }, spec: { containers: [{ name: "x", image: "istio/pilot:1.28.0" }] } },
  },
});
const taggedNamespace = object("v1", "Namespace", "/c", { metadata: { labels: { mesh: "on", "istio.io/rev": "stable" } } });
const tagFor = (revision: string) =>
  object("v1", "Service", "istio-system/tag", { metadata: { labels: { "istio.io/tag": "stable", "istio.io/rev": revision } } });
const podOfCanary = object("v1", "Pod", "c/a-1-w", {
  metadata: { labels: { app: "a" }, annotations: { "istio.io/rev": "next" }, ...owned("ReplicaSet", "a-1") },
  spec: { nodeName: "n1", containers: [sidecar] },
});
const virtualMesh = (planes: readonly string[]) =>
  object("networking.mesh.gloo.solo.io/v1", "VirtualMesh", "gloo-mesh/all", {
    metadata: { clusterName: "" },
    spec: { meshes: planes.map((name) => ({ name: `${name}-istio-system-east`, namespace: "gloo-mesh" })) },
  });

const webhook = (home: string) =>
  object("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration", "/istio-sidecar-injector", {
    webhooks: [{ name: "rev.sidecar-injector.istio.io", clientConfig: { service: { namespace: home, name: "istiod" } } }],
  });
const validator = object("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "/istio-validator", {
  webhooks: [{ name: "rev.validation.istio.io", clientConfig: { service: { namespace: "mesh", name: "istiod" } } }],
});
const strange = deployment("mesh/istiod", "istio/pilot:1.27.0", { app: "istiod" });
const strangeConfig = object("v1", "ConfigMap", "mesh/istio", { data: { mesh: "trustDomain: td\n" } });
const cilium = (place: string) =>
  object("apps/v1", "DaemonSet", place, {
    spec: { template: { metadata: { labels: { "k8s-app": "cilium" } }, spec: { containers: [] } } },
  });
const ofStrange: AnyResource = {
  ...object(LastKnownMesh.apiVersion, LastKnownMesh.kind, "gloo-mesh/istiod-mesh-east", { metadata: { clusterName: "" } }),
  ...{ cluster: "east", home: "mesh", ciliumNamespace: "", trustDomain: "td", trustDomainAliases: [], smartDnsProxyingEnabled: false },
};

/** As it is published of the control plane. */
const wholeMesh: AnyResource = {
  ...lastKnown,
  ...{ home: "istio-system", ciliumNamespace: "kube-system" },
  spec: {
    istio: {
      installation: { namespace: "istio-system", cluster: "east", version: "1.27.0", podLabels: { app: "istiod" } },
      trustDomain: "td",
    },
    cilium: { namespace: "kube-system", version: "1.18.0" },
  },
};
const accessPolicy = object("networking.mesh.gloo.solo.io/v1", "AccessPolicy", "c/callers", { metadata: { clusterName: "" }, spec: {} });
const confirmed = (...removed: readonly string[]) => ({
  ...registration,
  spec: { removed },
});
const bareSet = object("apps/v1", "ReplicaSet", "c/bare", { metadata: { labels: { app: "bare" } } });
const podOfBareSet = object("v1", "Pod", "c/bare-x", {
  metadata: { labels: { app: "bare" }, ...owned("ReplicaSet", "bare") },
  spec: { nodeName: "n1", containers: [sidecar] },
});

const FLEET: readonly AnyResource[] = [
  ...[controlPlane, config, node, otherNode, replicaSet, pod, podOfSet, endpoints, slice, namespace, gateway, gatewayPod, agentPod],
  ...[registration, appMesh, settings, annotated, nodePort("a"), nodePort("s"), deployment("c/a", "app:1", { app: "a" })],
  object("apps/v1", "StatefulSet", "c/s", { spec: { template: { metadata: { labels: { app: "s" } }, spec: { containers: [] } } } }),
];

function changed(original: AnyResource, change: object): AnyResource {
  const { metadata, ...rest } = change as { readonly metadata?: object };
  return { ...original, ...rest, metadata: { ...original.metadata, ...metadata } };
}

interface Case {
  readonly put?: readonly AnyResource[];
  readonly remove?: readonly AnyResource[];
  /** Beside the fleet. */
  readonly also?: readonly AnyResource[];
  readonly without?: readonly AnyResource[];
}

/** Each input of discovery, changed alone, where something that is discovered follows from it. */
const CASES: Readonly<Record<string, Case>> = {
  "the trust domain of a mesh config": { put: [changed(config, { data: { mesh: "trustDomain: other\n" } })] },
  "the discovery selectors of a mesh config": {
    put: [changed(config, { data: { mesh: "trustDomain: td\ndiscoverySelectors: [{matchLabels: {mesh: never}}]\n" } })],
  },
  "a mesh config that goes": { remove: [config] },
  "the labels of a namespace": { put: [changed(namespace, { metadata: { labels: { mesh: "off" } } })] },
  "a namespace that goes": { remove: [namespace] },
  "the selectors of the Settings": {
    put: [changed(settings, { spec: { discovery: { selectors: [{ matchLabels: { mesh: "never" } }] } } })],
  },
  "the gateway labels of the Settings": {
    put: [
      changed(settings, {
        spec: {
          discovery: {
            selectors: [{ matchLabels: { mesh: "on" } }],
            istio: { ingressGatewayDetectors: { "*": { gatewayWorkloadLabels: { x: "y" } } } },
          },
        },
      }),
    ],
  },
  "the region of a node": { put: [changed(node, { metadata: { labels: { "topology.kubernetes.io/region": "r2" } } })] },
  "the address of a node": { put: [changed(node, { status: { addresses: [{ type: "ExternalIP", address: "34.0.0.3" }] } })] },
  "a node that goes": { remove: [node] },
  "a ReplicaSet that goes": { remove: [replicaSet] },
  "a ReplicaSet and its pod that go": { remove: [replicaSet, pod] },
  "a ReplicaSet that comes": { also: [], without: [replicaSet], put: [replicaSet] },
  "the sidecar of a pod": { put: [changed(pod, { spec: { nodeName: "n1", containers: [] } })] },
  "the sidecar of a StatefulSet's pod": { put: [changed(podOfSet, { spec: { nodeName: "n1", containers: [] } })] },
  "the node of a pod": { put: [changed(pod, { spec: { nodeName: "n2", containers: [sidecar] } })] },
  "the labels of a pod": { put: [changed(pod, { metadata: { labels: { app: "none" } } })] },
  "the service account of a pod": {
    without: [slice],
    also: [changed(slice, { endpoints: [{ addresses: ["10.0.0.9"], targetRef: { kind: "Pod", name: "s-0", namespace: "c" } }] })],
    put: [changed(podOfSet, { spec: { nodeName: "n1", serviceAccountName: "other", containers: [sidecar] } })],
  },
  "the trust domain of another control plane": {
    also: [canary, object("v1", "ConfigMap", "istio-system/istio-next", { data: { mesh: "trustDomain: td\n" } })],
    put: [object("v1", "ConfigMap", "istio-system/istio-next", { data: { mesh: "trustDomain: next\n" } })],
  },
  Endpoints: { put: [changed(endpoints, { subsets: [{ addresses: [{ ip: "10.0.0.2" }], ports: [{ port: 80 }] }] })] },
  "an EndpointSlice": { put: [changed(slice, { endpoints: [{ addresses: ["10.0.0.8"] }] })] },
  "an EndpointSlice of another Service": { put: [changed(slice, { metadata: { labels: { "kubernetes.io/service-name": "a" } } })] },
  "the gateway's Service": { remove: [gateway] },
  "the node of a gateway's pod": { put: [changed(gatewayPod, { spec: { nodeName: "n2" } })] },
  "the agent's pod, where none has registered": { without: [registration], remove: [agentPod] },
  "where an agent registered": {
    without: [agentPod],
    put: [changed(registration, { status: { agent: { version: "1" }, namespace: "elsewhere" } })],
  },
  "what was last known of a mesh": {
    without: [config],
    also: [changed(config, { data: { mesh: "trustDomain: [\n" } }), lastKnown],
    put: [{ ...lastKnown, trustDomain: "later" } as AnyResource],
  },
  "a webhook that comes": { also: [strange, strangeConfig], put: [webhook("istio-system")] },
  "the namespace that a webhook names": { also: [strange, strangeConfig, webhook("istio-system")], put: [webhook("mesh")] },
  "a webhook that goes": { also: [strange, strangeConfig, webhook("istio-system")], remove: [webhook("istio-system")] },
  "a validator that comes": { also: [strange, strangeConfig, webhook("istio-system")], put: [validator] },
  "the namespaces that a registration names": {
    also: [strange, strangeConfig, webhook("istio-system")],
    put: [changed(registration, { spec: { systemNamespaces: ["mesh"] } })],
  },
  "the namespace of a control plane that was known": {
    // What nothing vouches for, it was there before all that is: neither is any older, and its name comes first.
    without: [controlPlane],
    also: [strange, strangeConfig, webhook("istio-system"), ofStrange],
    put: [{ ...ofStrange, home: "elsewhere" } as AnyResource],
  },
  "where Cilium was": {
    also: [cilium("c/cilium"), webhook("istio-system"), { ...lastKnown, home: "istio-system", ciliumNamespace: "" } as AnyResource],
    put: [{ ...lastKnown, home: "istio-system", ciliumNamespace: "c" } as AnyResource],
  },
  "the mesh of an annotated Service": { remove: [controlPlane] },
  "the injection of a namespace whose controllers have no pods": {
    without: [pod],
    put: [changed(namespace, { metadata: { labels: { mesh: "on", "istio-injection": "enabled" } } })],
  },
  "the revision that a tag stands for, without pods": {
    without: [pod, namespace],
    also: [canary, taggedNamespace, tagFor("default")],
    put: [tagFor("next")],
  },
  "a VirtualMesh that names the older revision": { also: [canary, podOfCanary], put: [virtualMesh(["istiod"])] },
  "a VirtualMesh that names both revisions": {
    also: [canary, podOfCanary, virtualMesh(["istiod"])],
    put: [virtualMesh(["istiod", "istiod-next"])],
  },
  "the control plane of a ReplicaSet that nothing made": {
    also: [bareSet, podOfBareSet],
    remove: [controlPlane],
  },
  "the revision of a ReplicaSet that nothing made": {
    also: [bareSet, changed(podOfBareSet, { metadata: { annotations: { "istio.io/rev": "next" } } }), canary],
    put: [virtualMesh(["istiod"])],
  },
  "a control plane that goes while a VirtualMesh relies on it": {
    also: [wholeMesh, virtualMesh(["istiod"])],
    remove: [controlPlane],
  },
  "a control plane that comes back": { without: [controlPlane], also: [wholeMesh, accessPolicy], put: [controlPlane] },
  "a control plane that is confirmed to be gone": {
    without: [controlPlane],
    also: [wholeMesh, accessPolicy],
    put: [confirmed("istio-system/istiod")],
  },
  "the first AccessPolicy, where a control plane is gone": { without: [controlPlane], also: [wholeMesh], put: [accessPolicy] },
  "the last AccessPolicy, where a control plane is gone": {
    without: [controlPlane],
    also: [wholeMesh, accessPolicy],
    remove: [accessPolicy],
  },
  "a VirtualMesh that goes, where a control plane is gone": {
    without: [controlPlane],
    also: [wholeMesh, virtualMesh(["istiod"])],
    remove: [virtualMesh(["istiod"])],
  },
  "a registration that goes, where a control plane is gone": {
    without: [controlPlane, agentPod],
    also: [wholeMesh, accessPolicy],
    remove: [registration],
  },
  "the first namespace that is read, where a control plane is gone": {
    without: [controlPlane, namespace],
    also: [wholeMesh, accessPolicy],
    put: [namespace],
  },
  "another control plane, where one is gone": {
    without: [controlPlane],
    also: [wholeMesh, accessPolicy, webhook("istio-system")],
    put: [canary],
  },
  "a webhook that vouches for another control plane, where one is gone": {
    without: [controlPlane],
    also: [wholeMesh, accessPolicy, strange, strangeConfig, webhook("istio-system")],
    put: [validator],
  },
  "what is remembered of a control plane that is gone": {
    without: [controlPlane],
    also: [wholeMesh, accessPolicy],
    put: [
      {
        ...wholeMesh,
        spec: { istio: { ...(wholeMesh["spec"] as { readonly istio: object }).istio, trustDomain: "later" } },
      } as AnyResource,
    ],
  },
  "Cilium that comes back": { also: [wholeMesh, accessPolicy], put: [cilium("c/cilium")] },
  "Cilium that is confirmed to be gone": { also: [wholeMesh, accessPolicy], put: [confirmed("kube-system/cilium")] },
  "the first AccessPolicy, where Cilium is gone": { also: [wholeMesh], put: [accessPolicy] },
  "the VirtualMesh, where Cilium is gone": { also: [wholeMesh, virtualMesh(["istiod"])], remove: [virtualMesh(["istiod"])] },
  "an App Mesh that goes": { remove: [appMesh] },
  "the ARN of an App Mesh": { put: [changed(appMesh, { status: { meshARN: "arn:aws:appmesh:r:1:mesh/n" } })] },
  "an App Mesh in another cluster": { put: [changed(appMesh, { metadata: { clusterName: "west" } })] },
};

function seen({ outputs, reports }: DiscoveryTranslation) {
  return { outputs: [...outputs], reports };
}

test.each(Object.entries(CASES))("discovery follows %s", (_, { put = [], remove = [], also = [], without = [] }) => {
  const start = snapshotOf([...FLEET.filter((one) => !without.includes(one)), ...also]);
  const before = translateDiscovery(start, OPTIONS);
  const now = start.apply({ put, remove: remove.map(refOf) });
  const next = translateDiscovery(now, OPTIONS, before.memory);
  expect(seen(next)).toEqual(seen(translateDiscovery(now, OPTIONS)));
  expect(seen(next)).not.toEqual(seen(before));
});

test("an App Mesh whose ARN is made to look like another row's key takes no mesh away", () => {
  const start = snapshotOf(FLEET);
  const before = translateDiscovery(start, OPTIONS);
  const hostile = changed(appMesh, { metadata: { clusterName: "west" }, status: { meshARN: "apps/Deployment|istiod.istio-system.east" } });
  const next = translateDiscovery(start.apply({ put: [hostile], remove: [] }), OPTIONS, before.memory);
  expect([...next.outputs]).toEqual([...before.outputs]);
  expect(next.reports.map(({ subject, code }) => [subject.clusterName, code])).toContainEqual(["west", "AppMeshArnInvalid"]);
});
