import { kindOf } from "@isthmus/api";
import {
  type AnyResource,
  type CooperativeTask,
  type OutputSet,
  type Report,
  type Resource,
  type Snapshot,
  snapshotOf,
} from "@isthmus/core";
import { runs, soundTranslation } from "@isthmus/testing";
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  computeStatuses,
  newReports,
  type Statuses,
  statusesOf,
  type TranslateOptions,
  type Translation,
  translateInSteps,
} from "../src/index.ts";
import { kubernetesTraces, networkingTraces, type WorldTrace } from "./inputTraces.ts";

const NAMESPACE = "gloo-mesh";

function seen(world: Translation) {
  const { inputs, attached, discovery, networking, reports } = world;
  return {
    inputs: contentOf(inputs),
    attached: contentOf(attached),
    discovery: [...discovery],
    networking: [...networking],
    reports,
    statuses: statusesOf(world),
  };
}

function contentOf(snapshot: Snapshot): readonly Resource[] {
  const collections = snapshot.collections();
  return [...collections.keys()].sort().flatMap((key) => [...(collections.get(key) ?? [])]);
}

/** What is sent is what `changesSince` tells: all of it, and nothing twice. */
function checkChanges(now: OutputSet, before: OutputSet): void {
  const [left, right] = [new Map(before.entries()), new Map(now.entries())];
  const told = new Set<string>();
  for (const { key, after } of now.changesSince(before)) {
    told.add(key);
    expect(after).toBe(right.get(key));
    expect(JSON.stringify(after)).not.toBe(JSON.stringify(left.get(key)));
  }
  for (const key of [...left.keys(), ...right.keys()]) if (!told.has(key)) expect(right.get(key)).toBe(left.get(key));
}

/** `away`: clusters that are offline, from step to step, again and again. */
function checkTrace({ start, steps }: WorldTrace, others: TranslateOptions, away: readonly (readonly string[])[] = [[]]): void {
  let given = snapshotOf(start.map(parsed));
  const optionsAt = (step: number): TranslateOptions => ({ ...others, offline: new Set(away[step % away.length]) });
  const first = soundTranslation(given, optionsAt(0));
  let world = first;
  for (const [i, { put, remove }] of steps.entries()) {
    const options = optionsAt(i);
    given = given.apply({ put: put.map(parsed), remove });
    const next = soundTranslation(given, options, world);
    expect(seen(next)).toEqual(seen(soundTranslation(given, options)));
    const told = new Set(textsOf(world.reports));
    expect(textsOf(newReports(next, world))).toEqual(textsOf(next.reports).filter((text) => !told.has(text)));
    checkChanges(next.networking, world.networking);
    checkChanges(next.discovery, world.discovery);
    world = next;
  }
  // An earlier world serves as well as the latest one, and is as it was.
  const last = optionsAt(Math.max(0, steps.length - 1));
  expect(seen(soundTranslation(given, last, first))).toEqual(seen(world));
  expect(seen(first)).toEqual(seen(soundTranslation(snapshotOf(start.map(parsed)), optionsAt(0))));
}

function textsOf(reports: readonly Report[]): readonly string[] {
  return reports.map((report) => JSON.stringify(report));
}

function parsed(resource: Resource): Resource {
  return kindOf(resource.apiVersion, resource.kind)?.parse(resource) ?? resource;
}

const options = (stage: TranslateOptions["stage"]) =>
  fc.boolean().map((disallowIntersectingConfig): TranslateOptions => ({ namespace: NAMESPACE, stage, disallowIntersectingConfig }));

const offline = fc.array(fc.subarray(["east", "west", "north"]), { minLength: 1, maxLength: 3 });

test("after every step of a trace, what follows from the change is what follows from scratch: networking", () => {
  fc.assert(fc.property(networkingTraces(), options("networking"), offline, checkTrace), { numRuns: runs(150) });
});

test("after every step of a trace, what follows from the change is what follows from scratch: all", () => {
  fc.assert(fc.property(kubernetesTraces(), options("all"), offline, checkTrace), { numRuns: runs(150) });
});

/** Drives several at once, a step of each in turn. */
function inTurns<T>(all: readonly CooperativeTask<T>[]): readonly T[] {
  const results = new Map<CooperativeTask<T>, T>();
  while (results.size < all.length) {
    for (const steps of all.filter((one) => !results.has(one))) {
      const step = steps.next();
      if (step.done === true) results.set(steps, step.value);
    }
  }
  return all.flatMap((steps) => results.get(steps) ?? []);
}

