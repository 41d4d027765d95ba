import { randomUUID } from "node:crypto";
import { type AnyResource, kindKeyOf, type Resource, refOf } from "@isthmus/core";
import { type MemoryStore, memoryStore } from "@isthmus/store";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Store, StoreError, type StoreReader, serverRoles, storeReader } from "../src/index.ts";
import { bookinfoMesh, demoFleet, type Fleet, register } from "./fleet.ts";
import { recordingLog } from "./recordingLog.ts";
import { clock, eventually, meanwhile, quiet } from "./virtualTime.ts";

const { kinds } = serverRoles("gloo-mesh");
let fleet: Fleet;
let store: MemoryStore;
let stop: AbortController;

beforeEach(() => {
  fleet = demoFleet();
  store = memoryStore({ clock, id: randomUUID });
  stop = new AbortController();
});
afterEach(async () => {
  stop.abort();
  await fleet.stop();
});

/** A store of which a reader can change nothing, whatever it tries. */
function readOnly(): Store {
  const refuse = async (): Promise<never> => {
    throw new Error("a reader has written");
  };
  const writes = { write: refuse, clear: refuse, raiseFence: refuse, putRecord: refuse, removeRecord: refuse, exchangeRecord: refuse };
  return { ...store, ...writes, distrust: refuse };
}

function reading(over: Store = readOnly()): StoreReader {
  return storeReader({ store: over, kinds, clock, log: recordingLog() }, stop.signal);
}

async function running(): Promise<void> {
  await register(fleet);
  fleet.startServer("server", { store });
  for (const name of ["cluster-1", "cluster-2"]) fleet.startAgent(name);
  await eventually(async () => {
    for (const clusterName of ["cluster-1", "cluster-2"])
      expect((await store.head({ section: "input", clusterName }))?.complete).toBe(true);
    expect((await store.head({ section: "insights", clusterName: "" }))?.complete).toBe(true);
    expect((await store.overview("translated")).versions.has("cluster-1")).toBe(true);
  });
  await quiet();
}

const namesIn = (reader: StoreReader, clusterName: string, kind = "Service") =>
  [...(reader.clusters.get(clusterName)?.snapshot.collections().values() ?? [])]
    .flatMap((collection) => [...collection])
    .filter((one) => one.kind === kind)
    .map(({ metadata }) => metadata.name);

const service = (name: string): AnyResource => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name, namespace: "bookinfo" },
  spec: { ports: [{ name: "http", port: 80, targetPort: 80, protocol: "TCP" }], selector: { app: "reviews" } },
});

const inCluster = (resource: Resource, clusterName: string) => ({ ...refOf(resource), clusterName });

/** Writes an object into a partition as a server would, with its digest. */
async function written(clusterName: string, kindKey: string, key: string, resource: object): Promise<void> {
  const head = await store.head({ section: "input", clusterName });
  const number = (head?.version.fence ?? 0) + 1;
  await store.write({
    partition: { section: "input", clusterName },
    fence: { name: `input/${clusterName}`, number },
    base: head?.version,
    sequence: 1,
    delta: { erase: [], put: [{ kindKey, key, text: JSON.stringify(resource) }], remove: [] },
    complete: true,
    kinds: head?.kinds ?? {},
    meta: head?.meta ?? {},
  });
}

