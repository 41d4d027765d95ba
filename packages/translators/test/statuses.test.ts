import { Destination, deliveredKinds } from "@isthmus/api";
import { type JsonObject, keyOf, refOf, snapshotOf } from "@isthmus/core";
import { readInput } from "@isthmus/testing";
import { expect, test } from "vitest";
import { type Delivery, type DeliveryState, statusesOf, translate } from "../src/index.ts";
import { concernedBy } from "../src/networking/concern.ts";

const INPUT = `
apiVersion: discovery.mesh.gloo.solo.io/v1
kind: Mesh
metadata: {name: istiod-a, namespace: gloo-mesh}
spec: {istio: {installation: {namespace: istio-system, cluster: a}, trustDomain: a}}
---
apiVersion: discovery.mesh.gloo.solo.io/v1
kind: Destination
metadata: {name: cart-shop-a, namespace: gloo-mesh}
spec:
  kubeService:
    ref: {name: cart, namespace: shop, clusterName: a}
    workloadSelectorLabels: {app: cart}
    ports: [{port: 80, name: http, protocol: TCP}]
  mesh: {name: istiod-a, namespace: gloo-mesh}
---
apiVersion: networking.mesh.gloo.solo.io/v1
kind: TrafficPolicy
metadata: {name: slow, namespace: shop, generation: 4}
spec: {policy: {requestTimeout: 1s}}
---
apiVersion: networking.mesh.gloo.solo.io/v1
kind: AccessPolicy
metadata: {name: readers, namespace: shop}
spec: {allowedMethods: [GET]}
---
apiVersion: networking.mesh.gloo.solo.io/v1
kind: VirtualMesh
metadata: {name: vm, namespace: gloo-mesh}
spec:
  meshes: [{name: istiod-a, namespace: gloo-mesh}]
  globalAccessPolicy: ENABLED
`;

function statuses(delivery?: Delivery, more = ""): ReadonlyMap<string, JsonObject> {
  const world = translate(snapshotOf(readInput(INPUT + more).resources), { namespace: "gloo-mesh", stage: "networking" });
  return new Map(statusesOf(world, delivery).map(({ ref, status }) => [`${ref.kind} ${ref.name}`, status]));
}

function conditions(status: JsonObject | undefined): Readonly<Record<string, string>> {
  const list = (status?.["conditions"] ?? []) as readonly { type: string; status: string; reason: string }[];
  return Object.fromEntries(list.map((condition) => [condition.type, `${condition.status} ${condition.reason}`]));
}

function delivered(stateOf: (kind: string, key: string) => DeliveryState): Delivery {
  return { stateOf: (ref) => stateOf(ref.kind, keyOf(ref)) };
}

test("without delivery nothing is said of it", () => {
  const status = statuses().get("TrafficPolicy slow");
  expect(status).toMatchObject({ observedGeneration: 4, state: "ACCEPTED", targetCount: 1, acceptedCount: 1 });
  expect(conditions(status)).toEqual({ Accepted: "True Accepted", Translated: "True Translated" });
});

test("what is on its way is pending", () => {
  expect(conditions(statuses(delivered(() => "pending")).get("VirtualMesh vm"))).toEqual({
    Accepted: "True Accepted",
    Translated: "True Translated",
    Delivered: "False Pending",
    Applied: "False Pending",
  });
});

test("what every cluster has is applied", () => {
  for (const name of ["TrafficPolicy slow", "AccessPolicy readers", "VirtualMesh vm"]) {
    expect(conditions(statuses(delivered(() => "applied")).get(name))).toMatchObject({
      Delivered: "True Delivered",
      Applied: "True Applied",
    });
  }
});

test("a refused object is told to the policies behind it, and to no others", () => {
  const refused = statuses(
    delivered((kind) => (kind === "VirtualService" ? { code: "Conflict", message: "owned by kubectl" } : "applied")),
  );
  const slow = refused.get("TrafficPolicy slow");
  expect(slow).toMatchObject({
    state: "FAILED",
    destinations: {
      "cart-shop-a.gloo-mesh.": { state: "FAILED", errors: ["VirtualService cart.shop in a can't be written: Conflict: owned by kubectl"] },
    },
  });
  expect(conditions(slow)).toMatchObject({ Accepted: "True Accepted", Delivered: "True Delivered", Applied: "False WriteFailed" });
  expect(refused.get("AccessPolicy readers")).toMatchObject({ state: "ACCEPTED" });
  expect(refused.get("VirtualMesh vm")).toMatchObject({ state: "ACCEPTED" });
});

