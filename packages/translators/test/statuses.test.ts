import { deliveredKinds } from "@isthmus/api";
import { type JsonObject, keyOf, refOf, snapshotOf } from "@isthmus/core";
import { readInput, soundTranslation } from "@isthmus/testing";
import { expect, test } from "vitest";
import { type Delivery, type DeliveryState, statusesOf } from "../src/index.ts";
import { reportTargetsOf } from "../src/pipeline/reportTargets.ts";

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
  const world = soundTranslation(snapshotOf(readInput(INPUT + more).resources), { namespace: "gloo-mesh", stage: "networking" });
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

test("what is nowhere accepted is not applied, though nothing of it waits", () => {
  const lost = `---
apiVersion: networking.mesh.gloo.solo.io/v1
kind: TrafficPolicy
metadata: {name: lost, namespace: shop}
spec:
  destinationSelector: [{kubeServiceMatcher: {namespaces: [chop]}}]
  policy: {requestTimeout: 1s}
---
apiVersion: networking.mesh.gloo.solo.io/v1
kind: TrafficPolicy
metadata: {name: wrong, namespace: shop}
spec: {policy: {trafficShift: {destinations: [{kubeService: {name: nowhere, namespace: shop, clusterName: a}, weight: 1}]}}}
`;
  const of = statuses(
    delivered(() => "applied"),
    lost,
  );
  expect(conditions(of.get("TrafficPolicy lost"))).toMatchObject({ Delivered: "False NoTargets", Applied: "False NoTargets" });
  expect(conditions(of.get("TrafficPolicy wrong"))).toMatchObject({ Delivered: "False Refused", Applied: "False Refused" });
});

test("an AccessPolicy that is not accepted says what is written because of it, and where that can't be", () => {
  const closed = `---
apiVersion: networking.mesh.gloo.solo.io/v1
kind: AccessPolicy
metadata: {name: closed, namespace: shop}
spec: {sourceSelector: [{kubeIdentityMatcher: {trustDomains: [a]}}]}
`;
  const applied = statuses(
    delivered(() => "applied"),
    closed,
  ).get("AccessPolicy closed");
  expect(conditions(applied)).toMatchObject({ Accepted: expect.stringMatching("False"), Applied: "False Refused" });
  expect(JSON.stringify(applied)).toContain(
    "1 object desired: its last accepted spec or, for an AccessPolicy, a rule that allows no callers",
  );
  const refused = statuses(
    delivered((kind) => (kind === "AuthorizationPolicy" ? { code: "Forbidden", message: "no" } : "applied")),
    closed,
  ).get("AccessPolicy closed");
  expect(conditions(refused)).toMatchObject({ Applied: "False WriteFailed" });
});

test("what nobody carries out is not called applied, whatever is applied of the rest", () => {
  const more = `---
apiVersion: discovery.mesh.gloo.solo.io/v1
kind: Mesh
metadata: {name: istiod-b, namespace: gloo-mesh}
spec:
  istio: {installation: {namespace: istio-system, cluster: b}, trustDomain: b}
  agentInfo: {agentNamespace: gloo-mesh}
---
apiVersion: discovery.mesh.gloo.solo.io/v1
kind: Mesh
metadata: {name: app, namespace: gloo-mesh}
spec: {awsAppMesh: {clusters: [c]}}
---
apiVersion: discovery.mesh.gloo.solo.io/v1
kind: Destination
metadata: {name: cart-shop-c, namespace: gloo-mesh}
spec:
  kubeService: {ref: {name: cart, namespace: shop, clusterName: c}, ports: [{port: 80, name: http, protocol: TCP}]}
  mesh: {name: app, namespace: gloo-mesh}
---
apiVersion: networking.mesh.gloo.solo.io/v1
kind: VirtualMesh
metadata: {name: trusted, namespace: gloo-mesh}
spec:
  meshes: [{name: istiod-b, namespace: gloo-mesh}]
  mtlsConfig: {shared: {}}
---
apiVersion: networking.mesh.gloo.solo.io/v1
kind: TrafficPolicy
metadata: {name: limited, namespace: shop}
spec:
  destinationSelector: [{kubeServiceMatcher: {clusters: [a]}}]
  policy: {requestTimeout: 1s, rateLimit: {}}
---
apiVersion: networking.mesh.gloo.solo.io/v1
kind: TrafficPolicy
metadata: {name: elsewhere, namespace: shop}
spec:
  destinationSelector: [{kubeServiceMatcher: {clusters: [c]}}]
  policy: {requestTimeout: 1s}
`;
  const of = statuses(
    delivered(() => "applied"),
    more,
  );
  const trusted = of.get("VirtualMesh trusted");
  expect(conditions(trusted)).toMatchObject({ Accepted: "True Accepted", Delivered: "True Delivered", Applied: "False NotCarriedOut" });
  expect(JSON.stringify(trusted)).toMatch(/2 of 2 objects applied, but not carried out: spec.mtlsConfig.shared \(see warnings\)/);
  expect(conditions(of.get("TrafficPolicy limited"))).toMatchObject({ Accepted: "True Accepted", Applied: "False NotCarriedOut" });
  const elsewhere = of.get("TrafficPolicy elsewhere");
  expect(elsewhere).toMatchObject({ state: "ACCEPTED", targetCount: 1, acceptedCount: 0 });
  expect(conditions(elsewhere)).toMatchObject({ Translated: "False Refused", Applied: "False Refused" });
});

