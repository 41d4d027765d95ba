import { afterEach, beforeEach, expect, it } from "vitest";
import { bookinfoMesh, demoFleet, type Fleet, register } from "./fleet.ts";
import { eventually } from "./virtualTime.ts";

let fleet: Fleet;
beforeEach(() => {
  fleet = demoFleet();
});
afterEach(() => fleet.stop());

it("a cluster that joins hears what is desired there before all others hear what its coming changes for them", async () => {
  await register(fleet);
  await fleet.management.create(bookinfoMesh);
  fleet.startServer();
  fleet.startAgent("cluster-1");
  const sent = () => fleet.log.steps.filter(({ message }) => message === "sent").map(({ fields }) => fields["cluster"]);
  await eventually(() => expect(fleet.server().store.clusters.get("cluster-1")?.phase).toBe("synced"));
  await eventually(() => expect(fleet.server().translation).toBeDefined());
  const before = sent().length;
  fleet.startAgent("cluster-2");
  // The VirtualMesh names both meshes: now it is whole, and each cluster gets the services of the other.
  await eventually(() => expect(new Set(sent().slice(before))).toEqual(new Set(["cluster-1", "cluster-2"])));
  expect(sent()[before]).toBe("cluster-2");
});
