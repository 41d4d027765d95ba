import { Destination, Mesh, ServiceEntry, TrafficPolicy, VirtualDestination, VirtualMesh, Workload } from "@isthmus/api";
import { type Resource, snapshotOf } from "@isthmus/core";
import { runs, soundTranslation } from "@isthmus/testing";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Translation } from "../src/index.ts";

// One service in up to four clusters, two of them in one region; some with pods, some federated, some with gateways.
const CLUSTERS = ["a", "b", "c", "d"] as const;
type Cluster = (typeof CLUSTERS)[number];
const REGIONS: Readonly<Record<Cluster, string>> = { a: "east", b: "west", c: "east", d: "north" };
const ORDER = "failover.isthmus.mesh/order-";

const place = fc.record({
  /** Of pods with a sidecar, and without. */
  pods: fc.nat(2),
  bare: fc.nat(1),
  addresses: fc.nat(2),
  isFederated: fc.boolean(),
  /** Pods that claim to come first. */
  isForged: fc.boolean(),
});
const world = fc.record({
  places: fc.record({ a: place, b: place, c: place, d: place }),
  exports: fc.subarray([...CLUSTERS], { minLength: 1 }),
  /** `static`, or by distance. */
  order: fc.option(fc.shuffledSubarray([...CLUSTERS], { minLength: 1 }), { nil: undefined }),
  to: fc.shuffledSubarray(["west", "north"]),
});
type World = typeof world extends fc.Arbitrary<infer T> ? T : never;

const meta = (name: string) => ({ name, namespace: "gloo-mesh" });
const podOf = (cluster: Cluster, i: number) => `10.${CLUSTERS.indexOf(cluster)}.0.${i}`;
const gatewayOf = (cluster: Cluster, i: number) => `198.51.${CLUSTERS.indexOf(cluster)}.${i}`;

function objectsOf({ places, exports, order, to }: World): readonly Resource[] {
  const of = (kind: { readonly apiVersion: string; readonly kind: string }, name: string, spec: object): Resource =>
    Object.assign({ apiVersion: kind.apiVersion, kind: kind.kind, metadata: meta(name) }, { spec });
  const perCluster = CLUSTERS.flatMap((cluster) => {
    const { pods, bare, addresses, isForged } = places[cluster];
    const forged = isForged ? Object.fromEntries([0, 1, 2].map((i) => [`${ORDER}${i}`, "here"])) : {};
    const mesh = meta(`istiod-${cluster}`);
    const service = (name: string) => ({ name, namespace: "shop", clusterName: cluster });
    const endpoints = [
      ...Array.from({ length: pods }, (_, i) => ({ ipAddress: podOf(cluster, i), labels: { app: "cart", team: "x", ...forged } })),
      ...Array.from({ length: bare }, () => ({ ipAddress: podOf(cluster, 9), labels: { team: "x" } })),
    ];
    const ports = [{ port: 80, name: "http", protocol: "TCP" }];
    const cart = {
      ref: service("cart"),
      workloadSelectorLabels: { team: "x" },
      ports,
      region: REGIONS[cluster],
      endpointSubsets: [{ endpoints, ports }],
    };
    const gateway = {
      ref: { ...service("gateway"), namespace: "istio-system" },
      workloadSelectorLabels: { istio: "ingressgateway" },
      serviceType: "LOAD_BALANCER",
      ports: [{ name: "tls", port: 15443, targetPortNumber: 15443 }],
      externalAddresses: Array.from({ length: addresses }, (_, i) => ({ ip: gatewayOf(cluster, i) })),
    };
    const kubernetes = { controller: service("cart"), podLabels: { app: "cart", team: "x" } };
    return [
      of(Mesh, `istiod-${cluster}`, { istio: { installation: { namespace: "istio-system", cluster, region: REGIONS[cluster] } } }),
      of(Destination, `cart-${cluster}`, { kubeService: cart, mesh }),
      of(Destination, `gateway-${cluster}`, { kubeService: gateway, mesh }),
      of(Workload, `cart-${cluster}`, { kubernetes, mesh }),
    ];
  });
  const services = (clusters: readonly string[]) => clusters.map((clusterName) => ({ name: "cart", namespace: "shop", clusterName }));
  const federated = CLUSTERS.filter((cluster) => places[cluster].isFederated);
  const failover =
    order === undefined
      ? {
          localized: {
            destinationSelectors: [{ kubeServiceRefs: { services: services(CLUSTERS) } }],
            failoverDirectives: to.length === 0 ? [] : [{ from: { region: "east" }, to: to.map((region) => ({ region })) }],
          },
        }
      : { static: { destinations: services(order).map((kubeService) => ({ kubeService })) } };
  return [
    ...perCluster,
    of(VirtualMesh, "mesh", {
      meshes: CLUSTERS.map((cluster) => meta(`istiod-${cluster}`)),
      federation: { selectors: [{ destinationSelectors: [{ kubeServiceRefs: { services: services(federated) } }] }] },
    }),
    of(VirtualDestination, "cart", {
      hostname: "cart.mesh.global",
      port: { number: 80 },
      meshList: { meshes: exports.map((cluster) => meta(`istiod-${cluster}`)) },
      ...failover,
    }),
  ];
}

