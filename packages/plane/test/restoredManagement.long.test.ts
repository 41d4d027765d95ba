import { randomUUID } from "node:crypto";
import { ServiceEntry, type TrafficPolicy, VirtualService } from "@isthmus/api";
import { type Resource, type ResourceRef, refOf } from "@isthmus/core";
import { type MemoryStore, memoryStore } from "@isthmus/store";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { bookinfoMesh, demoFleet, type Fleet, ours, register, statusOf, timeoutPolicy, written } from "./fleet.ts";
import { clock, eventually, quiet } from "./virtualTime.ts";

let fleet: Fleet;
beforeEach(() => {
  fleet = demoFleet();
});
afterEach(() => fleet.stop());

// Longer than the restored objects of a workload cluster are waited with, and than a full sync takes.
const LONG = 3 * 60_000;
const namespace = "gloo-mesh";
const cluster = (name: string) => fleet.clusters[name] as NonNullable<(typeof fleet.clusters)[string]>;
const everything = () => [...written(cluster("cluster-1")), ...written(cluster("cluster-2"))];

function kubernetesCluster(name: string): Resource {
  return { apiVersion: "multicluster.solo.io/v1alpha1", kind: "KubernetesCluster", metadata: { name, namespace } };
}

/** Everything that users wrote, carried out in both clusters. */
async function running(store?: MemoryStore): Promise<void> {
  await register(fleet);
  fleet.startServer("server", store === undefined ? {} : { store });
  fleet.startAgent("cluster-1");
  fleet.startAgent("cluster-2");
  await fleet.management.create(bookinfoMesh);
  await fleet.management.create(timeoutPolicy);
  await eventually(async () => {
    for (const resource of [bookinfoMesh, timeoutPolicy]) {
      const { conditions = [] } = await statusOf(fleet, resource);
      expect(conditions.find(({ type }) => type === "Applied")?.status).toBe("True");
    }
  });
  await quiet();
}

/** The management cluster is another one, in which nothing but `resources` was created again. */
async function restored(resources: readonly Resource[]): Promise<void> {
  await fleet.stopServer();
  for (const object of fleet.management.objects()) {
    if (object.metadata.namespace === undefined || object.metadata.namespace === "") continue;
    await fleet.management.delete(refOf(object)).catch(() => undefined);
  }
  for (const resource of resources) await fleet.management.create(resource);
}

interface DeletesPaused {
  readonly status?: string;
  readonly reason?: string;
  readonly message?: string;
}

async function paused(name: string): Promise<DeletesPaused> {
  const { conditions = [] } = await statusOf(fleet, kubernetesCluster(name));
  return (conditions.find(({ type }) => type === "DeletesPaused") ?? {}) as DeletesPaused;
}

async function approve(name: string): Promise<void> {
  const { apiVersion, kind, metadata } = kubernetesCluster(name);
  const annotations = { "isthmus.mesh/resume-deletes": String(clock.now()) };
  await fleet.management.apply({ apiVersion, kind, metadata: { ...metadata, annotations } } as Resource, {
    fieldManager: "operator",
    force: true,
  });
}

async function timeout(name: string): Promise<string | undefined> {
  const found = await cluster(name).get(VirtualService, { name: "reviews", namespace: "bookinfo" });
  return found?.spec?.http?.[0]?.timeout;
}

const unconfirmed = (name: string) =>
  fleet
    .server()
    .metrics()
    .find(({ name: metric, labels }) => metric === "relay_server_unconfirmed" && labels["cluster"] === name)?.value;