describe("a reader of the store", () => {
  it("has what servers wrote, while none runs, and writes nothing", async () => {
    await running();
    await fleet.management.create(bookinfoMesh);
    await eventually(async () => expect((await store.head({ section: "translated", clusterName: "cluster-1" }))?.kinds).not.toEqual({}));
    await quiet();
    await fleet.stopServer("server");
    const reader = reading();
    await meanwhile(reader.update(stop.signal));
    expect([...reader.clusters].map(([name, { phase, version, servedBy }]) => [name, phase, version, servedBy])).toEqual([
      ["cluster-1", expect.any(String), expect.any(String), "server-0"],
      ["cluster-2", expect.any(String), expect.any(String), "server-0"],
    ]);
    const own = fleet.clusters["cluster-1"]?.objects().filter(({ kind }) => kind === "Service") ?? [];
    expect(namesIn(reader, "cluster-1").sort()).toEqual(own.map(({ metadata }) => metadata.name).sort());
    expect(reader.clusters.get("cluster-1")?.changedAt).toBeUndefined();
    expect([...(reader.translated.get("cluster-1")?.collections().keys() ?? [])].length).toBeGreaterThan(0);
    expect(reader.insights.at).toBeGreaterThan(0);
    expect(reader.insights.objects.size).toBeGreaterThan(0);
    expect(reader.problems).toEqual([]);
  });

  it("knows which servers run, and the versions of those that say it", async () => {
    await register(fleet);
    fleet.startServer("new", { store, version: "1.5.0" });
    // A server of an earlier version, and records that no server has written.
    fleet.startServer("old", { store });
    for (const [name, text] of [
      ["hostile-1", "{"],
      ["hostile-2", "null"],
      ["hostile-3", JSON.stringify({ version: { toString: 1 } })],
      ["hostile-4", JSON.stringify({ version: "9".repeat(10_000) })],
    ] as const)
      await store.putRecord("replicas", name, text);
    const reader = reading();
    const versions = () => reader.servers.map(({ instance, version }) => [instance, version]);
    const others = [
      ["hostile-1", undefined],
      ["hostile-2", undefined],
      ["hostile-3", undefined],
      ["hostile-4", "9".repeat(64)],
    ];
    await eventually(async () => {
      await meanwhile(reader.update(stop.signal));
      expect(versions()).toEqual([...others, ["new-0", "1.5.0"], ["old-0", undefined]]);
    });
    await fleet.stopServer("new");
    await eventually(async () => {
      await meanwhile(reader.update(stop.signal));
      expect(versions()).toEqual([...others, ["old-0", undefined]]);
    });
  });

  it("shows the fleet though it cannot tell which servers run", async () => {
    await running();
    const reader = reading({ ...readOnly(), records: () => Promise.reject(new StoreError("the records are of another type")) });
    await meanwhile(reader.update(stop.signal));
    expect(namesIn(reader, "cluster-1").length).toBeGreaterThan(0);
    expect([reader.servers, reader.problems]).toEqual([[], []]);
  });

  it("follows writes without reading again, and keeps what did not change", async () => {
    await running();
    let loads = 0;
    const counted = readOnly();
    const reader = reading({
      ...counted,
      load: (partition, kindKey) => {
        loads++;
        return counted.load(partition, kindKey);
      },
    });
    await meanwhile(reader.update(stop.signal));
    const before = reader.clusters.get("cluster-1")?.snapshot.collections();
    loads = 0;
    await fleet.clusters["cluster-1"]?.create(service("fresh"));
    await eventually(async () => {
      await meanwhile(reader.update(stop.signal));
      expect(namesIn(reader, "cluster-1")).toContain("fresh");
    });
    expect(loads).toBe(0);
    const after = reader.clusters.get("cluster-1")?.snapshot.collections();
    expect(after?.get("apps/Deployment")).toBe(before?.get("apps/Deployment"));
    expect(reader.clusters.get("cluster-1")?.changedAt).toBeGreaterThan(0);
    await fleet.clusters["cluster-1"]?.delete(inCluster(service("fresh"), "cluster-1"));
    await eventually(async () => {
      await meanwhile(reader.update(stop.signal));
      expect(namesIn(reader, "cluster-1")).not.toContain("fresh");
    });
  });

  it("finds what it was not notified of", async () => {
    await running();
    const reader = reading({ ...readOnly(), subscribe: () => undefined });
    await meanwhile(reader.update(stop.signal));
    await fleet.clusters["cluster-2"]?.create(service("unheard"));
    await eventually(async () => {
      await meanwhile(reader.update(stop.signal));
      expect(namesIn(reader, "cluster-2")).toContain("unheard");
    });
  });

  it("keeps what it has while the store does not answer, and says which cluster cannot be read", async () => {
    await running();
    let fails: "nothing" | "all" | "cluster-1" = "nothing";
    const over = readOnly();
    const reader = reading({
      ...over,
      subscribe: () => undefined,
      overview: (section) => (fails === "all" ? Promise.reject(new StoreError("not reached")) : over.overview(section)),
      head: (partition) => (fails === partition.clusterName ? Promise.reject(new StoreError("no answer for it")) : over.head(partition)),
    });
    await meanwhile(reader.update(stop.signal));
    const known = namesIn(reader, "cluster-1");
    fails = "all";
    await quiet(10_000);
    await expect(meanwhile(reader.update(stop.signal))).rejects.toThrow("not reached");
    expect(namesIn(reader, "cluster-1")).toEqual(known);
    fails = "cluster-1";
    for (const name of ["cluster-1", "cluster-2"]) await fleet.clusters[name]?.create(service("fresh"));
    await quiet(10_000);
    await meanwhile(reader.update(stop.signal));
    expect(namesIn(reader, "cluster-1")).toEqual(known);
    expect(namesIn(reader, "cluster-2")).toContain("fresh");
    expect(reader.problems).toEqual(["no answer for it"]);
    fails = "nothing";
    await quiet(10_000);
    await meanwhile(reader.update(stop.signal));
    expect(namesIn(reader, "cluster-1")).toContain("fresh");
    expect(reader.problems).toEqual([]);
  });

  it("drops a cluster that a server has cleared, and none that is merely not there", async () => {
    await running();
    const reader = reading();
    await meanwhile(reader.update(stop.signal));
    await fleet.stopServer("server");
    const over = readOnly();
    const absent = reading({ ...over, overview: async (section) => ({ ...(await over.overview(section)), versions: new Map() }) });
    await meanwhile(absent.update(stop.signal));
    expect(absent.clusters.size).toBe(0);
    const fence = await store.raiseFence("input/cluster-1", "somebody");
    await store.clear({ section: "input", clusterName: "cluster-1" }, fence);
    await quiet();
    await meanwhile(reader.update(stop.signal));
    expect([...reader.clusters.keys()]).toEqual(["cluster-2"]);
  });

  it("takes no object of another cluster, of a kind that agents do not report, or that is not of its kind", async () => {
    await running();
    const reader = reading();
    await meanwhile(reader.update(stop.signal));
    await fleet.stopServer("server");
    const forged = [
      { ...service("other"), metadata: { name: "other", namespace: "bookinfo", clusterName: "cluster-2" } },
      { apiVersion: "v1", kind: "Secret", metadata: { name: "other", namespace: "bookinfo", clusterName: "cluster-1" }, data: { a: "b" } },
      {
        apiVersion: "networking.mesh.gloo.solo.io/v1",
        kind: "VirtualMesh",
        metadata: { name: "other", namespace: "gloo-mesh", clusterName: "cluster-1" },
        spec: 1,
      },
      { ...service("other"), metadata: { name: 7, clusterName: "cluster-1" } },
    ];
    for (const resource of forged) {
      await written("cluster-1", kindKeyOf(resource), "other.bookinfo.cluster-1", resource);
      await meanwhile(reader.update(stop.signal));
    }
    const all = [...(reader.clusters.get("cluster-1")?.snapshot.collections().values() ?? [])].flatMap((collection) => [...collection]);
    expect(all.filter(({ metadata }) => metadata.name === "other" || (metadata.name as unknown) === 7)).toEqual([]);
    expect(all.length).toBeGreaterThan(20);
  });
});
