import type { AnyResource } from "@isthmus/core";
import type { Cluster } from "@isthmus/ports";
import { expect, test } from "vitest";
import { writeGate } from "../src/agent/writeGate.ts";
import { ALL_WRITES, NO_WRITES } from "../src/agent/writeMode.ts";

const route: AnyResource = { apiVersion: "networking.istio.io/v1", kind: "VirtualService", metadata: { name: "r", namespace: "shop" } };
const ref = { apiVersion: route.apiVersion, kind: route.kind, name: "r", namespace: "shop", clusterName: "" };

/** A cluster whose writes end when the test says so. */
function gated() {
  const calls: string[] = [];
  const ends: (() => void)[] = [];
  const write = (verb: string) => () => {
    calls.push(verb);
    return new Promise<AnyResource>((resolve) => ends.push(() => resolve(route)));
  };
  const verbs = ["apply", "applyStatus", "create", "update", "updateStatus", "delete"] as const;
  const cluster = { name: "east", ...Object.fromEntries(verbs.map((verb) => [verb, write(verb)])) } as unknown as Cluster;
  let drained = 0;
  const gate = writeGate(cluster, { changed: () => undefined, drained: () => void drained++ });
  const all = () => [
    gate.cluster.apply(route, { fieldManager: "us" }),
    gate.cluster.applyStatus(route, { fieldManager: "us" }),
    gate.cluster.create(route),
    gate.cluster.update(route),
    gate.cluster.updateStatus(route),
    gate.cluster.delete(ref),
  ];
  return { gate, calls, ends, all, drained: () => drained };
}

test.each([
  ["no mode was received", undefined],
  ["nothing may be written", NO_WRITES],
  ["another object is managed", { mode: "observe", managedObjects: [{ kind: "VirtualService", namespace: "shop", name: "x" }] }],
] as const)("every write is refused at the cluster itself where %s, no matter who asked before", async (_, rules) => {
  const { gate, calls, all } = gated();
  if (rules !== undefined) gate.setRules(rules);
  for (const outcome of await Promise.allSettled(all())) {
    expect(outcome).toMatchObject({ status: "rejected", reason: { code: "Forbidden" } });
  }
  expect(calls).toEqual([]);
});

test("a mode is known once no write that began under an earlier one is in progress", async () => {
  const { gate, ends, all, drained } = gated();
  gate.setRules(ALL_WRITES);
  const writes = all();
  gate.setRules(NO_WRITES);
  expect(gate.mode).toBeUndefined();
  for (const end of ends.slice(1)) end();
  await Promise.all(writes.slice(1));
  expect([gate.mode, drained()]).toEqual([undefined, 0]);
  ends[0]?.();
  await writes[0];
  expect([gate.mode, drained()]).toEqual(["freeze", 1]);
});

test("a server without modes manages a cluster, unless its agent has received another mode before", () => {
  const fresh = gated().gate;
  fresh.welcomed(["notices", "modes"]);
  expect(fresh.mayWrite(ref)).toBe(false);
  fresh.welcomed(["notices"]);
  expect(fresh.mayWrite(ref)).toBe(true);
  const frozen = gated().gate;
  frozen.setRules(NO_WRITES);
  frozen.welcomed([]);
  expect(frozen.mayWrite(ref)).toBe(false);
});
