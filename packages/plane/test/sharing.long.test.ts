import { randomUUID } from "node:crypto";
import { Service, ServiceEntry, VirtualService } from "@isthmus/api";
import type { Resource } from "@isthmus/core";
import { type MemoryStore, memoryStore, readFleet } from "@isthmus/store";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { bookinfoMesh, demoFleet, type Fleet, ours, register, statusOf, timeoutPolicy, written } from "./fleet.ts";
import { lead } from "./lead.ts";
import { clock, eventually, quiet } from "./virtualTime.ts";

let fleet: Fleet;
let store: MemoryStore;

beforeEach(() => {
  fleet = demoFleet();
  store = memoryStore({ clock, id: randomUUID });
});
afterEach(() => fleet.stop());

const cluster = (name: string) => fleet.clusters[name] as NonNullable<(typeof fleet.clusters)[string]>;
const everything = () => [...written(cluster("cluster-1")), ...written(cluster("cluster-2"))];

/** Two servers, each with the agent of one cluster; `a` leads. */
async function pair(): Promise<ReturnType<typeof lead>> {
  const leads = lead();
  await register(fleet);
  for (const name of ["a", "b"]) fleet.startServer(name, { store, leadership: leads.of(name) });
  fleet.route("cluster-1", "a");
  fleet.route("cluster-2", "b");
  fleet.startAgent("cluster-1");
  fleet.startAgent("cluster-2");
  await fleet.management.create(bookinfoMesh);
  await eventually(async () => expect(await isApplied(bookinfoMesh)).toBe(true));
  await agreed("a", "b");
  return leads;
}

async function isApplied(resource: Resource): Promise<boolean> {
  const { state, conditions = [] } = await statusOf(fleet, resource);
  return state === "ACCEPTED" && conditions.some(({ type, status }) => type === "Applied" && status === "True");
}

function digestsOf(name: string): object {
  return Object.fromEntries([...fleet.server(name).sharing.digests].sort());
}

/** Waits until servers want the same, in every cluster. */
async function agreed(...names: readonly [string, ...string[]]): Promise<object> {
  await eventually(() => {
    const [first, ...others] = names.map(digestsOf);
    expect(Object.keys(first ?? {})).toEqual(["", "cluster-1", "cluster-2"]);
    for (const other of others) expect(other).toEqual(first);
  });
  return digestsOf(names[0]);
}

async function timeouts(): Promise<readonly (string | undefined)[]> {
  const services = await Promise.all(
    ["cluster-1", "cluster-2"].map((name) => cluster(name).get(VirtualService, { name: "reviews", namespace: "bookinfo" })),
  );
  return services.map((service) => service?.spec?.http?.[0]?.timeout);
}

const stored = async (clusterName: string) => (await readFleet(store, "input")).find((one) => one.clusterName === clusterName);

