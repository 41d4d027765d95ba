import { type ConnectionPolicy, Destination, DestinationRule, Mesh, ServiceEntry, Settings, VirtualMesh, Workload } from "@isthmus/api";
import { fullKeyOf, type Resource, refOf, snapshotOf } from "@isthmus/core";
import { runs, soundTranslation } from "@isthmus/testing";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Translation } from "../src/index.ts";

// One service in up to four clusters, two of them in one region: some without it, without pods, not federated, or without gateways.
const CLUSTERS = ["a", "b", "c", "d"] as const;
type Cluster = (typeof CLUSTERS)[number];
const REGIONS: Readonly<Record<Cluster, string>> = { a: "east", b: "west", c: "east", d: "" };
const OTHER = "failover.isthmus.mesh/other-";

const mostly = fc.constantFrom(true, true, true, true, false);
const place = fc.record({
  isThere: mostly,
  pods: fc.nat(2),
  hasSidecars: mostly,
  addresses: fc.uniqueArray(fc.constantFrom("198.51.100.1", "198.51.100.2", "gw.example.com"), { maxLength: 3 }),
  isFederated: mostly,
  ports: fc.constantFrom([80], [80], [80, 81], [81]),
});
const world = fc.record({
  places: fc.record({ a: place, b: place, c: place, d: place }),
  /** Where services are federated to; none: to all. */
  callers: fc.oneof(fc.constant<Cluster[]>([]), fc.subarray([...CLUSTERS], { minLength: 2 })),
  isOn: mostly,
  isTrusted: mostly,
  isMutual: mostly,
});
type World = typeof world extends fc.Arbitrary<infer T> ? T : never;

const meta = (name: string) => ({ name, namespace: "gloo-mesh" });
// Nothing of one cluster has an address of another one.
const addressIn = (cluster: Cluster, address: string) => address.replace("198.51", `198.5${CLUSTERS.indexOf(cluster)}`);

function objectsOf({ places, callers, isOn, isTrusted, isMutual }: World): readonly Resource[] {
  const of = (kind: { readonly apiVersion: string; readonly kind: string }, name: string, spec: object): Resource =>
    Object.assign({ apiVersion: kind.apiVersion, kind: kind.kind, metadata: meta(name) }, { spec });
  const perCluster = CLUSTERS.flatMap((cluster) => {
    const { isThere, pods, hasSidecars, addresses, ports } = places[cluster];
    const mesh = meta(`istiod-${cluster}`);
    const service = { name: "cart", namespace: "shop", clusterName: cluster };
    const servicePorts = ports.map((port) => ({ port, name: `http-${port}`, protocol: "TCP" }));
    const endpoints = Array.from({ length: pods }, (_, i) => ({
      ipAddress: `10.${CLUSTERS.indexOf(cluster)}.0.${i}`,
      labels: { app: "cart" },
    }));
    const cart = {
      ref: service,
      workloadSelectorLabels: { app: "cart" },
      ports: servicePorts,
      region: REGIONS[cluster],
      endpointSubsets: [{ endpoints, ports: servicePorts }],
    };
    const gateway = {
      ref: { name: "gateway", namespace: "istio-system", clusterName: cluster },
      workloadSelectorLabels: { istio: "ingressgateway" },
      serviceType: "LOAD_BALANCER",
      ports: [{ name: "tls", port: 15443, targetPortNumber: 15443 }],
      externalAddresses: addresses.map((address) =>
        address.startsWith("gw") ? { dnsName: `${cluster}.${address}` } : { ip: addressIn(cluster, address) },
      ),
    };
    const kubernetes = { controller: service, podLabels: { app: "cart" }, serviceAccountName: "cart" };
    return [
      of(Mesh, `istiod-${cluster}`, {
        istio: { installation: { namespace: "istio-system", cluster, region: REGIONS[cluster] }, trustDomain: cluster },
      }),
      of(Destination, `gateway-${cluster}`, { kubeService: gateway, mesh }),
      ...(isThere ? [of(Destination, `cart-${cluster}`, { kubeService: cart, mesh })] : []),
      ...(isThere && hasSidecars ? [of(Workload, `cart-${cluster}`, { kubernetes, mesh })] : []),
    ];
  });
  const services = CLUSTERS.filter((cluster) => places[cluster].isFederated).map((clusterName) => ({
    name: "cart",
    namespace: "shop",
    clusterName,
  }));
  return [
    ...perCluster,
    of(Settings, "settings", { mtls: { istio: { tlsMode: isMutual ? "ISTIO_MUTUAL" : "DISABLE" } } }),
    of(VirtualMesh, "mesh", {
      meshes: CLUSTERS.map((cluster) => meta(`istiod-${cluster}`)),
      ...(isTrusted ? { mtlsConfig: { shared: {} } } : {}),
      federation: {
        selectors: [
          { destinationSelectors: [{ kubeServiceRefs: { services } }], meshes: callers.map((cluster) => meta(`istiod-${cluster}`)) },
        ],
        ...(isOn ? { failover: {} } : {}),
      },
    }),
  ];
}

