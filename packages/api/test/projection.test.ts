import type { Kind, Resource } from "@isthmus/core";
import { describe, expect, test } from "vitest";
import {
  agentKinds,
  CiliumEndpoint,
  ConfigMap,
  countedKinds,
  Deployment,
  GATEWAY_API_ROUTES,
  KubernetesGateway,
  Node,
  onDemandKinds,
  PeerAuthentication,
  Pod,
  parseOffline,
  ReplicaSet,
  Secret,
  Service,
  Settings,
} from "../src/index.ts";

function projected<R extends Resource>(kind: Kind<R>, input: object): R {
  const resource = kind.parse({ apiVersion: kind.apiVersion, kind: kind.kind, ...input });
  return kind.project?.(resource) ?? resource;
}

const metadata = {
  name: "a",
  namespace: "b",
  clusterName: "c",
  labels: { app: "x" },
  annotations: { "kubectl.kubernetes.io/last-applied-configuration": "SECRET", note: "kept" },
  managedFields: [{ manager: "SECRET" }],
};
const COUNTED = [
  "EnvoyFilter",
  "RequestAuthentication",
  "Telemetry",
  "WasmPlugin",
  "WorkloadEntry",
  "WorkloadGroup",
  "ProxyConfig",
  "ServiceExport",
  "ServiceImport",
];
const container = { name: "app", image: "app:1", env: [{ name: "PASSWORD", value: "SECRET" }], command: ["SECRET"] };