test("steps of several translations among one another, and one given up half-way, make what each makes alone", () => {
  fc.assert(
    fc.property(kubernetesTraces(), options("all"), fc.integer({ min: 0, max: 200 }), ({ start, steps }, flags, length) => {
      let given = snapshotOf(start.map(parsed));
      let world = soundTranslation(given, flags);
      let statuses: Statuses | undefined;
      for (const { put, remove } of steps) {
        const before = given;
        given = given.apply({ put: put.map(parsed), remove });
        const givenUp = translateInSteps(given, flags, world);
        for (let i = 0; i < length; i++) if (givenUp.next().done === true) break;
        const [next, again] = inTurns([
          translateInSteps(given, flags, world),
          translateInSteps(before, flags, world),
          translateInSteps(given, flags),
        ]);
        if (next === undefined || again === undefined) throw new Error("a translation gave nothing");
        expect(seen(next)).toEqual(seen(soundTranslation(given, flags)));
        expect(seen(again)).toEqual(seen(world));
        const [judged, other] = inTurns([computeStatuses(next, undefined, statuses), computeStatuses(again, undefined, statuses)]);
        expect([...(judged?.all() ?? [])]).toEqual(statusesOf(next));
        expect([...(other?.all() ?? [])]).toEqual(statusesOf(world));
        [world, statuses] = [next, judged];
      }
    }),
    { numRuns: runs(40) },
  );
});

test("a trust domain that comes, changes or goes bears on the policies that name callers there, and on no others", () => {
  const called = (name: string, source: object): AnyResource => ({
    apiVersion: "networking.mesh.gloo.solo.io/v1",
    kind: "AccessPolicy",
    metadata: { name, namespace: NAMESPACE },
    spec: {
      sourceSelector: [source],
      destinationSelector: [{ kubeServiceRefs: { services: [{ name, namespace: "shop", clusterName: "east" }] } }],
    },
  });
  const service = (name: string): AnyResource => ({
    apiVersion: "discovery.mesh.gloo.solo.io/v1",
    kind: "Destination",
    metadata: { name: `${name}-shop-east`, namespace: NAMESPACE },
    spec: {
      kubeService: { ref: { name, namespace: "shop", clusterName: "east" }, workloadSelectorLabels: { app: name } },
      mesh: { name: "istiod-east", namespace: NAMESPACE },
    },
  });
  const mesh = (cluster: string, trustDomain: string): AnyResource => ({
    apiVersion: "discovery.mesh.gloo.solo.io/v1",
    kind: "Mesh",
    metadata: { name: `istiod-${cluster}`, namespace: NAMESPACE },
    spec: { istio: { installation: { cluster, namespace: "istio-system" }, trustDomain } },
  });
  const start = [
    mesh("east", "east.test"),
    ...["one", "any", "nobody"].map(service),
    called("one", { kubeServiceAccountRefs: { serviceAccounts: [{ name: "web", namespace: "shop", clusterName: "west" }] } }),
    called("any", { kubeServiceAccountRefs: { serviceAccounts: [{ name: "web", namespace: "shop" }] } }),
    called("nobody", { kubeIdentityMatcher: { namespaces: ["shop"] } }),
  ];
  const west = { kind: "Mesh", apiVersion: "discovery.mesh.gloo.solo.io/v1", name: "istiod-west", namespace: NAMESPACE, clusterName: "" };
  const steps = [
    { put: [mesh("west", "west.test")], remove: [] },
    { put: [mesh("west", "other.test")], remove: [] },
    { put: [], remove: [west] },
  ];
  checkTrace({ start, steps }, { namespace: NAMESPACE, stage: "networking" });

  // Of a mesh that no policy names, whose callers Istio cannot distinguish, by its trust domain, by an alias, and in the VirtualMesh or not.
  const joined = (...clusters: readonly string[]): AnyResource => ({
    apiVersion: "networking.mesh.gloo.solo.io/v1",
    kind: "VirtualMesh",
    metadata: { name: "all", namespace: NAMESPACE },
    spec: { meshes: clusters.map((cluster) => ({ name: `istiod-${cluster}`, namespace: NAMESPACE })) },
  });
  const other = mesh("north", "west.test");
  const withAlias = {
    ...mesh("east", "east.test"),
    spec: { istio: { ...Object(mesh("east", "east.test")["spec"]).istio, trustDomainAliases: ["west.test"] } },
  };
  checkTrace(
    {
      start: [...start, mesh("west", "west.test")],
      steps: [
        { put: [other], remove: [] },
        { put: [joined("east", "west", "north")], remove: [] },
        { put: [mesh("north", "north.test")], remove: [] },
        { put: [withAlias], remove: [] },
        { put: [other, mesh("east", "east.test")], remove: [] },
        { put: [joined("east", "west")], remove: [] },
        { put: [], remove: [{ ...west, name: "istiod-north" }] },
      ],
    },
    { namespace: NAMESPACE, stage: "networking" },
  );

  const before = soundTranslation(snapshotOf(start.map(parsed)), { namespace: NAMESPACE, stage: "networking" });
  const given = before.cache.given.apply({ put: steps[0]?.put.map(parsed) ?? [], remove: [] });
  const after = soundTranslation(given, { namespace: NAMESPACE, stage: "networking" }, before);
  const targets = after.cache.targets.changesSince(before.cache.targets).map(({ key }) => key.split("|").at(-1));
  expect(targets).toEqual(expect.arrayContaining([expect.stringContaining("one-shop-east"), expect.stringContaining("any-shop-east")]));
  expect(targets).not.toContainEqual(expect.stringContaining("nobody-shop-east"));
});