describe("a management cluster that is restored from resources alone, without a store", () => {
  const both = [kubernetesCluster("cluster-1"), kubernetesCluster("cluster-2"), bookinfoMesh, timeoutPolicy];

  it.each(["cluster-1", "cluster-2"])("deletes nothing while %s alone has been heard, nor when the other one comes late", async (early) => {
    await running();
    const late = early === "cluster-1" ? "cluster-2" : "cluster-1";
    const before = everything();
    await fleet.stopAgent(late);
    await restored(both);
    fleet.startServer();
    await eventually(async () => expect(await paused(early)).toMatchObject({ status: "True", reason: "SourcesUnknown" }));
    expect((await paused(early)).message).toContain(`not reported since this server started: ${late}`);
    await quiet(LONG);
    expect(everything()).toEqual(before);

    fleet.startAgent(late);
    await eventually(async () => {
      for (const name of [early, late]) expect((await paused(name)).status).toBe("False");
    });
    await quiet(LONG);
    expect(everything()).toEqual(before);
    expect([unconfirmed(early), unconfirmed(late)]).toEqual([0, 0]);
  });

  it("keeps what comes from a cluster whose registration is newer than the backup, until it is registered again", async () => {
    await running();
    const before = everything();
    await restored([kubernetesCluster("cluster-1"), bookinfoMesh, timeoutPolicy]);
    fleet.startServer();
    await eventually(async () => expect((await paused("cluster-1")).status).toBe("True"));
    expect(unconfirmed("cluster-1")).toBe(1);
    await quiet(LONG);
    expect(everything()).toEqual(before);

    await fleet.management.create(kubernetesCluster("cluster-2"));
    await eventually(async () => {
      for (const name of ["cluster-1", "cluster-2"]) expect((await paused(name)).status).toBe("False");
    });
    await quiet(LONG);
    expect(everything()).toEqual(before);
  });

  it("keeps what comes from a policy that is newer than the backup, over restarts of agents and server, until somebody approves", async () => {
    await running();
    const entries = await ours(cluster("cluster-1"), ServiceEntry);
    const { federation: _, ...spec } = bookinfoMesh.spec ?? {};
    await restored([...both.slice(0, 2), { ...bookinfoMesh, spec } as Resource]);
    fleet.startServer();
    await eventually(async () => expect((await paused("cluster-1")).status).toBe("True"));
    await fleet.stopAgent("cluster-1");
    fleet.startAgent("cluster-1");
    await quiet(LONG);
    await fleet.stopServer();
    fleet.startServer();
    await eventually(async () => expect((await paused("cluster-1")).status).toBe("True"));
    await quiet(LONG);
    expect(await ours(cluster("cluster-1"), ServiceEntry)).toEqual(entries);

    await approve("cluster-1");
    await eventually(async () => expect(await ours(cluster("cluster-1"), ServiceEntry)).toEqual([]));
    // Nobody approved it there.
    expect(await ours(cluster("cluster-2"), ServiceEntry)).not.toEqual([]);
    await eventually(async () => expect((await paused("cluster-1")).status).toBe("False"));
  });

  it("deletes at once what somebody deletes there, while other objects are on hold", async () => {
    await running();
    const entries = await ours(cluster("cluster-1"), ServiceEntry);
    await restored([kubernetesCluster("cluster-1"), timeoutPolicy]);
    fleet.startServer();
    await eventually(async () => expect((await paused("cluster-1")).status).toBe("True"));
    await fleet.management.delete(refOf({ ...timeoutPolicy, metadata: { ...timeoutPolicy.metadata, clusterName: "" } } as Resource));
    const started = clock.now();
    await eventually(async () => expect(await timeout("cluster-1")).toBeUndefined());
    expect(clock.now() - started).toBeLessThan(5_000);
    expect(await ours(cluster("cluster-1"), ServiceEntry)).toEqual(entries);
  });
});

describe("a policy that is deleted while no server runs", () => {
  const ref: ResourceRef = { ...refOf(timeoutPolicy as TrafficPolicy & Resource), clusterName: "" };
  let store: MemoryStore;
  beforeEach(async () => {
    store = memoryStore({ clock, id: randomUUID });
    await running(store);
  });

  it("is reverted at once where the store has what agents answered", async () => {
    await fleet.stopServer();
    await fleet.management.delete(ref);
    fleet.startServer("server", { store });
    await eventually(async () => expect([await timeout("cluster-1"), await timeout("cluster-2")]).toEqual([undefined, undefined]));
    await quiet();
    for (const name of ["cluster-1", "cluster-2"]) expect((await paused(name)).status).toBe("False");
  });

  it("is reverted, too, where agents connect before the store has been read", async () => {
    for (const name of ["cluster-1", "cluster-2"]) await fleet.stopAgent(name);
    await fleet.stopServer();
    await fleet.management.delete(ref);
    store.faults.slow(2_000);
    fleet.startServer("server", { store });
    for (const name of ["cluster-1", "cluster-2"]) fleet.startAgent(name);
    await eventually(async () => expect([await timeout("cluster-1"), await timeout("cluster-2")]).toEqual([undefined, undefined]));
    await quiet();
    for (const name of ["cluster-1", "cluster-2"]) expect((await paused(name)).status).toBe("False");
  });

  it("is on hold where the store was emptied meanwhile", async () => {
    const before = everything();
    await fleet.stopServer();
    await fleet.management.delete(ref);
    fleet.startServer("server", { store: memoryStore({ clock, id: randomUUID }) });
    await eventually(async () => {
      for (const name of ["cluster-1", "cluster-2"]) expect(await paused(name)).toMatchObject({ status: "True", reason: "SourcesUnknown" });
    });
    await quiet(LONG);
    expect(everything()).toEqual(before);
  });
});