describe("what leaves a cluster", () => {
  test("of a Pod: who may scrape it, where it asks for it, and whether it has the network of its node", () => {
    const annotations = { "prometheus.io/scrape": "true", "prometheus.io/port": "15020", "prometheus.io/path": "/stats" };
    const asks = projected(Pod, { metadata: { ...metadata, annotations }, spec: { hostNetwork: true, hostPID: true } });
    expect(asks.metadata.annotations).toEqual({ "prometheus.io/scrape": "true", "prometheus.io/port": "15020" });
    expect(asks.spec).toEqual({ hostNetwork: true });
    const asksNot = { ...annotations, "prometheus.io/scrape": "false" };
    const other = projected(Pod, { metadata: { ...metadata, annotations: asksNot }, spec: { hostNetwork: false } });
    expect([other.metadata.annotations, other.spec]).toEqual([undefined, {}]);
  });

  test("of a controller: of how many pods are ready, only whether it is none", () => {
    const status = (given: object) => (projected(Deployment, { metadata, status: given }) as { readonly status?: object }).status;
    expect(
      status({ observedGeneration: 1, replicas: 3, unavailableReplicas: 3, conditions: [{ type: "Available", status: "False" }] }),
    ).toEqual({});
    expect(status({ readyReplicas: 0 })).toEqual({});
    expect([status({ replicas: 3, readyReplicas: 1 }), status({ numberReady: 2 })]).toEqual([undefined, undefined]);
    expect(projected(Deployment, { metadata })).not.toHaveProperty("status");
  });

  test("of a Pod: who it is, whose it is, where it runs, its images", () => {
    const pod = projected(Pod, {
      metadata: {
        ...metadata,
        annotations: { ...metadata.annotations, "istio.io/rev": "canary" },
        ownerReferences: [
          { apiVersion: "apps/v1", kind: "ReplicaSet", name: "a-1", uid: "u", controller: true },
          { apiVersion: "v1", kind: "Other", name: "o", uid: "u" },
        ],
      },
      spec: {
        nodeName: "n",
        serviceAccountName: "s",
        containers: [container],
        initContainers: [{ ...container, restartPolicy: "Always" }],
        volumes: [{ secret: { secretName: "SECRET" } }],
      },
      status: {
        phase: "Running",
        podIP: "10.0.0.1",
        conditions: [
          { type: "Ready", status: "True", lastTransitionTime: "2026-01-01T00:00:00Z" },
          { type: "PodScheduled", status: "True" },
        ],
        containerStatuses: [{ name: "app" }],
      },
    });
    expect(pod).toEqual({
      apiVersion: "v1",
      kind: "Pod",
      metadata: {
        name: "a",
        namespace: "b",
        clusterName: "c",
        labels: { app: "x" },
        annotations: { "istio.io/rev": "canary" },
        ownerReferences: [{ apiVersion: "apps/v1", kind: "ReplicaSet", name: "a-1", uid: "u", controller: true }],
      },
      spec: {
        nodeName: "n",
        serviceAccountName: "s",
        containers: [{ name: "app", image: "app:1" }],
        initContainers: [{ name: "app", image: "app:1", restartPolicy: "Always" }],
      },
    });
  });

  test("a pod's status does not: that it becomes ready is no change of it", () => {
    const spec = { nodeName: "n", containers: [] };
    const withReady = (status: string) => projected(Pod, { metadata, spec, status: { conditions: [{ type: "Ready", status }] } });
    expect(withReady("True")).toEqual(withReady("False"));
  });

  test("of a Deployment: its selector and template, without environments, commands and status", () => {
    const spec = {
      selector: { matchLabels: { app: "x" } },
      template: { metadata: { labels: { app: "x" } }, spec: { containers: [container] } },
    };
    expect(projected(Deployment, { metadata, spec, status: { readyReplicas: 1 } })).toEqual({
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "a", namespace: "b", clusterName: "c", labels: { app: "x" }, annotations: { note: "kept" } },
      spec: { ...spec, template: { ...spec.template, spec: { containers: [{ name: "app", image: "app:1" }] } } },
    });
  });

  test("of a Pod in an App Mesh: the variable that names its mesh, and no other", () => {
    const env = [...container.env, { name: "APPMESH_VIRTUAL_NODE_NAME", value: "mesh/m/virtualNode/n" }, { name: "TOKEN", valueFrom: {} }];
    const { spec } = projected(Pod, { metadata, spec: { containers: [{ ...container, env }] } });
    expect(spec?.containers).toEqual([
      { name: "app", image: "app:1", env: [{ name: "APPMESH_VIRTUAL_NODE_NAME", value: "mesh/m/virtualNode/n" }] },
    ]);
  });

  test("of istiod: what it calls its cluster, whose callers it takes, and no other variable; of other containers not even that", () => {
    const ofIstiod = [
      { name: "CLUSTER_ID", value: "east" },
      { name: "PILOT_SKIP_VALIDATE_TRUST_DOMAIN", value: "true" },
    ];
    const env = [...container.env, ...ofIstiod];
    const containers = [
      { ...container, name: "discovery", env },
      { ...container, env },
    ];
    const long = [{ name: "discovery", env: [{ name: "CLUSTER_ID", value: "x".repeat(254) }] }];
    const specOf = (template: object) => projected(Deployment, { metadata, spec: { template: { spec: template } } }).spec?.template?.spec;
    expect(specOf({ containers })?.containers).toEqual([
      { name: "discovery", image: "app:1", env: ofIstiod },
      { name: "app", image: "app:1" },
    ]);
    expect(specOf({ containers: long })?.containers).toEqual([{ name: "discovery" }]);
  });

  test("of a ReplicaSet: its metadata, and the template of one that no Deployment made", () => {
    const spec = { replicas: 2, template: { metadata: { labels: { app: "x" } }, spec: { containers: [container] } } };
    const of = (kind: string) => ({ ...metadata, ownerReferences: [{ apiVersion: "x/v1", kind, name: "a", controller: true }] });
    const { annotations: _, ...left } = projected(ReplicaSet, { metadata: of("Deployment"), spec }).metadata;
    expect(projected(ReplicaSet, { metadata: of("Deployment"), spec })).toEqual({
      apiVersion: "apps/v1",
      kind: "ReplicaSet",
      metadata: left,
    });
    expect(left).toEqual({
      name: "a",
      namespace: "b",
      clusterName: "c",
      labels: { app: "x" },
      ownerReferences: of("Deployment").ownerReferences,
    });
    expect(projected(ReplicaSet, { metadata: of("Rollout"), spec }).spec).toEqual({
      template: { ...spec.template, spec: { containers: [{ name: "app", image: "app:1" }] } },
    });
  });

  test("of a Node: labels and addresses, and of its images those that mark kind", () => {
    const status = {
      addresses: [{ type: "InternalIP", address: "10.0.0.1" }],
      images: [{ names: ["a:1", "docker.io/kindest/kindnetd:1"] }, { names: ["b:1"] }],
      conditions: [{ type: "Ready", status: "True", lastHeartbeatTime: "2026-01-01T00:00:00Z" }],
    };
    expect(projected(Node, { metadata: { name: "n", labels: { zone: "z" } }, status })).toEqual({
      apiVersion: "v1",
      kind: "Node",
      metadata: { name: "n", labels: { zone: "z" } },
      status: { addresses: status.addresses, images: [{ names: ["docker.io/kindest/kindnetd:1"] }] },
    });
  });

  test("of ConfigMaps: Istio's mesh configurations alone", () => {
    const data = { mesh: "trustDomain: x", other: "SECRET" };
    const named = (name: string) => projected(ConfigMap, { metadata: { name, namespace: "b" }, data }).data;
    expect(named("istio")).toEqual({ mesh: "trustDomain: x" });
    expect(named("istio-canary")).toEqual({ mesh: "trustDomain: x" });
    expect(named("istiology")).toBeUndefined();
    expect(named("app-settings")).toBeUndefined();
  });

  test("of a Service: all but field managers and the copy that kubectl keeps", () => {
    const spec = { type: "ClusterIP", selector: { app: "x" }, ports: [{ port: 80 }] };
    expect(projected(Service, { metadata, spec })).toEqual({
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "a", namespace: "b", clusterName: "c", labels: { app: "x" }, annotations: { note: "kept" } },
      spec,
    });
  });

  test("of a CiliumEndpoint: its pod, identity, addresses and health, and nothing of what each regeneration changes", () => {
    const kept = {
      identity: { id: 4711, labels: ["k8s:app=x"] },
      networking: { addressing: [{ ipv4: "10.0.0.1", ipv6: "fd00::1" }], node: "172.18.0.2" },
      "named-ports": [{ name: "http", port: 8080, protocol: "TCP" }],
      state: "ready",
      policy: { ingress: { enforcing: true } },
      "service-account": "x",
    };
    const owner = { apiVersion: "v1", kind: "Pod", name: "a", uid: "u", blockOwnerDeletion: true };
    const input = {
      metadata: { ...metadata, generation: 7, resourceVersion: "9", labels: { app: "x" }, ownerReferences: [owner] },
      status: {
        ...kept,
        id: 12,
        log: [{ code: "OK", message: "regenerated" }],
        encryption: {},
        "external-identifiers": { "container-id": "c" },
        "visibility-policy-status": "<status disabled>",
        policy: { ingress: { enforcing: true, allowed: [{ identity: 1 }], state: "enforcing" }, egress: { allowed: [{ identity: 2 }] } },
      },
    };
    const { ownerReferences, ...named } = projected(CiliumEndpoint, input).metadata;
    expect(named).toEqual({ name: "a", namespace: "b", clusterName: "c" });
    expect(ownerReferences).toEqual([{ apiVersion: "v1", kind: "Pod", name: "a" }]);
    expect(projected(CiliumEndpoint, input).status).toEqual(kept);
    expect(projected(CiliumEndpoint, { metadata, status: {} })).not.toHaveProperty("metadata.ownerReferences");
  });

  test("of what users wrote for Istio and is only read: the fields that rules read, whose it is, and how old", () => {
    const { mtls, portLevelMtls } = { mtls: { mode: "STRICT" }, portLevelMtls: { 8080: { mode: "DISABLE" } } };
    const given = { ...metadata, uid: "u", generation: 7, resourceVersion: "9", creationTimestamp: "2026-01-01T00:00:00Z" };
    const own = { mode: "STRICT", token: "SECRET" };
    const read = projected(PeerAuthentication, {
      metadata: given,
      spec: {
        selector: { matchLabels: { app: "x" }, more: "SECRET" },
        mtls: own,
        portLevelMtls: { 8080: { mode: "DISABLE", token: "SECRET" } },
      },
      status: { conditions: [{ type: "SECRET" }] },
    });
    const { apiVersion, kind } = PeerAuthentication;
    const { name, namespace, clusterName, labels, creationTimestamp } = given;
    expect(read).toEqual({
      apiVersion,
      kind,
      metadata: { name, namespace, clusterName, labels, creationTimestamp },
      spec: { selector: { matchLabels: { app: "x" } }, mtls, portLevelMtls },
    });
  });

  test("of routes of the Gateway API: their parents and backends, and not what they do to requests", () => {
    const backendRef = { name: "reviews", port: 9080 };
    const parentRefs = [{ group: "", kind: "Service", name: "reviews", port: 9080 }];
    const rules = [
      {
        matches: [{ headers: [{ name: "authorization", value: "SECRET" }] }],
        filters: [
          { type: "RequestHeaderModifier", requestHeaderModifier: { set: [{ name: "authorization", value: "SECRET" }] } },
          { type: "RequestMirror", requestMirror: { backendRef, percent: 5 } },
        ],
        backendRefs: [{ ...backendRef, weight: 1, filters: [{ requestHeaderModifier: { set: [{ name: "x", value: "SECRET" }] } }] }],
      },
    ];
    const read = { parentRefs, rules: [{ filters: [{}, { requestMirror: { backendRef } }], backendRefs: [{ ...backendRef, weight: 1 }] }] };
    for (const kind of GATEWAY_API_ROUTES)
      expect(
        projected(kind, { metadata, spec: { parentRefs, rules, extra: "SECRET" }, status: { parents: [{ message: "SECRET" }] } }).spec,
      ).toEqual(read);
    const listeners = [{ name: "https", port: 443, protocol: "HTTPS", hostname: "a.example" }];
    const tls = { certificateRefs: [{ name: "SECRET" }], options: { key: "SECRET" } };
    expect(projected(KubernetesGateway, { metadata, spec: { listeners: [{ ...listeners[0], tls }] } }).spec).toEqual({ listeners });
  });

  test("of what users wrote and no rule reads: that it is there", () => {
    const secrets = {
      configPatches: [{ patch: { value: { token: "SECRET" } } }],
      pluginConfig: { token: "SECRET" },
      jwtRules: [{ jwks: "SECRET", fromHeaders: [{ name: "SECRET" }] }],
      address: "SECRET",
    };
    const kinds = countedKinds().filter(({ kind }) => COUNTED.includes(kind));
    expect(kinds.map(({ kind }) => kind)).toEqual(COUNTED);
    for (const kind of kinds) {
      const resource = kind.parse({ apiVersion: kind.apiVersion, kind: kind.kind, metadata, spec: secrets, status: secrets });
      const { name, namespace, clusterName, labels } = metadata;
      const sent = (kind.reportedForm ?? kind.project)?.(resource);
      expect(sent).toEqual({ apiVersion: kind.apiVersion, kind: kind.kind, metadata: { name, namespace, clusterName, labels } });
    }
  });

  test("is settled: what was projected once is not changed by projecting it again", () => {
    for (const kind of [...agentKinds(), ...onDemandKinds()]) {
      const resource = kind.parse({ apiVersion: kind.apiVersion, kind: kind.kind, metadata });
      const once = kind.project?.(resource) ?? resource;
      expect(kind.project?.(once) ?? once).toEqual(once);
    }
  });
});

