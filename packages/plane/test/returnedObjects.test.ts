import { Destination, Mesh } from "@isthmus/api";
import { type Resource, refOf } from "@isthmus/core";
import { afterEach, beforeEach, expect, it } from "vitest";
import { demoFleet, type Fleet, register } from "./fleet.ts";
import { eventually, quiet } from "./virtualTime.ts";

let fleet: Fleet;
beforeEach(async () => {
  fleet = demoFleet();
  await register(fleet);
  fleet.startServer();
  fleet.startAgent("cluster-1");
  fleet.startAgent("cluster-2");
});
afterEach(() => fleet.stop());

const RATINGS = { name: "ratings-bookinfo-cluster-2", namespace: "gloo-mesh" };
// Longer than the publisher waits before it deletes what returned.
const LONG = 3 * 60_000;

async function published(): Promise<Resource> {
  const found = await fleet.management.get(Destination, RATINGS);
  if (found === undefined) throw new Error("not published");
  return found;
}

/** As etcd has it after it was restored from a backup. */
async function restored(object: Resource): Promise<void> {
  const { resourceVersion: _, uid: __, ...metadata } = object.metadata;
  await fleet.management.create({ ...object, metadata } as Resource);
}

it("a published object of a silent cluster that comes back from a backup is kept: nothing is known that speaks against it", async () => {
  const object = await eventually(published);
  await fleet.stopAgent("cluster-2");
  await fleet.stopServer();
  await fleet.management.delete(refOf(object));
  fleet.startServer();
  await eventually(() => expect(fleet.server().store.clusters.get("cluster-1")?.phase).toBe("synced"));
  await quiet();
  expect(await fleet.management.get(Mesh, { name: "istiod-istio-system-cluster-2", namespace: "gloo-mesh" })).toBeDefined();
  await restored(object);
  await quiet(LONG);
  expect((await published()).metadata.name).toBe(RATINGS.name);

  // Once the cluster is heard, its word counts.
  fleet.startAgent("cluster-2");
  await eventually(() => expect(fleet.server().store.clusters.get("cluster-2")?.phase).toBe("synced"));
  await quiet(LONG);
  expect((await published()).metadata.name).toBe(RATINGS.name);
});

it("a published object of which the cluster says that it is no more is deleted again when it comes back", async () => {
  const object = await eventually(published);
  const second = fleet.clusters["cluster-2"] as NonNullable<(typeof fleet.clusters)[string]>;
  await second.delete({ apiVersion: "v1", kind: "Service", name: "ratings", namespace: "bookinfo", clusterName: "" });
  await eventually(async () => expect(await fleet.management.get(Destination, RATINGS)).toBeUndefined());
  await restored(object);
  await quiet(LONG);
  expect(await fleet.management.get(Destination, RATINGS)).toBeUndefined();
});
