import { KubernetesCluster, ServiceEntry, Settings, VirtualDestination } from "@isthmus/api";
import { type Resource, snapshotOf } from "@isthmus/core";
import { virtualClock } from "@isthmus/simulator";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { offlineClusters } from "../src/server/offlineClusters.ts";
import type { ClusterState } from "../src/snapshots/snapshotStore.ts";
import { bookinfoMesh, demoFleet, type Fleet, register } from "./fleet.ts";
import { eventually, quiet } from "./virtualTime.ts";

const namespace = "gloo-mesh";

function fleetWith(failover: object | undefined) {
  const clock = virtualClock();
  const registered = ["east", "west"].map((name) =>
    KubernetesCluster.parse({ apiVersion: KubernetesCluster.apiVersion, kind: KubernetesCluster.kind, metadata: { name, namespace } }),
  );
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

describe("clusters that are away", () => {
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

  test("count from anew after they were back", async () => {
    const { clock, set, told } = fleetWith({ excludeOffline: { after: "60s" } });
    set("west", false);
    await clock.advance(50_000);
    set("west", true);
    await clock.advance(10_000);
    set("west", false);
    await clock.advance(50_000);
    expect([...told.excluded()]).toEqual([]);
  });

  test("are kept by default, however long they are away", async () => {
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

  async function started(failover: object): Promise<number> {
    // Where the agents run, and what is for clients is written.
    for (const cluster of Object.values(fleet.clusters))
      cluster.load([{ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } }]);
    await register(fleet);
    const { apiVersion, kind } = Settings;
    await fleet.management.create({ apiVersion, kind, metadata: { name: "settings", namespace }, spec: { ...failover } } as Resource);
    fleet.startServer();
    fleet.startAgent("cluster-1");
    fleet.startAgent("cluster-2");
    await fleet.management.create(bookinfoMesh);
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

  test("keeps both by default", async () => {
    const both = await started({});
    await fleet.stopAgent("cluster-2");
    await quiet(400_000);
    expect(await endpoints()).toBe(both);
  });
});
