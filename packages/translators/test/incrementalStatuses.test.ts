import { kindOf, type VirtualMesh } from "@isthmus/api";
import { type Resource, type ResourceRef, refOf, resourceKeyOf, snapshotOf } from "@isthmus/core";
import { readInput, runs, soundTranslation } from "@isthmus/testing";
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  changedStatuses,
  type Delivery,
  type DeliveryState,
  type Statuses,
  statusesAfter,
  statusesOf,
  type TranslateOptions,
  type Translation,
} from "../src/index.ts";
import { kubernetesTraces, networkingTraces, type WorldTrace } from "./inputTraces.ts";

const STATES: readonly DeliveryState[] = ["pending", "unheard", "applied", { code: "Conflict", message: "is somebody else's" }];

/** What becomes of outputs after one step of a trace: of the output at an index, in key order, the state. */
type Answers = readonly (readonly [number, DeliveryState])[];

const answers = fc.array(fc.tuple(fc.nat(40), fc.constantFrom(...STATES)), { maxLength: 8 });

/** Deliveries made from one another know what changed. */
class TracedDelivery implements Delivery {
  readonly #states: ReadonlyMap<string, DeliveryState>;

  constructor(states: ReadonlyMap<string, DeliveryState> = new Map()) {
    this.#states = states;
  }

  stateOf(ref: ResourceRef): DeliveryState {
    return this.#at(resourceKeyOf(ref));
  }