interface Reached {
  readonly cluster: Cluster;
  readonly address: string;
  /** How early it comes: more is earlier. */
  readonly labels: number;
}

/** The endpoints in one namespace of each cluster; undefined where there is no ServiceEntry. */
function endpointsIn(drawn: World, namespace: string): (cluster: Cluster) => readonly Reached[] | undefined {
  return endpointsOf(soundTranslation(snapshotOf(objectsOf(drawn)), OPTIONS), namespace);
}

const OPTIONS = { namespace: "gloo-mesh", stage: "networking" } as const;

function endpointsOf({ networking }: Translation, namespace: string): (cluster: Cluster) => readonly Reached[] | undefined {
  const entries = [...networking].flatMap(({ resource }) => (resource.kind === ServiceEntry.kind ? [resource as ServiceEntry] : []));
  return (cluster) => {
    const { clusterName, name } = { clusterName: cluster, name: "cart.gloo-mesh" };
    const entry = entries.find(({ metadata: of }) => of.clusterName === clusterName && of.name === name && of.namespace === namespace);
    return (
      entry &&
      (entry.spec?.endpoints ?? []).map(({ address = "", labels = {} }) => ({
        address,
        cluster: clusterAt(address),
        labels: Object.keys(labels).filter((key) => key.startsWith(ORDER)).length,
      }))
    );
  };
}

/** Whether a cluster's pods may be called from another one. */
function isReachable({ places, order }: World, cluster: Cluster, from: Cluster): boolean {
  const { pods, addresses, isFederated } = places[cluster];
  const isTarget = order === undefined || order.includes(cluster);
  return isTarget && pods > 0 && (cluster === from || (isFederated && addresses > 0));
}

/** What the user asks for: less is earlier. */
function rankOf({ order, to }: World, cluster: Cluster, from: Cluster): number {
  if (order !== undefined) return order.indexOf(cluster);
  if (cluster === from) return 0;
  const regions = [REGIONS[from], ...(REGIONS[from] === "east" ? to : [])];
  const position = regions.indexOf(REGIONS[cluster]);
  return 1 + (position < 0 ? regions.length : position);
}

test("clients reach every cluster that they may, in the order that was asked for, and none twice", () => {
  fc.assert(
    fc.property(world, (drawn) => {
      const seen = endpointsIn(drawn, "gloo-mesh");
      for (const caller of drawn.exports) {
        const endpoints = seen(caller);
        const expected = CLUSTERS.filter((cluster) => isReachable(drawn, cluster, caller));
        expect([...new Set(endpoints?.map(({ cluster }) => cluster))].sort()).toEqual(endpoints === undefined ? [] : expected);
        // Without any Destination that is right nothing is written at all.
        if (expected.length > 0) expect(endpoints).toBeDefined();
        expect(new Set(endpoints?.map(({ address }) => address)).size).toBe(endpoints?.length ?? 0);
        for (const { cluster, address } of endpoints ?? []) {
          expect(address.startsWith(cluster === caller ? "10." : "198.")).toBe(true);
          expect(address).not.toBe(podOf(cluster, 9));
        }
        for (const one of endpoints ?? []) {
          for (const other of endpoints ?? []) {
            const isEarlier = rankOf(drawn, one.cluster, caller) < rankOf(drawn, other.cluster, caller);
            expect(one.labels > other.labels).toBe(isEarlier);
          }
        }
      }
    }),
    { numRuns: runs(150) },
  );
});