test("what every cluster has is applied", () => {
  for (const name of ["TrafficPolicy slow", "AccessPolicy readers", "VirtualMesh vm"]) {
    expect(conditions(statuses(delivered(() => "applied")).get(name))).toMatchObject({
      Delivered: "True Delivered",
      Applied: "True Applied",
    });
  }
});

test("a refused object is reported to the policies behind it, and to no others", () => {
  const refused = statuses(
    delivered((kind) => (kind === "VirtualService" ? { code: "Conflict", message: "owned by kubectl" } : "applied")),
  );
  const slow = refused.get("TrafficPolicy slow");
  expect(slow).toMatchObject({
    state: "FAILED",
    destinations: {
      "cart-shop-a.gloo-mesh.": {
        state: "FAILED",
        errors: ["VirtualService shop/cart in a cannot be written (Conflict): owned by kubectl"],
      },
    },
  });
  expect(conditions(slow)).toMatchObject({ Accepted: "True Accepted", Delivered: "True Delivered", Applied: "False WriteFailed" });
  expect(refused.get("AccessPolicy readers")).toMatchObject({ state: "ACCEPTED" });
  expect(refused.get("VirtualMesh vm")).toMatchObject({ state: "ACCEPTED" });
});

test("a cluster without the CRDs of Istio is reported to have no Istio", () => {
  const unserved = { code: "Unserved", message: "the cluster does not serve VirtualService (networking.istio.io/v1): install its CRD" };
  const refused = statuses(delivered((kind) => (kind === "VirtualService" ? unserved : "applied")));
  expect(refused.get("TrafficPolicy slow")).toMatchObject({
    destinations: {
      "cart-shop-a.gloo-mesh.": {
        errors: [
          "VirtualService shop/cart in a cannot be written: Istio is not installed in cluster a, or without its CRD of VirtualService: install it there",
        ],
      },
    },
  });
});

test("a refused object is reported to those whose fields it has, and to no others", () => {
  const refused = (refusedKind: string) => delivered((kind) => (kind === refusedKind ? { code: "Conflict", message: "no" } : "applied"));
  const told = (kind: string) => {
    const found = statuses(refused(kind), MORE);
    return ["slow", "pool", "both", "guard", "parts"].filter((name) => found.get(`TrafficPolicy ${name}`)?.["state"] === "FAILED");
  };
  expect(told("VirtualService")).toEqual(["slow", "both", "parts"]);
  // A subset is part of the DestinationRule of the service that it is of.
  expect(told("DestinationRule")).toEqual(["pool", "both", "parts"]);
  expect(told("EnvoyFilter")).toEqual(["guard"]);
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
metadata: {name: guard, namespace: shop}
spec: {policy: {csrf: {filterEnabled: true}}}
---
apiVersion: networking.mesh.gloo.solo.io/v1
kind: TrafficPolicy
metadata: {name: parts, namespace: shop}
spec:
  destinationSelector: [{kubeServiceRefs: {services: [{name: cart, namespace: shop, clusterName: a}]}}]
  policy:
    trafficShift: {destinations: [{kubeService: {name: stock, namespace: shop, clusterName: a, subset: {version: v1}}}]}
`;

test("a refused object of any kind that is written is reported to somebody", () => {
  const { cache: memory } = soundTranslation(snapshotOf(readInput(INPUT + MORE).resources), {
    namespace: "gloo-mesh",
    stage: "networking",
  });
  const [{ inputs } = { inputs: undefined }] = [...memory.targets].filter((target) => "destination" in target.inputs);
  if (inputs === undefined || !("destination" in inputs)) throw new Error("there is no Destination");
  for (const { apiVersion, kind } of deliveredKinds()) {
    const resource = { apiVersion, kind, metadata: { name: "cart", namespace: "shop", clusterName: "a" } };
    const { subjects } = reportTargetsOf(inputs, { resource, parents: [refOf(inputs.destination)] });
    expect(subjects.map((subject) => subject.kind)).toEqual(expect.arrayContaining([expect.stringMatching(/Policy$/)]));
  }
});

test("a refused object of a VirtualMesh is reported to it", () => {
  const refused = statuses(
    delivered((_, key) => (key.startsWith("global-access-control.") ? { code: "Invalid", message: "no" } : "applied")),
  );
  expect(refused.get("VirtualMesh vm")).toMatchObject({ state: "FAILED", meshes: { "istiod-a.gloo-mesh.": { state: "FAILED" } } });
  expect(refused.get("TrafficPolicy slow")).toMatchObject({ state: "ACCEPTED" });
});

test("a status that says nothing is written only over one that says something", () => {
  const mesh = readInput(INPUT).resources.filter(({ kind }) => kind === "Mesh");
  const bare = soundTranslation(snapshotOf(mesh), { namespace: "gloo-mesh", stage: "networking" });
  expect(statusesOf(bare)).toEqual([]);
  const stale = mesh.map((one) => ({ ...one, status: { appliedVirtualMesh: { ref: { name: "gone", namespace: "gloo-mesh" } } } }));
  const cleared = soundTranslation(snapshotOf(stale), { namespace: "gloo-mesh", stage: "networking" });
  expect(statusesOf(cleared).map(({ ref, status }) => [ref.name, status])).toEqual([["istiod-a", {}]]);
});
