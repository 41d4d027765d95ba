import { randomUUID } from "node:crypto";
import { KubernetesCluster, TrafficPolicy } from "@isthmus/api";
import { type AnyResource, type Resource, refOf, snapshotOf } from "@isthmus/core";
import { type MemoryStore, memoryStore, readFleet } from "@isthmus/store";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { startManagementSharing } from "../src/replication/managementSharing.ts";
import { demoFleet, type Fleet, register } from "./fleet.ts";
import { lead } from "./lead.ts";
import { recordingLog } from "./recordingLog.ts";
import { clock, eventually, meanwhile, quiet } from "./virtualTime.ts";

let fleet: Fleet;
let store: MemoryStore;

beforeEach(() => {
  fleet = demoFleet();
  store = memoryStore({ clock, id: randomUUID });
});
afterEach(() => fleet.stop());

function policy(name: string, attempts: number): AnyResource {
  return {
    apiVersion: TrafficPolicy.apiVersion,
    kind: TrafficPolicy.kind,
    metadata: { name, namespace: "bookinfo" },
    spec: { destinationSelector: [], policy: { retries: { attempts } } },
  };
}

/** What the store has of the management cluster, by kind and name. */
async function kept(): Promise<ReadonlyMap<string, AnyResource>> {
  const found = new Map<string, AnyResource>();
  const [cluster] = await meanwhile(readFleet(store, "management"));
  for (const kindKey of Object.keys(cluster?.kinds ?? {}))
    for await (const page of cluster?.objects(kindKey) ?? [])
      for (const object of page) found.set(`${object.kind} ${object.metadata.name}`, object as AnyResource);
  return found;
}

describe("what users declare in the management cluster", () => {
  it("is in the store with its statuses, and nothing that is secret or that we make again", async () => {
    await register(fleet);
    await fleet.management.create(policy("retries", 3));
    await fleet.management.create({
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "relay-identity-token-secret", namespace: "gloo-mesh" },
      data: { token: btoa("canary-of-the-token") },
    } as AnyResource);
    fleet.startServer("server", { store });
    for (const name of ["cluster-1", "cluster-2"]) fleet.startAgent(name);
    await eventually(async () => expect((await kept()).get("TrafficPolicy retries")?.["status"]).toMatchObject({ state: "ACCEPTED" }));
    await eventually(async () => {
      const { status } = (await kept()).get("KubernetesCluster cluster-1") as AnyResource & { status?: { conditions?: object[] } };
      expect(status?.conditions).toContainEqual(expect.objectContaining({ type: "Synced", status: "True" }));
    });
    const kinds = new Set([...(await kept()).values()].map(({ kind }) => kind));
    for (const kind of ["Secret", "Mesh", "Workload", "Destination"]) expect(kinds).not.toContain(kind);
    expect(store.texts().join()).not.toContain(btoa("canary-of-the-token"));
  });

  it("follows each change and each removal, and is written again into a store that was emptied", async () => {
    await register(fleet);
    await fleet.management.create(policy("first", 3));
    const second = await fleet.management.create(policy("second", 3));
    fleet.startServer("server", { store });
    await eventually(async () => expect([...(await kept()).keys()]).toContain("TrafficPolicy second"));
    await fleet.management.delete(refOf(second));
    const known = await fleet.management.get(TrafficPolicy, { name: "first", namespace: "bookinfo" });
    await fleet.management.update({ ...policy("first", 5), metadata: known?.metadata ?? { name: "first" } });
    await eventually(async () => {
      const found = await kept();
      expect(found.get("TrafficPolicy first")?.["spec"]).toMatchObject({ policy: { retries: { attempts: 5 } } });
      expect([...found.keys()]).not.toContain("TrafficPolicy second");
    });
    const before = await kept();
    store.faults.wipe();
    expect((await kept()).size).toBe(0);
    await quiet(60_000);
    expect((await kept()).get("TrafficPolicy first")).toEqual(before.get("TrafficPolicy first"));
  });

  it("is written by the leader alone, and by the next one", async () => {
    const leads = lead();
    await register(fleet);
    for (const name of ["a", "b"]) fleet.startServer(name, { store, leadership: leads.of(name) });
    await eventually(async () => expect((await kept()).size).toBeGreaterThan(0));
    const writer = async () => (await meanwhile(readFleet(store, "management")))[0]?.meta["writtenBy"];
    const first = await writer();
    leads.pass("b");
    await fleet.management.create(policy("retries", 3));
    await eventually(async () => expect([...(await kept()).keys()]).toContain("TrafficPolicy retries"));
    expect(await writer()).not.toBe(first);
  });

  it("waits where the replica ceases to lead before the store answers for the first time", async () => {
    let leads = true;
    const known = snapshotOf([policy("retries", 3) as Resource]);
    const over = new AbortController();
    store.faults.slow(500);
    const options = { store, instance: "a", objects: () => (leads ? known : undefined), clock, log: recordingLog() };
    const { ended, request } = startManagementSharing(options, over.signal);
    // It has asked by now.
    await quiet(400);
    leads = false;
    await quiet(5_000);
    store.faults.slow(0);
    expect((await kept()).size).toBe(0);
    leads = true;
    request();
    await eventually(async () => expect([...(await kept()).keys()]).toEqual(["TrafficPolicy retries"]));
    over.abort();
    await meanwhile(ended);
  });

  it("stays in the store when the management cluster does not answer", async () => {
    await register(fleet);
    fleet.startServer("server", { store });
    await eventually(async () => expect([...(await kept()).keys()]).toContain("KubernetesCluster cluster-1"));
    await fleet.stopServer("server");
    // All but one kind is known.
    fleet.management.faults.fail({
      code: "Unavailable",
      matches: ({ verb, ref }) => verb === "list" && ref.kind === KubernetesCluster.kind,
      times: 1_000,
    });
    fleet.startServer("again", { store });
    await quiet(60_000);
    expect([...(await kept()).keys()]).toContain("KubernetesCluster cluster-1");
    fleet.management.faults.heal();
    await fleet.management.create(policy("retries", 3));
    await eventually(async () => expect([...(await kept()).keys()]).toContain("TrafficPolicy retries"));
  });
});