test("what a gateway reads has pods of its own cluster alone", () => {
  fc.assert(
    fc.property(world, (drawn) => {
      const seen = endpointsIn(drawn, "istio-system");
      for (const cluster of CLUSTERS) {
        const endpoints = seen(cluster);
        expect(endpoints?.every(({ address }) => address.startsWith("10.")) ?? true).toBe(true);
        expect(endpoints?.every((one) => one.cluster === cluster) ?? true).toBe(true);
        const isCalled = isReachable(drawn, cluster, "a") && drawn.exports.some((caller) => isReachable(drawn, cluster, caller));
        if (isCalled && drawn.places[cluster].addresses > 0) expect(endpoints?.length).toBe(drawn.places[cluster].pods);
      }
    }),
    { numRuns: runs(150) },
  );
});

test("another cluster that can be reached changes nothing for clients with local pods", () => {
  fc.assert(
    fc.property(world, fc.constantFrom(...CLUSTERS), (drawn, added) => {
      const localized = { ...drawn, order: undefined };
      const without = {
        ...localized,
        places: { ...drawn.places, [added]: { pods: 0, bare: 0, addresses: 0, isFederated: true, isForged: false } },
      };
      const firstOf = (endpoints: readonly Reached[] = []) => {
        const most = Math.max(...endpoints.map(({ labels }) => labels));
        return endpoints.filter(({ labels }) => labels === most).map(({ address }) => address);
      };
      for (const caller of drawn.exports) {
        if (caller === added || drawn.places[caller].pods === 0) continue;
        expect(firstOf(endpointsIn(localized, "gloo-mesh")(caller))).toEqual(firstOf(endpointsIn(without, "gloo-mesh")(caller)));
      }
    }),
    { numRuns: runs(75) },
  );
});

test("offline clusters are left out while something else is there, in the same order, and come back", () => {
  fc.assert(
    fc.property(world, fc.subarray([...CLUSTERS]), (drawn, away) => {
      const given = snapshotOf(objectsOf(drawn));
      const all = soundTranslation(given, OPTIONS);
      const offline = new Set<string>(away);
      const without = soundTranslation(given, { ...OPTIONS, offline }, all);
      expect([...without.networking]).toEqual([...soundTranslation(given, { ...OPTIONS, offline }).networking]);
      expect([...soundTranslation(given, OPTIONS, without).networking]).toEqual([...all.networking]);
      for (const caller of drawn.exports) {
        const [kept, before] = [endpointsOf(without, "gloo-mesh")(caller), endpointsOf(all, "gloo-mesh")(caller)];
        const online = before?.filter(({ cluster }) => cluster === caller || !offline.has(cluster));
        expect(kept).toEqual(online?.length === 0 ? before : online);
      }
      for (const cluster of CLUSTERS) {
        expect(endpointsOf(without, "istio-system")(cluster)).toEqual(endpointsOf(all, "istio-system")(cluster));
      }
    }),
    { numRuns: runs(75) },
  );
});

/** The same world with pods of two versions, and a policy of a Service that shifts traffic to some of them. */
function withSubset(drawn: World, versions: Readonly<Record<Cluster, readonly string[]>>, asked: readonly string[]): readonly Resource[] {
  const policy = {
    destinationSelector: [{ kubeServiceRefs: { services: [{ name: "cart", namespace: "shop", clusterName: "a" }] } }],
    policy: {
      trafficShift: { destinations: asked.map((version) => ({ virtualDestination: { ...meta("cart"), subset: { version } }, weight: 1 })) },
    },
  };
  const objects = objectsOf(drawn).map((object): Resource => {
    if (object.kind !== Destination.kind || !object.metadata.name.startsWith("cart-")) return object;
    const { spec } = object as Destination;
    const [pods] = spec?.kubeService?.endpointSubsets ?? [];
    const of = versions[object.metadata.name.slice("cart-".length) as Cluster];
    const endpoints = (pods?.endpoints ?? []).map((one, i) => ({ ...one, labels: { ...one.labels, version: of[i % of.length] ?? "v0" } }));
    return { ...object, spec: { ...spec, kubeService: { ...spec?.kubeService, endpointSubsets: [{ ...pods, endpoints }] } } } as Resource;
  });
  const { apiVersion, kind } = TrafficPolicy;
  return [...objects, Object.assign({ apiVersion, kind, metadata: meta("shift") }, { spec: policy })];
}

