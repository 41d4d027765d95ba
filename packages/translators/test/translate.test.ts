import { Mesh } from "@isthmus/api";
import { snapshotOf } from "@isthmus/core";
import { readInput, soundTranslation } from "@isthmus/testing";
import { expect, test } from "vitest";
import type { TranslateOptions, Translation } from "../src/index.ts";

const KUBERNETES = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: istiod, namespace: istio-system, clusterName: a}
spec:
  selector: {matchLabels: {app: istiod}}
  template:
    metadata: {labels: {app: istiod}}
    spec: {containers: [{name: discovery, image: 'istio/pilot:1.27.0'}]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: istio, namespace: istio-system, clusterName: a}
data: {mesh: 'trustDomain: a'}
---
apiVersion: v1
kind: Service
metadata: {name: cart, namespace: shop, clusterName: a, annotations: {discovery.mesh.gloo.solo.io/enabled: 'true'}}
spec: {selector: {app: cart}, ports: [{name: http, port: 80}]}
---
apiVersion: networking.mesh.gloo.solo.io/v1
kind: TrafficPolicy
metadata: {name: slow, namespace: shop}
spec: {policy: {requestTimeout: 1s}}
`;

function world(text: string, stage: TranslateOptions["stage"], previous?: Translation): Translation {
  return soundTranslation(snapshotOf(readInput(text).resources), { namespace: "gloo-mesh", stage }, previous);
}

function names(outputs: Translation["discovery"]): readonly string[] {
  return [...outputs].map(({ resource }) => `${resource.kind} ${resource.metadata.name}`);
}

test("all: discovers, then translates what it discovered", () => {
  const { discovery, networking } = world(KUBERNETES, "all");
  expect(names(discovery)).toEqual(["Destination cart-shop-a", "Mesh istiod-istio-system-a"]);
  expect(names(networking)).toEqual(["VirtualService cart"]);
});

test("discovery: only that", () => {
  const { discovery, networking, reports } = world(KUBERNETES, "discovery");
  expect(names(discovery)).toHaveLength(2);
  expect(names(networking)).toEqual([]);
  expect(reports).toEqual([]);
});

test("networking: Kubernetes objects mean nothing", () => {
  const { discovery, networking } = world(KUBERNETES, "networking");
  expect(names(discovery)).toEqual([]);
  expect(names(networking)).toEqual([]);
});

test("discovered objects that are given win over those that could be derived", () => {
  const given = `
apiVersion: discovery.mesh.gloo.solo.io/v1
kind: Destination
metadata: {name: cart-shop-a, namespace: gloo-mesh}
spec:
  kubeService:
    ref: {name: cart, namespace: shop, clusterName: a}
    ports: [{port: 8080, name: http, protocol: TCP}]
  mesh: {name: istiod-istio-system-a, namespace: gloo-mesh}
`;
  const { discovery, networking } = world(`${KUBERNETES}---${given}`, "all");
  expect(names(discovery)).toEqual(["Mesh istiod-istio-system-a"]);
  const service = [...networking].find(({ resource }) => resource.kind === "VirtualService");
  expect(JSON.stringify(service)).toContain('"number":8080');
});

test("what did not change keeps its identity", () => {
  const first = world(KUBERNETES, "all");
  const again = soundTranslation(first.inputs.apply({ put: [], remove: [] }), { namespace: "gloo-mesh", stage: "all" }, first);
  const before = new Map([...first.networking].map(({ resource }) => [resource.metadata.name + resource.kind, resource]));
  for (const { resource } of again.networking) expect(resource).toBe(before.get(resource.metadata.name + resource.kind));
});

test("that the agent of a mesh was seen is no news for the mesh's services", () => {
  const first = world(KUBERNETES, "all");
  const mesh = first.inputs.of(Mesh).get({ name: "istiod-istio-system-a", namespace: "gloo-mesh", clusterName: "" });
  expect(mesh).toBeDefined();
  const seen = { ...mesh, spec: { ...mesh?.spec, agentInfo: { agentNamespace: "elsewhere" } } } as Mesh;
  const next = soundTranslation(first.cache.given.apply({ put: [seen], remove: [] }), { namespace: "gloo-mesh", stage: "all" }, first);
  expect(next.inputs.of(Mesh).get({ name: "istiod-istio-system-a", namespace: "gloo-mesh", clusterName: "" })).toBe(seen);
  const key = "discovery.mesh.gloo.solo.io/Destination|cart-shop-a.gloo-mesh.";
  expect(next.cache.targets.row(key)).toBeDefined();
  expect(next.cache.targets.row(key)).toBe(first.cache.targets.row(key));
});