describe("two servers over one store", () => {
  it("see the whole fleet, want the same, and report on what the other delivered", async () => {
    await pair();
    expect(await ours(cluster("cluster-1"), ServiceEntry)).toContain("reviews.bookinfo.svc.cluster-2.global.istio-system");
    expect(await ours(cluster("cluster-2"), ServiceEntry)).toContain("productpage.bookinfo.svc.cluster-1.global.istio-system");
    await fleet.management.create(timeoutPolicy);
    await eventually(async () => expect(await timeouts()).toEqual(["2s", "2s"]));
    await eventually(async () => expect(await isApplied(timeoutPolicy)).toBe(true));
    await agreed("a", "b");
    expect(fleet.server("a").store.clusters.get("cluster-2")).toMatchObject({ phase: "synced", connected: true, isServed: false });
  });

  it("follow each other: a Service that goes in one cluster goes in the other's outputs", async () => {
    await pair();
    const name = "details.bookinfo.svc.cluster-1.global.istio-system";
    expect(await ours(cluster("cluster-2"), ServiceEntry)).toContain(name);
    await cluster("cluster-1").delete({ ...Service, name: "details", namespace: "bookinfo", clusterName: "cluster-1" });
    await eventually(async () => expect(await ours(cluster("cluster-2"), ServiceEntry)).not.toContain(name));
    await agreed("a", "b");
  });

  it("take over the agents of one that is killed, and write nothing for it", async () => {
    const leads = await pair();
    const before = everything();
    fleet.route("cluster-1", "b");
    await fleet.stopServer("a");
    leads.pass("b");
    await eventually(() => expect(fleet.server("b").store.clusters.get("cluster-1")).toMatchObject({ phase: "synced", isServed: true }));
    await quiet();
    expect(everything()).toEqual(before);
    await fleet.management.create(timeoutPolicy);
    await eventually(async () => expect(await isApplied(timeoutPolicy)).toBe(true));
    expect(await timeouts()).toEqual(["2s", "2s"]);
    expect((await stored("cluster-1"))?.meta).toMatchObject({ servedBy: fleet.server("b").sharing.instance, connected: true });
  });

  it("end a connection when the agent has gone to the other server", async () => {
    await pair();
    const before = everything();
    fleet.network("a").silence("cluster-1");
    fleet.route("cluster-1", "b");
    void fleet.stopAgent("cluster-1");
    fleet.startAgent("cluster-1");
    await eventually(() => {
      expect(fleet.server("b").store.clusters.get("cluster-1")).toMatchObject({ phase: "synced", isServed: true });
      expect(fleet.server("a").store.clusters.get("cluster-1")).toMatchObject({ connected: true, isServed: false });
    });
    await quiet();
    await agreed("a", "b");
    expect(everything()).toEqual(before);
  });

  it("refill a store that was emptied, and write nothing to any cluster meanwhile", async () => {
    await pair();
    const [before, head] = [everything(), await store.head({ section: "input", clusterName: "cluster-1" })];
    store.faults.wipe();
    await eventually(async () => {
      for (const name of ["cluster-1", "cluster-2"]) expect((await stored(name))?.complete).toBe(true);
      expect((await readFleet(store, "translated")).map(({ complete }) => complete)).toEqual([true, true, true]);
    });
    expect((await stored("cluster-1"))?.kinds).toEqual(head?.kinds);
    await agreed("a", "b");
    expect(everything()).toEqual(before);
  });

  it("go on from memory while the store is offline, say so, and catch up afterwards", async () => {
    await pair();
    store.faults.stop();
    await fleet.management.create(timeoutPolicy);
    await eventually(async () => expect(await timeouts()).toEqual(["2s", "2s"]));
    const metric = (name: string) =>
      fleet
        .server("a")
        .metrics()
        .find((one) => one.name === name)?.value;
    await eventually(() =>
      expect([metric("gloo_mesh_store_up"), metric("gloo_mesh_redis_sync_err_total")]).toEqual([0, expect.any(Number)]),
    );
    expect(metric("gloo_mesh_redis_sync_err_total")).toBeGreaterThan(0);
    const late: Resource = {
      ...Service,
      metadata: { name: "late", namespace: "bookinfo" },
      spec: { ports: [{ port: 80, name: "http" }], selector: { app: "reviews" } },
    } as Resource;
    await cluster("cluster-1").create({
      apiVersion: "v1",
      kind: "Service",
      metadata: late.metadata,
      spec: (late as { spec?: unknown }).spec,
    } as Resource);
    store.faults.start();
    await eventually(async () =>
      expect(await ours(cluster("cluster-2"), ServiceEntry)).toContain("late.bookinfo.svc.cluster-1.global.istio-system"),
    );
    await agreed("a", "b");
    expect(metric("gloo_mesh_store_up")).toBe(1);
  });

  it.each(["loseWrites", "loseAnswers", "loseNotices"] as const)(
    "agree again after a store that %s",
    async (fault) => {
      await pair();
      store.faults[fault](3);
      await fleet.management.create(timeoutPolicy);
      await cluster("cluster-1").delete({ ...Service, name: "details", namespace: "bookinfo", clusterName: "cluster-1" });
      const name = "details.bookinfo.svc.cluster-1.global.istio-system";
      await eventually(async () => expect(await ours(cluster("cluster-2"), ServiceEntry)).not.toContain(name));
      await agreed("a", "b");
      const { kinds } = (await stored("cluster-1")) ?? {};
      expect(kinds?.["/Service"]?.count).toBe(servicesIn("cluster-1"));
    },
    30_000,
  );

  it("forget a cluster whose registration is deleted, in the store as well", async () => {
    await pair();
    await fleet.management.delete({
      apiVersion: "multicluster.solo.io/v1alpha1",
      kind: "KubernetesCluster",
      name: "cluster-1",
      namespace: "gloo-mesh",
      clusterName: "",
    });
    await eventually(async () => {
      expect((await readFleet(store, "input")).map(({ clusterName }) => clusterName)).toEqual(["cluster-2"]);
      expect((await readFleet(store, "translated")).map(({ clusterName }) => clusterName)).toEqual(["", "cluster-2"]);
    });
    expect(store.texts().some((text) => text.includes(`"clusterName":"cluster-1"`))).toBe(false);
  });
});