const OPTIONS = { namespace: "gloo-mesh", stage: "networking" } as const;

/** One world after another: what is the same in both is the very same object. */
function snapshotAfter(before: World, next: World) {
  const [was, is] = [objectsOf(before), objectsOf(next)];
  const given = new Set(was.map((object) => JSON.stringify(object)));
  const names = new Set(is.map(fullKeyOf));
  const first = snapshotOf(was);
  const put = is.filter((object) => !given.has(JSON.stringify(object)));
  return { first, second: first.apply({ put, remove: was.filter((object) => !names.has(fullKeyOf(object))).map(refOf) }) };
}

interface Written {
  readonly entry: ServiceEntry | undefined;
  readonly rule: DestinationRule | undefined;
}

/** What is written about the service's own host in its cluster. */
function writtenIn({ networking }: Translation, cluster: Cluster): Written {
  const here = [...networking].map(({ resource }) => resource).filter(({ metadata }) => metadata.clusterName === cluster);
  const inShop = here.filter(({ metadata }) => metadata.namespace === "shop");
  return {
    entry: inShop.find((one): one is ServiceEntry => one.kind === ServiceEntry.kind),
    rule: inShop.find((one): one is DestinationRule => one.kind === DestinationRule.kind),
  };
}

function isAnswering({ isThere, pods, hasSidecars }: World["places"][Cluster]): boolean {
  return isThere && pods > 0 && hasSidecars;
}

/** The clusters that clients of one fail over to. */
function reachableFrom(drawn: World, from: Cluster): readonly Cluster[] {
  return entrancesFrom(drawn, from).filter((cluster) => isAnswering(drawn.places[cluster]));
}

/** Those that they fail over to while pods are there that can answer. */
function entrancesFrom({ places, callers, isOn, isTrusted, isMutual }: World, from: Cluster): readonly Cluster[] {
  const own = places[from];
  if (!isOn || !isTrusted || !isMutual || !own.isThere || !own.isFederated) return [];
  if (callers.length > 0 && !callers.includes(from)) return [];
  return CLUSTERS.filter((cluster) => {
    const other = places[cluster];
    const hasEntrance = other.isThere && other.isFederated && other.addresses.some((address) => !address.startsWith("gw"));
    return cluster !== from && hasEntrance && own.ports.every((port) => other.ports.some((one) => one === port));
  });
}

const clusterOf = (address = "") => CLUSTERS[Number(address.charAt(5))];
const ranksOf = (labels: Readonly<Record<string, string>> = {}) => Object.keys(labels).filter((key) => key.startsWith(OTHER)).length;

test("a service fails over to every cluster that it may, to none twice, and to those of its region before others", () => {
  fc.assert(
    fc.property(world, (drawn) => {
      const all = soundTranslation(snapshotOf(objectsOf(drawn)), OPTIONS);
      for (const from of CLUSTERS) {
        const { entry } = writtenIn(all, from);
        const endpoints = entry?.spec?.endpoints ?? [];
        expect([...new Set(endpoints.map(({ address }) => clusterOf(address)))].sort()).toEqual(reachableFrom(drawn, from));
        expect(new Set(endpoints.map(({ address }) => address)).size).toBe(endpoints.length);
        for (const { address, labels, ports = {} } of endpoints) {
          const cluster = clusterOf(address) ?? from;
          expect(address).toMatch(/^198\./);
          expect(ranksOf(labels)).toBe(REGIONS[cluster] === REGIONS[from] ? 1 : 2);
          expect(Object.keys(ports).sort()).toEqual(drawn.places[from].ports.map((port) => `http-${port}`));
          expect(entry?.spec?.subjectAltNames).toContain(`spiffe://${cluster}/ns/shop/sa/cart`);
        }
        // Also while no pod can answer, as a restart is no deletion; and never where there is no way to one.
        expect(entry !== undefined).toBe(entrancesFrom(drawn, from).length > 0);
      }
    }),
    { numRuns: runs(200) },
  );
});

test("endpoints of other clusters come with their order, and an order without another cluster to come never empties the own one", () => {
  fc.assert(
    fc.property(world, (drawn) => {
      const all = soundTranslation(snapshotOf(objectsOf(drawn)), OPTIONS);
      for (const from of CLUSTERS) {
        const { entry, rule } = writtenIn(all, from);
        const settings = rule?.spec?.trafficPolicy?.portLevelSettings ?? [];
        if (entry !== undefined) expect(settings.map(({ port }) => port?.number)).toEqual(drawn.places[from].ports);
        for (const { port, tls, outlierDetection, loadBalancer } of settings) {
          expect(tls).toEqual({ mode: "ISTIO_MUTUAL", sni: `outbound_.${port?.number}_._.cart.shop.failover.global` });
          expect(outlierDetection?.minHealthPercent).toBe(1);
          expect(loadBalancer?.localityLbSetting?.failoverPriority?.slice(0, 2)).toEqual([`${OTHER}region`, `${OTHER}cluster`]);
        }
      }
    }),
    { numRuns: runs(150) },
  );
});

