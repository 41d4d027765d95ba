import { KubernetesCluster, ServiceEntry, Settings, VirtualDestination } from "@isthmus/api";
import { type Resource, snapshotOf } from "@isthmus/core";
import { virtualClock } from "@isthmus/simulator";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { offlineClusters } from "../src/server/offlineClusters.ts";
import { endpointsExcluded, isExcluded, wasExcluded } from "../src/server/statuses/endpointsExcluded.ts";
import type { ClusterState } from "../src/snapshots/snapshotStore.ts";
import { bookinfoMesh, demoFleet, type Fleet, register } from "./fleet.ts";
import { eventually, quiet } from "./virtualTime.ts";

const namespace = "gloo-mesh";

/** `before`: clusters that a server before this one has excluded. */
function fleetWith(failover: object | undefined, before: readonly string[] = []) {
  const clock = virtualClock();
  const { apiVersion, kind } = KubernetesCluster;
  const registered = ["east", "west"].map((name) => {
    const status = { conditions: [...endpointsExcluded(before.includes(name))] };
    return KubernetesCluster.parse({ apiVersion, kind, metadata: { name, namespace }, status });
  });
  const settings = Settings.parse({
    apiVersion: Settings.apiVersion,
    kind: Settings.kind,
    metadata: { name: "settings", namespace },
    spec: failover === undefined ? {} : { failover },
  });
  const clusters = new Map<string, ClusterState>();
  const set = (name: string, connected: boolean) =>
    clusters.set(name, { phase: connected ? "synced" : "stale", connected, isServed: connected, malformed: new Map() });
  set("east", true);
  set("west", true);
  let changes = 0;
  const snapshot = snapshotOf([...registered, settings]);
  const told = offlineClusters(
    { view: () => ({ snapshot }), store: { clusters }, namespace, registration: KubernetesCluster, clock, changed: () => void changes++ },
    new AbortController().signal,
  );
  return { clock, set, told, changes: () => changes };
}

describe("clusters that are offline", () => {
  test("are excluded after the time that the Settings say, and come back at once", async () => {
    const { clock, set, told, changes } = fleetWith({ excludeOffline: { after: "120s" } });
    expect([...told.excluded()]).toEqual([]);
    set("west", false);
    await clock.advance(110_000);
    expect([[...told.excluded()], changes()]).toEqual([[], 0]);
    await clock.advance(20_000);
    expect(changes()).toBeGreaterThan(0);
    const excluded = told.excluded();
    expect([...excluded]).toEqual(["west"]);
    expect(told.excluded()).toBe(excluded);
    const before = changes();
    set("west", true);
    await clock.advance(10_000);
    expect(changes()).toBeGreaterThan(before);
    expect([...told.excluded()]).toEqual([]);
  });

  test("count from again after they were back", async () => {
    const { clock, set, told } = fleetWith({ excludeOffline: { after: "60s" } });
    set("west", false);
    await clock.advance(50_000);
    set("west", true);
    await clock.advance(10_000);
    set("west", false);
    await clock.advance(50_000);
    expect([...told.excluded()]).toEqual([]);
  });

  test("stay excluded from the first moment of a server that finds them so, and count from again once they were back", async () => {
    const { clock, set, told } = fleetWith({ excludeOffline: { after: "60s" } }, ["east", "west"]);
    // The agent of east has come to this server at once.
    set("west", false);
    expect([...told.excluded()]).toEqual(["west"]);
    set("west", true);
    expect([...told.excluded()]).toEqual([]);
    for (const name of ["east", "west"]) set(name, false);
    await clock.advance(50_000);
    expect([...told.excluded()]).toEqual([]);
    await clock.advance(20_000);
    expect([...told.excluded()]).toEqual(["east", "west"]);
  });

  test("are back when the Settings do not ask for it any more, whatever a server before has said", () => {
    const { set, told } = fleetWith(undefined, ["west"]);
    set("west", false);
    expect([...told.excluded()]).toEqual([]);
  });

  test.each([
    [true, undefined, true],
    [false, undefined, false],
    [true, [], false],
    [false, ["west"], true],
  ])("are written as excluded: %j before, %j decided: %j", (before, decided, after) => {
    const status = { conditions: [...endpointsExcluded(before)] };
    const west = { apiVersion: KubernetesCluster.apiVersion, kind: KubernetesCluster.kind, metadata: { name: "west", namespace }, status };
    expect(isExcluded(west, decided && new Set(decided))).toBe(after);
  });

  test("are kept by default, however long they are offline", async () => {
    const { clock, set, told, changes } = fleetWith(undefined);
    set("west", false);
    await clock.advance(3_600_000);
    expect([[...told.excluded()], changes()]).toEqual([[], 0]);
  });

  test.each([
    [{ excludeOffline: {} }, 290_000, 310_000],
    [{ excludeOffline: { after: "1s" } }, 20_000, 40_000],
  ])("are excluded by %j no earlier than the default or the least time", async (failover, early, late) => {
    const { clock, set, told } = fleetWith(failover);
    set("west", false);
    await clock.advance(early);
    expect([...told.excluded()]).toEqual([]);
    await clock.advance(late - early);
    expect([...told.excluded()]).toEqual(["west"]);
  });
});