test("a refused object is told to those whose fields it has, and to no others", () => {
  const refused = (kinds: readonly string[]) =>
    delivered((kind) => (kinds.includes(kind) ? { code: "Conflict", message: "no" } : "applied"));
  const stateOf = (name: string, ...kinds: readonly string[]) => statuses(refused(kinds), MORE).get(`TrafficPolicy ${name}`)?.["state"];
  expect(["slow", "pool", "both", "parts"].map((name) => stateOf(name, "VirtualService"))).toEqual([
    "FAILED",
    "ACCEPTED",
    "FAILED",
    "FAILED",
  ]);
  // A subset is part of the DestinationRule of the service that it is of.
  expect(["slow", "pool", "both", "parts"].map((name) => stateOf(name, "DestinationRule"))).toEqual([
    "ACCEPTED",
    "FAILED",
    "FAILED",
    "FAILED",
  ]);
});

const MORE = `
---
apiVersion: discovery.mesh.gloo.solo.io/v1
kind: Destination
metadata: {name: stock-shop-a, namespace: gloo-mesh}
spec:
  kubeService:
    ref: {name: stock, namespace: shop, clusterName: a}
    workloadSelectorLabels: {app: stock}
    labels: {app: stock}
    ports: [{port: 80, name: http, protocol: TCP}]
  mesh: {name: istiod-a, namespace: gloo-mesh}
---
apiVersion: networking.mesh.gloo.solo.io/v1
kind: TrafficPolicy
metadata: {name: pool, namespace: shop}
spec: {policy: {outlierDetection: {consecutiveErrors: 1}}}
---
apiVersion: networking.mesh.gloo.solo.io/v1
kind: TrafficPolicy
metadata: {name: both, namespace: shop}
spec: {policy: {retries: {attempts: 1}, connectionPoolSettings: {tcp: {maxConnections: 1}}}}
---
apiVersion: networking.mesh.gloo.solo.io/v1
kind: TrafficPolicy
metadata: {name: parts, namespace: shop}
spec:
  destinationSelector: [{kubeServiceRefs: {services: [{name: cart, namespace: shop, clusterName: a}]}}]
  policy:
    trafficShift: {destinations: [{kubeService: {name: stock, namespace: shop, clusterName: a, subset: {version: v1}}}]}
`;

test("a refused object of any kind that is written is told to somebody", () => {
  const { memory } = translate(snapshotOf(readInput(INPUT).resources), { namespace: "gloo-mesh", stage: "networking" });
  const inputs = [...memory.targets].map((target) => target.inputs).find((one) => "destination" in one);
  const destination = [...snapshotOf(readInput(INPUT).resources).of(Destination)].map(refOf);
  for (const { apiVersion, kind } of deliveredKinds()) {
    const resource = { apiVersion, kind, metadata: { name: "cart", namespace: "shop", clusterName: "a" } };
    const told = inputs === undefined ? [] : concernedBy(inputs, { resource, parents: destination }).subjects;
    // What has only fields of DestinationRules in it is nothing that a policy with a time limit is told of.
    expect(told.map((ref) => ref.kind)).toEqual(
      kind === "DestinationRule" ? ["Destination"] : expect.arrayContaining([expect.stringMatching("Policy")]),
    );
  }
});

test("a refused object of a VirtualMesh is told to it", () => {
  const refused = statuses(
    delivered((_, key) => (key.startsWith("global-access-control.") ? { code: "Invalid", message: "no" } : "applied")),
  );
  expect(refused.get("VirtualMesh vm")).toMatchObject({ state: "FAILED", meshes: { "istiod-a.gloo-mesh.": { state: "FAILED" } } });
  expect(refused.get("TrafficPolicy slow")).toMatchObject({ state: "ACCEPTED" });
});

test("a status that says nothing is written only over one that says something", () => {
  const mesh = readInput(INPUT).resources.filter(({ kind }) => kind === "Mesh");
  const bare = translate(snapshotOf(mesh), { namespace: "gloo-mesh", stage: "networking" });
  expect(statusesOf(bare)).toEqual([]);
  const stale = mesh.map((one) => ({ ...one, status: { appliedVirtualMesh: { ref: { name: "gone", namespace: "gloo-mesh" } } } }));
  const cleared = translate(snapshotOf(stale), { namespace: "gloo-mesh", stage: "networking" });
  expect(statusesOf(cleared).map(({ ref, status }) => [ref.name, status])).toEqual([["istiod-a", {}]]);
});
