import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { bookinfoMesh, demoFleet, type Fleet, register } from "./fleet.ts";

const soon = { timeout: 10_000, interval: 20 };
let fleet: Fleet;
beforeEach(() => {
  fleet = demoFleet();
});
afterEach(() => fleet.stop());

it("a cluster that joins hears what is wanted there before all others hear what its coming changes for them", async () => {
  await register(fleet);
  await fleet.management.create(bookinfoMesh);
  fleet.startServer();
  fleet.startAgent("cluster-1");
  const sent = () => fleet.log.steps.filter(({ message }) => message === "sent").map(({ fields }) => fields["cluster"]);
  await vi.waitFor(() => expect(fleet.server().store.clusters.get("cluster-1")?.phase).toBe("synced"), soon);
  await vi.waitFor(() => expect(fleet.server().world).toBeDefined(), soon);
  const before = sent().length;
  fleet.startAgent("cluster-2");
  // The VirtualMesh names both meshes: now it is whole, and each cluster gets the services of the other.
  await vi.waitFor(() => expect(new Set(sent().slice(before))).toEqual(new Set(["cluster-1", "cluster-2"])), soon);
  expect(sent()[before]).toBe("cluster-2");
});