test("a rule follows the other Services on its pods: which there are, their ports, and their policies", () => {
  const given = (kind: string, apiVersion: string, name: string, spec: object): AnyResource =>
    ({ apiVersion, kind, metadata: { name, namespace: NAMESPACE }, spec }) as AnyResource;
  const mesh = { name: "istiod-east", namespace: NAMESPACE };
  const service = (name: string, workloadSelectorLabels: object, targetPortNumber: number): AnyResource =>
    given("Destination", "discovery.mesh.gloo.solo.io/v1", `${name}-shop-east`, {
      kubeService: {
        ref: { name, namespace: "shop", clusterName: "east" },
        workloadSelectorLabels,
        ports: [{ port: 80, name: "http", targetPortNumber }],
      },
      mesh,
    });
  const pods = (podLabels: object): AnyResource =>
    given("Workload", "discovery.mesh.gloo.solo.io/v1", "web-shop-east", {
      kubernetes: { controller: { name: "web", namespace: "shop", clusterName: "east" }, podLabels, serviceAccountName: "web" },
      mesh,
    });
  const policy = (name: string): AnyResource =>
    given("AccessPolicy", "networking.mesh.gloo.solo.io/v1", name, {
      sourceSelector: [{}],
      destinationSelector: [{ kubeServiceRefs: { services: [{ name, namespace: "shop", clusterName: "east" }] } }],
    });
  const gone = (of: AnyResource) => ({ ...of.metadata, apiVersion: of.apiVersion, kind: of.kind, namespace: NAMESPACE, clusterName: "" });
  const start = [
    given("Mesh", "discovery.mesh.gloo.solo.io/v1", "istiod-east", {
      istio: { installation: { cluster: "east", namespace: "istio-system" } },
    }),
    service("web", { app: "web" }, 8080),
    pods({ app: "web", tier: "front" }),
    policy("web"),
  ];
  const admin = service("admin", { tier: "front" }, 9090);
  const steps = [
    { put: [admin], remove: [] },
    { put: [policy("admin")], remove: [] },
    { put: [service("admin", { tier: "front" }, 9091), service("metrics", { app: "web" }, 9102)], remove: [] },
    { put: [pods({ app: "web" })], remove: [] },
    { put: [pods({ app: "web", tier: "front" })], remove: [gone(policy("admin"))] },
    { put: [policy("admin")], remove: [gone(admin)] },
  ];
  checkTrace({ start, steps }, { namespace: NAMESPACE, stage: "networking" });
});

