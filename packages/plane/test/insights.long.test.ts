import { randomUUID } from "node:crypto";
import { Settings, VirtualService } from "@isthmus/api";
import { type AnyResource, refOf } from "@isthmus/core";
import { type MemoryStore, memoryStore, readFleet } from "@isthmus/store";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { demoFleet, type Fleet, register } from "./fleet.ts";
import { lead } from "./lead.ts";
import { clock, eventually, meanwhile, quiet } from "./virtualTime.ts";

let fleet: Fleet;
let store: MemoryStore;

beforeEach(() => {
  fleet = demoFleet();
  store = memoryStore({ clock, id: randomUUID });
});
afterEach(() => fleet.stop());

const cluster = (name: string) => fleet.clusters[name] as NonNullable<(typeof fleet.clusters)[string]>;

/** In force in every namespace, as it does not say otherwise: BP0001. */
const everywhere: AnyResource = {
  apiVersion: "networking.istio.io/v1",
  kind: VirtualService.kind,
  metadata: { name: "everywhere", namespace: "bookinfo" },
  spec: { hosts: ["reviews"], http: [{ route: [{ destination: { host: "reviews" } }] }] },
};

/** What a server tells of one object: since when, whether suppressed, and what has ended. */
async function told(server: string, name = "everywhere") {
  // What is read of the store gives way to others.
  const found = await meanwhile(fleet.server(server).insights());
  const objects = [...(found?.objects ?? [])].filter(({ object }) => object.name === name);
  return {
    current: objects.flatMap(({ insights }) =>
      insights.filter(({ insight }) => insight.code === "BP0001").map(({ since, suppression }) => ({ since, reason: suppression?.reason })),
    ),
    ended: [...(found?.ended ?? [])].filter(({ object, code }) => object.name === name && code === "BP0001").map(({ until }) => until),
    unknown: found?.unknown,
    at: found?.at ?? 0,
  };
}

/** Two servers over one store, each with the agent of one cluster; `a` leads. */
async function pair(): Promise<ReturnType<typeof lead>> {
  const leads = lead();
  await register(fleet);
  await cluster("cluster-1").create(everywhere);
  for (const name of ["a", "b"]) fleet.startServer(name, { store, leadership: leads.of(name) });
  fleet.route("cluster-1", "a");
  fleet.route("cluster-2", "b");
  fleet.startAgent("cluster-1");
  fleet.startAgent("cluster-2");
  await eventually(async () => expect((await told("a")).current).toHaveLength(1));
  return leads;
}

function countOf(server: string, metric: string): number | undefined {
  return fleet
    .server(server)
    .metrics()
    .find(({ name, labels }) => name === metric && labels["code"] === "BP0001")?.value;
}