test("what gateways know a service by leads to pods of their own cluster alone", () => {
  fc.assert(
    fc.property(world, (drawn) => {
      const { networking } = soundTranslation(snapshotOf(objectsOf(drawn)), OPTIONS);
      const entries = [...networking].flatMap(({ resource }) => (resource.kind === ServiceEntry.kind ? [resource as ServiceEntry] : []));
      for (const { metadata, spec } of entries.filter((one) => one.spec?.hosts?.includes("cart.shop.failover.global"))) {
        expect(spec?.exportTo).toEqual(["."]);
        expect(metadata.namespace).toBe("istio-system");
        for (const { address = "" } of spec?.endpoints ?? [])
          expect(address.split(".", 2)).toEqual(["10", String(CLUSTERS.indexOf(metadata.clusterName as Cluster))]);
      }
      for (const from of CLUSTERS) {
        for (const cluster of reachableFrom(drawn, from)) {
          expect(
            entries.some(({ metadata, spec }) => metadata.clusterName === cluster && spec?.hosts?.includes("cart.shop.failover.global")),
          ).toBe(true);
        }
      }
    }),
    { numRuns: runs(150) },
  );
});

/** What a client's connections to its own cluster go by. */
function localSettings({ rule }: Written): readonly ConnectionPolicy[] {
  const { portLevelSettings = [], ...policy } = rule?.spec?.trafficPolicy ?? {};
  return [policy, ...portLevelSettings];
}

test("pods that come or go in another cluster change nothing for connections to the own one, nor the order of the rest", () => {
  fc.assert(
    fc.property(world, fc.constantFrom(...CLUSTERS), fc.nat(2), (drawn, changed, pods) => {
      const next: World = { ...drawn, places: { ...drawn.places, [changed]: { ...drawn.places[changed], pods } } };
      const { first, second } = snapshotAfter(drawn, next);
      const before = soundTranslation(first, OPTIONS);
      const after = soundTranslation(second, OPTIONS, before);
      expect([...after.networking]).toEqual([...soundTranslation(second, OPTIONS).networking]);
      for (const from of CLUSTERS.filter((cluster) => cluster !== changed)) {
        const [was, is] = [writtenIn(before, from), writtenIn(after, from)];
        expect(localSettings(is)).toEqual(localSettings(was));
        const others = (one: Written) => (one.entry?.spec?.endpoints ?? []).filter(({ address }) => clusterOf(address) !== changed);
        expect(others(is)).toEqual(others(was));
      }
    }),
    { numRuns: runs(150) },
  );
});

test("without the switch, the trust or mutual TLS, a service is as if it were in no other cluster", () => {
  fc.assert(
    fc.property(world, fc.constantFrom("isOn", "isTrusted", "isMutual"), (drawn, missing) => {
      const without: World = { ...drawn, [missing]: false };
      const given = soundTranslation(snapshotOf(objectsOf(without)), OPTIONS);
      for (const from of CLUSTERS) {
        const { entry, rule } = writtenIn(given, from);
        expect(entry).toBeUndefined();
        expect(rule?.spec?.trafficPolicy?.portLevelSettings).toBeUndefined();
      }
      // As well when it goes, or comes.
      for (const [one, other] of [
        [drawn, without],
        [without, drawn],
      ] as const) {
        const { first, second } = snapshotAfter(one, other);
        expect([...soundTranslation(second, OPTIONS, soundTranslation(first, OPTIONS)).networking]).toEqual([
          ...soundTranslation(second, OPTIONS).networking,
        ]);
      }
    }),
    { numRuns: runs(100) },
  );
});

test("offline clusters are left out while anything else can answer, in the same order, and come back", () => {
  fc.assert(
    fc.property(world, fc.subarray([...CLUSTERS]), (drawn, away) => {
      const given = snapshotOf(objectsOf(drawn));
      const all = soundTranslation(given, OPTIONS);
      const offline = new Set<string>(away);
      const without = soundTranslation(given, { ...OPTIONS, offline }, all);
      expect([...without.networking]).toEqual([...soundTranslation(given, { ...OPTIONS, offline }).networking]);
      expect([...soundTranslation(given, OPTIONS, without).networking]).toEqual([...all.networking]);
      for (const from of CLUSTERS) {
        const [kept, before] = [writtenIn(without, from), writtenIn(all, from)];
        const known = before.entry?.spec?.endpoints ?? [];
        const online = known.filter(({ address }) => !offline.has(clusterOf(address) ?? ""));
        const isAlone = online.length === 0 && !isAnswering(drawn.places[from]);
        expect(kept.entry?.spec?.endpoints ?? []).toEqual(isAlone ? known : online);
        expect(kept.rule).toEqual(before.rule);
      }
      // What gateways read has no other cluster to begin with.
      const ofGateways = (one: Translation) => [...one.networking].filter(({ resource }) => resource.metadata.namespace === "istio-system");
      expect(ofGateways(without)).toEqual(ofGateways(all));
    }),
    { numRuns: runs(150) },
  );
});