test("offline, discovered objects bear the copy that kubectl keeps, as nothing leaves a cluster; others don't", () => {
  const read = (kind: Kind) =>
    parseOffline(kind, { apiVersion: kind.apiVersion, kind: kind.kind, metadata, spec: {} }).metadata.annotations;
  expect(read(Service)).toEqual(metadata.annotations);
  expect(read(Deployment)).toEqual(metadata.annotations);
  expect(read(Pod)).toBeUndefined();
  expect(read(Settings)).toEqual(metadata.annotations);
});

test("of a Secret of the management cluster, translation sees which keys it holds, and public certificates", () => {
  const secret = projected(Secret, {
    metadata,
    type: "t",
    data: { "root-cert.pem": "Y2VydA==", "key.pem": "c2VjcmV0", token: "c2VjcmV0" },
  });
  expect(secret.data).toEqual({ "root-cert.pem": "Y2VydA==", "key.pem": "", token: "" });
});

test.each(["apiVersion", "kind", "name"] as const)("an owner without %s is no owner that any API server takes", (missing) => {
  const owner = { apiVersion: "apps/v1", kind: "ReplicaSet", name: "a-1", controller: true, [missing]: undefined };
  const input = { apiVersion: "v1", kind: "Pod", metadata: { name: "a", namespace: "shop", ownerReferences: [owner] }, spec: {} };
  expect(() => Pod.parse(JSON.parse(JSON.stringify(input)))).toThrow(`Pod shop/a: metadata.ownerReferences[0].${missing}: is required`);
});