  changedSince(older: Delivery): Iterable<string> | undefined {
    if (!(older instanceof TracedDelivery)) return undefined;
    return [...this.#states.keys(), ...older.#states.keys()].filter((key) => this.#at(key) !== older.#at(key));
  }

  with({ networking }: Translation, told: Answers): TracedDelivery {
    const keys = [...networking].map(({ resource }) => resourceKeyOf(refOf(resource)));
    const states = new Map(this.#states);
    for (const [i, state] of told) {
      const key = keys[i % Math.max(1, keys.length)];
      if (key !== undefined) states.set(key, state);
    }
    return new TracedDelivery(states);
  }

  #at(key: string): DeliveryState {
    return this.#states.get(key) ?? "pending";
  }
}

function content(statuses: Statuses): ReadonlyMap<string, unknown> {
  return new Map([...statuses.all()].map(({ ref, status }) => [resourceKeyOf(ref), status]));
}

function check(
  statuses: Statuses,
  world: Translation,
  { delivery, before }: { delivery: Delivery | undefined; before: Statuses | undefined },
): void {
  expect([...statuses.all()]).toEqual(statusesOf(world, delivery));
  const [now, then] = [content(statuses), before === undefined ? new Map<string, unknown>() : content(before)];
  const told = new Set(changedStatuses(statuses, before).map(resourceKeyOf));
  for (const key of new Set([...now.keys(), ...then.keys()])) {
    if (!told.has(key)) expect(now.get(key)).toEqual(then.get(key));
  }
  for (const { ref, status } of statuses.all()) expect(statuses.of(ref)).toEqual({ ref, status });
}

function checkTrace({ start, steps }: WorldTrace, told: readonly Answers[], options: TranslateOptions): void {
  let given = snapshotOf(start.map(parsed));
  let world = soundTranslation(given, options);
  let delivery = new TracedDelivery();
  let statuses = statusesAfter(world, delivery);
  for (const [i, { put, remove }] of steps.entries()) {
    given = given.apply({ put: put.map(parsed), remove });
    world = soundTranslation(given, options, world);
    // As in a server: translation and delivery come one after the other, in any order, and statuses follow each or both.
    const answered = delivery.with(world, told[i] ?? []);
    const between = i % 2 === 0 ? statusesAfter(world, delivery, statuses) : statuses;
    if (between !== statuses) check(between, world, { delivery, before: statuses });
    const next = statusesAfter(world, answered, between);
    check(next, world, { delivery: answered, before: between });
    [delivery, statuses] = [answered, next];
  }
  check(statusesAfter(world, undefined, statuses), world, { delivery: undefined, before: statuses });
}

function parsed(resource: Resource): Resource {
  return kindOf(resource.apiVersion, resource.kind)?.parse(resource) ?? resource;
}

const options = (stage: TranslateOptions["stage"]): TranslateOptions => ({ namespace: "gloo-mesh", stage });

test("after every step of a trace, statuses that follow from the change are those from scratch: networking", () => {
  const property = fc.property(networkingTraces(), fc.array(answers, { maxLength: 8 }), (trace, told) =>
    checkTrace(trace, told, options("networking")),
  );
  fc.assert(property, { numRuns: runs(150) });
});

test("after every step of a trace, statuses that follow from the change are those from scratch: all", () => {
  const property = fc.property(kubernetesTraces(), fc.array(answers, { maxLength: 8 }), (trace, told) =>
    checkTrace(trace, told, options("all")),
  );
  fc.assert(property, { numRuns: runs(100) });
});

test("statuses follow meshes that join and leave, federated services that go, and objects that collide", () => {
  const all = new Map(readInput(FLEET).resources.map((resource) => [resource.metadata.name, parsed(resource)]));
  const object = (name: string): Resource => all.get(name) ?? expect.fail(`no object ${name}`);
  const joint = object("vm") as VirtualMesh;
  const alone: Resource = { ...joint, spec: { ...joint.spec, meshes: joint.spec?.meshes?.slice(0, 1) } } as Resource;
  const steps: readonly { readonly put?: readonly Resource[]; readonly remove?: readonly string[] }[] = [
    { put: [...all.values()].filter(({ metadata }) => metadata.name !== "other") },
    { remove: ["cart-shop-a"] },
    { put: [object("cart-shop-a")] },
    { put: [alone] },
    { put: [joint] },
    { remove: ["cart-v1-shop-b"] },
    { put: [object("cart-v1-shop-b"), object("other")] },
    { remove: ["other"] },
    { remove: ["istiod-b"] },
    { put: [object("istiod-b")] },
    { remove: ["vm"] },
    { put: [object("other")] },
    { remove: ["other"] },
  ];
  let given = snapshotOf([]);
  let world = soundTranslation(given, options("networking"));
  const delivery = new TracedDelivery();
  let statuses = statusesAfter(world, delivery);
  for (const { put = [], remove = [] } of steps) {
    given = given.apply({ put, remove: remove.map((name) => refOf(object(name))) });
    world = soundTranslation(given, options("networking"), world);
    const next = statusesAfter(world, delivery, statuses);
    check(next, world, { delivery, before: statuses });
    statuses = next;
  }
});

const FLEET = `
${["a", "b"]
  .map(
    (cluster) => `
apiVersion: discovery.mesh.gloo.solo.io/v1
kind: Mesh
metadata: {name: istiod-${cluster}, namespace: gloo-mesh}
spec: {istio: {installation: {namespace: istio-system, cluster: ${cluster}}, trustDomain: ${cluster}}}
---
apiVersion: discovery.mesh.gloo.solo.io/v1
kind: Workload
metadata: {name: cart-v1-shop-${cluster}, namespace: gloo-mesh}
spec:
  kubernetes: {controller: {name: cart-v1, namespace: shop, clusterName: ${cluster}}, podLabels: {app: cart}, serviceAccountName: cart}
  mesh: {name: istiod-${cluster}, namespace: gloo-mesh}
---
apiVersion: discovery.mesh.gloo.solo.io/v1
kind: Destination
metadata: {name: gateway-${cluster}, namespace: gloo-mesh}
spec:
  kubeService:
    ref: {name: istio-ingressgateway, namespace: istio-system, clusterName: ${cluster}}
    workloadSelectorLabels: {istio: ingressgateway}
    ports: [{port: 15443, name: tls, protocol: TCP, targetPortNumber: 15443, nodePort: 32443}]
    serviceType: LOAD_BALANCER
    externalAddresses: [{ip: 198.51.100.1}]
  mesh: {name: istiod-${cluster}, namespace: gloo-mesh}
---`,
  )
  .join("\n")}
${[
  ["cart-shop-a", "a"],
  ["cart-shop-b", "b"],
  ["other", "a"],
]
  .map(
    ([name, cluster]) => `
apiVersion: discovery.mesh.gloo.solo.io/v1
kind: Destination
metadata: {name: ${name}, namespace: gloo-mesh}
spec:
  kubeService:
    ref: {name: cart, namespace: shop, clusterName: ${cluster}}
    workloadSelectorLabels: {app: cart}
    ports: [{port: 80, name: http, protocol: TCP}]
  mesh: {name: istiod-${cluster}, namespace: gloo-mesh}
---`,
  )
  .join("\n")}
apiVersion: networking.mesh.gloo.solo.io/v1
kind: TrafficPolicy
metadata: {name: slow, namespace: shop}
spec:
  destinationSelector: [{kubeServiceRefs: {services: [{name: cart, namespace: shop, clusterName: a}]}}]
  policy: {requestTimeout: 1s}
---
apiVersion: networking.mesh.gloo.solo.io/v1
kind: VirtualMesh
metadata: {name: vm, namespace: gloo-mesh}
spec:
  meshes: [{name: istiod-a, namespace: gloo-mesh}, {name: istiod-b, namespace: gloo-mesh}]
  federation: {permissive: {}}
`;