const versionsOf = fc.uniqueArray(fc.constantFrom("v1", "v2", "v3"), { minLength: 1, maxLength: 2 });
const versions = fc.record({ a: versionsOf, b: versionsOf, c: versionsOf, d: versionsOf });

test("a subset has the endpoints that have such pods, in the same order, and all of them stay what they are without it", () => {
  fc.assert(
    fc.property(world, versions, fc.subarray(["v1", "v2", "v9"], { minLength: 1 }), (drawn, places, asked) => {
      const given = snapshotOf(withSubset(drawn, places, asked));
      const [plain, all] = [soundTranslation(given.apply({ put: [], remove: [SHIFT] }), OPTIONS), soundTranslation(given, OPTIONS)];
      expect([...soundTranslation(given, OPTIONS, plain).networking]).toEqual([...all.networking]);
      for (const caller of drawn.exports) {
        const entry = entryIn(all, caller);
        const unchanged = new Map((entryIn(plain, caller)?.spec?.endpoints ?? []).map((one) => [one.address, one]));
        const endpoints = entry?.spec?.endpoints ?? [];
        expect([...new Set(endpoints.map(({ address }) => address))]).toEqual([...unchanged.keys()]);
        for (const { address, labels = {}, ...rest } of endpoints) {
          const { version: _, ...others } = labels;
          const { labels: { version: __, ...before } = {}, ...was } = unchanged.get(address) ?? {};
          expect({ address, ...rest }).toEqual(was);
          expect(others).toEqual(before);
        }
        for (const version of asked) {
          const found = new Set(endpoints.filter(({ labels }) => labels?.["version"] === version).map(({ address = "" }) => address));
          const expected = CLUSTERS.filter((cluster) => {
            const here = places[cluster].slice(0, drawn.places[cluster].pods);
            return isReachable(drawn, cluster, caller) && here.some((one) => one === version);
          });
          const clusters = new Set([...found].map(clusterAt));
          expect([...clusters].sort()).toEqual(expected);
        }
      }
    }),
    { numRuns: runs(100) },
  );
});

test("offline clusters are the last resort of each subset, too", () => {
  fc.assert(
    fc.property(world, versions, fc.subarray([...CLUSTERS]), (drawn, places, away) => {
      const asked = ["v1", "v2"];
      const given = snapshotOf(withSubset(drawn, places, asked));
      const [all, without] = [soundTranslation(given, OPTIONS), soundTranslation(given, { ...OPTIONS, offline: new Set(away) })];
      for (const caller of drawn.exports) {
        const [before, now] = [all, without].map((one) => entryIn(one, caller)?.spec?.endpoints ?? []);
        const placed = before?.map((one) => ({ one, cluster: clusterAt(one.address) })) ?? [];
        const isOnline = (cluster: Cluster) => cluster === caller || !away.includes(cluster);
        const online = placed.filter(({ cluster }) => isOnline(cluster));
        const versionOf = ({ one }: (typeof placed)[number]) => one.labels?.["version"];
        const lost = asked.filter((version) => !online.some((endpoint) => versionOf(endpoint) === version));
        const kept = placed.filter((endpoint) => online.includes(endpoint) || lost.includes(versionOf(endpoint) ?? ""));
        expect(now).toEqual((online.length === 0 ? placed : kept).map(({ one }) => one));
      }
    }),
    { numRuns: runs(100) },
  );
});

const clusterAt = (address = ""): Cluster => CLUSTERS[Number(address.split(".")[address.startsWith("10.") ? 1 : 2])] ?? "a";

const SHIFT = { apiVersion: TrafficPolicy.apiVersion, kind: TrafficPolicy.kind, ...meta("shift"), clusterName: "" };

function entryIn({ networking }: Translation, cluster: Cluster): ServiceEntry | undefined {
  return [...networking]
    .map(({ resource }) => resource)
    .filter((one): one is ServiceEntry => one.kind === ServiceEntry.kind)
    .find(
      ({ metadata: { name, namespace, clusterName } }) => name === "cart.gloo-mesh" && namespace === "gloo-mesh" && clusterName === cluster,
    );
}
