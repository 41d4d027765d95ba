import { allKinds, Destination, VirtualMesh } from "@isthmus/api";
import { type Clock, type Kind, kindKeyOf, type Resource } from "@isthmus/core";
import { simulatedCluster } from "@isthmus/simulator";
import { expect, test } from "vitest";
import { pacedCluster } from "../src/leader/pacedCluster.ts";

/** A clock on which everybody who sleeps wakes at once; it notes for how long they meant to. */
function notingClock(): Clock & { readonly waits: number[]; ms: number } {
  const clock = { ms: 1_000_000, waits: [] as number[], now: () => clock.ms, sleep: async (ms: number) => void clock.waits.push(ms) };
  return clock;
}

function object(kind: Kind, name: string): Resource {
  return { apiVersion: kind.apiVersion, kind: kind.kind, metadata: { name, namespace: "gloo-mesh" }, spec: {} } as Resource;
}

test("bulk waits when a second's writes are used up, and other writes don't", async () => {
  const clock = notingClock();
  const management = simulatedCluster({ name: "", clock, kinds: allKinds() });
  management.load([{ apiVersion: "v1", kind: "Namespace", metadata: { name: "gloo-mesh" } }]);
  const cluster = pacedCluster(management, { kinds: new Set([kindKeyOf(Destination)]), perSecond: 10, clock });
  const write = (kind: Kind, name: string) => cluster.apply(object(kind, name), { fieldManager: "test" });
  for (let i = 0; i < 4; i++) await write(VirtualMesh, `vm-${i}`);
  for (let i = 0; i < 6; i++) await write(Destination, `d-${i}`);
  expect(clock.waits).toEqual([]);
  await write(Destination, "d-6");
  await write(Destination, "d-7");
  expect(clock.waits).toEqual([100, 200]);
  for (let i = 0; i < 50; i++) await write(VirtualMesh, `more-${i}`);
  await write(Destination, "d-8");
  expect(clock.waits).toEqual([100, 200, 300]);
  clock.ms += 60_000;
  for (let i = 0; i < 10; i++) await write(Destination, `e-${i}`);
  expect(clock.waits).toHaveLength(3);
  expect(management.objects().filter(({ kind }) => kind === Destination.kind)).toHaveLength(19);
});