test("an audit of the network layer follows pods that come, change and go, and where nobody asks for it, none is read", () => {
  const given = (kind: string, apiVersion: string, name: string, spec: object): AnyResource =>
    ({ apiVersion, kind, metadata: { name, namespace: NAMESPACE }, spec }) as AnyResource;
  const mode = (accessPolicies: string) => given("Settings", "settings.mesh.gloo.solo.io/v1", "settings", { cilium: { accessPolicies } });
  const ref = { name: "cart", namespace: "shop", clusterName: "east" };
  const start = [
    given("Mesh", "discovery.mesh.gloo.solo.io/v1", "istiod-east", {
      istio: { installation: { cluster: "east", namespace: "istio-system" } },
      cilium: { clusterName: "east" },
    }),
    // By a label that pods are found by, and by one that they are not.
    ...[{ app: "cart" }, { tier: "front" }].map((workloadSelectorLabels, i) =>
      given("Destination", "discovery.mesh.gloo.solo.io/v1", `cart-${i}`, {
        kubeService: { ref: { ...ref, name: `cart-${i}` }, workloadSelectorLabels },
        mesh: { name: "istiod-east", namespace: NAMESPACE },
      }),
    ),
    given("AccessPolicy", "networking.mesh.gloo.solo.io/v1", "cart", {
      sourceSelector: [{ kubeIdentityMatcher: { namespaces: ["shop"] } }],
    }),
  ];
  const pod = (name: string, labels: Readonly<Record<string, string>>, more: object = {}): AnyResource =>
    ({
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name, namespace: "shop", clusterName: "east", labels, annotations: { "prometheus.io/scrape": "true" } },
      spec: {},
      ...more,
    }) as AnyResource;
  const steps = [
    { put: [pod("a", { app: "cart", tier: "front" })], remove: [] },
    { put: [mode("AUDIT")], remove: [] },
    { put: [pod("b", { tier: "front" })], remove: [] },
    { put: [pod("a", { app: "cart", tier: "front" }, { spec: { hostNetwork: true } })], remove: [] },
    { put: [pod("b", { app: "cart" })], remove: [] },
    { put: [mode("ENABLED")], remove: [] },
    { put: [], remove: [{ apiVersion: "v1", kind: "Pod", name: "b", namespace: "shop", clusterName: "east" }] },
    { put: [mode("DISABLED")], remove: [] },
  ];
  const options: TranslateOptions = { namespace: NAMESPACE, stage: "networking" };
  checkTrace({ start, steps }, options);
  const seenPods = (resources: readonly AnyResource[]) => {
    const text = JSON.stringify(statusesOf(soundTranslation(snapshotOf(resources.map(parsed)), options)));
    return text.match(/\d+ known pods? \([^)]*\)/g) ?? [];
  };
  const pods = [pod("a", { app: "cart", tier: "front" }), pod("b", { tier: "front" })];
  expect(seenPods([...start, ...pods])).toEqual([]);
  expect(seenPods([...start, ...pods, mode("AUDIT")])).toEqual(["1 known pod (a)", "2 known pods (a, b)"]);
});

test("policies follow a VirtualDestination that comes, selects others, and goes", () => {
  const labelled = (name: string): AnyResource => ({
    apiVersion: "discovery.mesh.gloo.solo.io/v1",
    kind: "Destination",
    metadata: { name: `${name}-shop-east`, namespace: NAMESPACE },
    spec: {
      kubeService: {
        ref: { name, namespace: "shop", clusterName: "east" },
        labels: { app: name },
        workloadSelectorLabels: { app: name },
        ports: [{ port: 80, name: "http", protocol: "TCP" }],
      },
      mesh: { name: "istiod-east", namespace: NAMESPACE },
    },
  });
  const host = (app: string): AnyResource => ({
    apiVersion: "networking.enterprise.mesh.gloo.solo.io/v1beta1",
    kind: "VirtualDestination",
    metadata: { name: "cart", namespace: NAMESPACE },
    spec: {
      hostname: "cart.mesh.global",
      port: { number: 80 },
      virtualMesh: { name: "all", namespace: NAMESPACE },
      localized: { destinationSelectors: [{ kubeServiceMatcher: { labels: { app } } }] },
    },
  });
  const selecting = (kind: string, name: string, selector: object, spec: object): AnyResource => ({
    apiVersion: "networking.mesh.gloo.solo.io/v1",
    kind,
    metadata: { name, namespace: NAMESPACE },
    spec: { destinationSelector: [selector], ...spec },
  });
  const named = { virtualDestinationRefs: { virtualDestinations: [{ name: "cart", namespace: NAMESPACE }] } };
  const start = [
    {
      apiVersion: "discovery.mesh.gloo.solo.io/v1",
      kind: "Mesh",
      metadata: { name: "istiod-east", namespace: NAMESPACE },
      spec: { istio: { installation: { cluster: "east", namespace: "istio-system" } }, agentInfo: { agentNamespace: NAMESPACE } },
    },
    {
      apiVersion: "networking.mesh.gloo.solo.io/v1",
      kind: "VirtualMesh",
      metadata: { name: "all", namespace: NAMESPACE },
      spec: { meshes: [{ name: "istiod-east", namespace: NAMESPACE }] },
    },
    labelled("one"),
    labelled("two"),
    selecting("TrafficPolicy", "timeout", named, { policy: { requestTimeout: "1s" } }),
    selecting("AccessPolicy", "named", named, {}),
    selecting("AccessPolicy", "matched", { virtualDestinationMatcher: {} }, {}),
  ];
  const { apiVersion, kind, metadata } = host("one");
  const steps = [
    { put: [host("one")], remove: [] },
    { put: [host("two")], remove: [] },
    { put: [], remove: [{ apiVersion, kind, name: metadata.name, namespace: NAMESPACE, clusterName: "" }] },
  ];
  checkTrace({ start, steps }, { namespace: NAMESPACE, stage: "networking" });
});