describe("insights of a running plane", () => {
  it("begin and end with what they are about, and are counted", async () => {
    await register(fleet);
    fleet.startServer();
    for (const name of ["cluster-1", "cluster-2"]) fleet.startAgent(name);
    await eventually(async () => expect((await told("server")).unknown).toEqual([]));
    const before = clock.now();
    await cluster("cluster-1").create(everywhere);
    await eventually(async () => expect((await told("server")).current).toHaveLength(1));
    const since = (await told("server")).current[0]?.since ?? 0;
    expect(since).toBeGreaterThan(before);
    expect(countOf("server", "gloo_mesh_insights")).toBe(1);
    // Looked at once a minute, and still the same.
    await quiet(150_000);
    const later = await told("server");
    expect(later.current).toEqual([{ since, reason: undefined }]);
    expect(clock.now() - later.at).toBeLessThan(70_000);
    await cluster("cluster-1").delete(refOf(everywhere));
    await eventually(async () => expect((await told("server")).ended).toHaveLength(1));
    expect((await told("server")).current).toEqual([]);
    expect(countOf("server", "gloo_mesh_insights")).toBe(undefined);
  });

  it("that the Settings suppress stay countable", async () => {
    await register(fleet);
    fleet.startServer();
    for (const name of ["cluster-1", "cluster-2"]) fleet.startAgent(name);
    await cluster("cluster-1").create(everywhere);
    const suppressions = [{ code: "BP0001", object: { cluster: "cluster-1" }, reason: "shared" }];
    await fleet.management.create({
      apiVersion: Settings.apiVersion,
      kind: Settings.kind,
      metadata: { name: "settings", namespace: "gloo-mesh" },
      spec: { insights: { suppressions } },
    } as AnyResource);
    await eventually(async () => expect((await told("server")).current).toMatchObject([{ reason: "shared" }]));
    expect(countOf("server", "gloo_mesh_insights")).toBe(0);
    expect(countOf("server", "gloo_mesh_insights_suppressed")).toBe(1);
  });

  it("say that a cluster is offline, which translation does not read", async () => {
    await register(fleet);
    fleet.startServer();
    for (const name of ["cluster-1", "cluster-2"]) fleet.startAgent(name);
    await eventually(async () => expect((await fleet.server().insights())?.unknown).toEqual([]));
    await fleet.stopAgent("cluster-2");
    await eventually(async () => {
      const found = [...((await fleet.server().insights())?.objects ?? [])].flatMap(({ insights }) => insights);
      expect(found.filter(({ insight }) => insight.code === "REL1001").map(({ insight }) => insight.object.name)).toEqual(["cluster-2"]);
    });
  });
});

describe("insights in the store", () => {
  it("are what the leader has found, for the other replica and for readers of the store", async () => {
    await pair();
    await eventually(async () => expect((await told("b")).current).toEqual((await told("a")).current));
    expect(countOf("b", "gloo_mesh_insights")).toBe(undefined);
    const [kept] = await readFleet(store, "insights");
    expect(kept?.clusterName).toBe("");
    expect(kept?.meta["at"]).toBe((await told("b")).at);
    const names: string[] = [];
    for await (const page of kept?.objects("networking.istio.io/VirtualService") ?? [])
      names.push(...page.map(({ metadata }) => metadata.name));
    expect(names).toContain("everywhere");
  });

  it("have begun when they began, no matter which replica leads", async () => {
    const leads = await pair();
    const { current } = await told("a");
    await eventually(async () => expect((await told("b")).current).toEqual(current));
    await quiet(10_000);
    leads.pass("b");
    await eventually(() => expect(countOf("b", "gloo_mesh_insights")).toBe(1));
    await eventually(async () => expect((await told("b")).current).toEqual(current));
    await cluster("cluster-1").delete(refOf(everywhere));
    await eventually(async () => expect((await told("b")).ended).toHaveLength(1));
    await eventually(async () => expect((await told("a")).ended).toEqual((await told("b")).ended));
  });

  it("have not ended for a server that knows nothing of their cluster", async () => {
    await pair();
    const { current } = await told("a");
    await eventually(async () => expect((await told("b")).current).toEqual(current));
    for (const name of ["cluster-1", "cluster-2"]) await fleet.stopAgent(name);
    for (const name of ["a", "b"]) await fleet.stopServer(name);
    // What agents reported is lost; what was found is not.
    const fence = await store.raiseFence("input/cluster-1", "test");
    await store.clear({ section: "input", clusterName: "cluster-1" }, fence);
    fleet.startServer("c", { store });
    fleet.route("cluster-2", "c");
    fleet.startAgent("cluster-2");
    await eventually(async () => expect(await told("c")).toMatchObject({ current, ended: [], unknown: ["cluster-1"] }));
    await quiet(120_000);
    expect(await told("c")).toMatchObject({ current, ended: [], unknown: ["cluster-1"] });
    await cluster("cluster-1").delete(refOf(everywhere));
    fleet.route("cluster-1", "c");
    fleet.startAgent("cluster-1");
    await eventually(async () => expect((await told("c")).ended).toHaveLength(1));
    expect(await told("c")).toMatchObject({ current: [], unknown: [] });
  });
});