describe("a host for two clusters, one of which loses its agent", () => {
  let fleet: Fleet;
  beforeEach(() => {
    fleet = demoFleet();
  });
  afterEach(() => fleet.stop());

  const host = {
    apiVersion: VirtualDestination.apiVersion,
    kind: VirtualDestination.kind,
    metadata: { name: "reviews", namespace },
    spec: {
      hostname: "reviews.mesh.global",
      port: { number: 9080 },
      virtualMesh: { name: bookinfoMesh.metadata.name, namespace },
      localized: { destinationSelectors: [{ kubeServiceMatcher: { labels: { app: "reviews" } } }] },
    },
  };

  /** How many endpoints the clients of the first cluster have. */
  async function endpoints(): Promise<number> {
    const entry = await fleet.clusters["cluster-1"]?.get(ServiceEntry, { name: `reviews.${namespace}`, namespace });
    return entry?.spec?.endpoints?.length ?? 0;
  }

  /** Whether `reviews` of the first cluster fails over to the second one under its own name. */
  async function failsOver(): Promise<boolean> {
    const name = { name: "reviews.bookinfo.failover.global", namespace: "bookinfo" };
    const entry = await fleet.clusters["cluster-1"]?.get(ServiceEntry, name);
    return (entry?.spec?.endpoints?.length ?? 0) > 0;
  }

  async function started(settings: object, virtualMesh: Resource = bookinfoMesh): Promise<number> {
    // Where the agents run, and what is for clients is written.
    for (const cluster of Object.values(fleet.clusters))
      cluster.load([{ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } }]);
    await register(fleet);
    const { apiVersion, kind } = Settings;
    await fleet.management.create({ apiVersion, kind, metadata: { name: "settings", namespace }, spec: { ...settings } } as Resource);
    fleet.startServer();
    fleet.startAgent("cluster-1");
    fleet.startAgent("cluster-2");
    await fleet.management.create(virtualMesh);
    await fleet.management.create(host);
    return eventually(async () => {
      const found = await endpoints();
      expect(found).toBeGreaterThan(1);
      return found;
    });
  }

  test("is served by the other one alone after the stated time, and by both when the agent is back", async () => {
    const both = await started({ failover: { excludeOffline: { after: "60s" } } });
    await quiet();
    await fleet.stopAgent("cluster-2");
    await quiet(40_000);
    expect(await endpoints()).toBe(both);
    await eventually(async () => expect(await endpoints()).toBe(both - 1));
    fleet.startAgent("cluster-2");
    await eventually(async () => expect(await endpoints()).toBe(both));
  });

  test("is no more what a federated service of the same name fails over to, until its agent is back", async () => {
    const { spec } = bookinfoMesh as Resource & { readonly spec: { readonly federation?: object } };
    const failingOver = {
      ...bookinfoMesh,
      spec: { ...spec, mtlsConfig: { shared: {} }, federation: { ...spec.federation, failover: {} } },
    };
    const mtls = { istio: { tlsMode: "ISTIO_MUTUAL" } };
    await started({ mtls, failover: { excludeOffline: { after: "60s" } } }, failingOver);
    await eventually(async () => expect(await failsOver()).toBe(true));
    await fleet.stopAgent("cluster-2");
    await quiet(40_000);
    expect(await failsOver()).toBe(true);
    await eventually(async () => expect(await failsOver()).toBe(false));
    fleet.startAgent("cluster-2");
    await eventually(async () => expect(await failsOver()).toBe(true));
  });

  test("stays without it while another server takes over, until its agent is back", async () => {
    const both = await started({ failover: { excludeOffline: { after: "60s" } } });
    await fleet.stopAgent("cluster-2");
    await eventually(async () => expect(await endpoints()).toBe(both - 1));
    await eventually(async () => expect(await isWritten()).toBe(true));
    await fleet.stopServer();
    fleet.startServer();
    // Less than the stated time, and enough for the server to write what it wants.
    for (let seconds = 0; seconds < 50; seconds += 5) {
      await quiet(5_000);
      expect([await endpoints(), await isWritten()]).toEqual([both - 1, true]);
    }
    fleet.startAgent("cluster-2");
    await eventually(async () => expect([await endpoints(), await isWritten()]).toEqual([both, false]));
  });

  async function isWritten(): Promise<boolean> {
    const registration = await fleet.management.get(KubernetesCluster, { name: "cluster-2", namespace });
    return registration !== undefined && wasExcluded(registration);
  }

  test("keeps both by default", async () => {
    const both = await started({});
    await fleet.stopAgent("cluster-2");
    await quiet(400_000);
    expect(await endpoints()).toBe(both);
  });
});