describe("a server that starts with a filled store", () => {
  it("wants what was desired before, with no agent there", async () => {
    await pair();
    const before = await agreed("a", "b");
    await Promise.all([fleet.stopAgent("cluster-1"), fleet.stopAgent("cluster-2")]);
    await Promise.all([fleet.stopServer("a"), fleet.stopServer("b")]);
    fleet.startServer("c", { store });
    expect(await agreed("c")).toEqual(before);
    expect(fleet.server("c").store.clusters.get("cluster-1")).toMatchObject({ phase: "stale", isServed: false });
  });

  it("takes a half-filled store for unknown, not for empty", async () => {
    await pair();
    await Promise.all([fleet.stopAgent("cluster-1"), fleet.stopAgent("cluster-2")]);
    await Promise.all([fleet.stopServer("a"), fleet.stopServer("b")]);
    const before = everything();
    const partition = { section: "input", clusterName: "cluster-1" } as const;
    const fence = await store.raiseFence("input/cluster-1", "half");
    const head = await store.head(partition);
    await store.write({
      partition,
      fence,
      base: head?.version,
      sequence: 1,
      delta: { erase: ["/Service"], put: [], remove: [] },
      complete: false,
      kinds: {},
      meta: {},
    });
    fleet.startServer("c", { store });
    fleet.route("cluster-2", "c");
    fleet.startAgent("cluster-2");
    await eventually(() => expect(fleet.server("c").store.clusters.get("cluster-2")?.phase).toBe("synced"));
    await quiet();
    expect(fleet.server("c").store.clusters.get("cluster-1")?.phase ?? "unknown").toBe("unknown");
    expect(everything()).toEqual(before);
  });
});

it("puts no user's Secret into the store", async () => {
  await pair();
  const secret = {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "canary", namespace: "bookinfo" },
    data: { key: btoa("canary-in-a-secret") },
  };
  await cluster("cluster-1").create(secret as Resource);
  await fleet.management.create({ ...secret, metadata: { name: "canary", namespace: "gloo-mesh" } } as Resource);
  await fleet.management.create(timeoutPolicy);
  await eventually(async () => expect(await isApplied(timeoutPolicy)).toBe(true));
  await quiet();
  expect(store.texts().length).toBeGreaterThan(50);
  expect(store.texts().filter((text) => text.includes(btoa("canary-in-a-secret")) || text.includes("canary-in-a-secret"))).toEqual([]);
});

function servicesIn(clusterName: string): number {
  return [...fleet.server("b").store.snapshot.of(Service)].filter(({ metadata }) => metadata.clusterName === clusterName).length;
}
