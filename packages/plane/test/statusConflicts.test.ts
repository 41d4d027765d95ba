import { allKinds, kindOf, TrafficPolicy } from "@isthmus/api";
import { type AnyResource, emptySnapshot, noMeter, refOf } from "@isthmus/core";
import { simulatedCluster, virtualClock } from "@isthmus/simulator";
import { expect, test } from "vitest";
import { startStatusWriter } from "../src/apply/statusWriter.ts";
import { recordingLog } from "./recordingLog.ts";

const policy = {
  apiVersion: TrafficPolicy.apiVersion,
  kind: TrafficPolicy.kind,
  metadata: { name: "p", namespace: "shop" },
  spec: {},
};
const ACCEPTED = { state: "ACCEPTED", targetCount: 1 };

/** A policy whose status we write, and anyone who writes another one each time that ours is seen. */
async function fought(meddles: (times: number) => boolean) {
  const clock = virtualClock();
  const cluster = simulatedCluster({ name: "", clock, kinds: allKinds() });
  cluster.load([{ apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } }, policy]);
  const life = new AbortController();
  const log = recordingLog();
  const ref = { ...refOf(policy), clusterName: "" };
  const live = () => emptySnapshot().apply({ put: [current()], remove: [] });
  const current = () => cluster.object(ref) as AnyResource;
  const writer = startStatusWriter({ cluster, live, clock, random: () => 0.5, log, meter: noMeter }, life.signal);
  const kind = kindOf(policy.apiVersion, policy.kind);
  if (kind === undefined) throw new Error("there is no such kind");
  let writes = 0;
  async function answer(): Promise<void> {
    const { resourceVersion = "0" } = (await cluster.list(kind as typeof TrafficPolicy)).items[0]?.metadata ?? {};
    for await (const event of cluster.watch(kind as typeof TrafficPolicy, resourceVersion, {}, life.signal)) {
      if (event.type !== "put") continue;
      const isOurs = (event.resource as AnyResource)["status"] !== undefined && JSON.stringify(event.resource).includes("ACCEPTED");
      if (isOurs && meddles(++writes)) {
        const status = { state: "INVALID" };
        await cluster.applyStatus({ ...policy, status }, { fieldManager: "somebody", force: true });
      }
      writer.write([{ ref, status: ACCEPTED }]);
    }
  }
  const answering = answer().catch(() => undefined);
  writer.write([{ ref, status: ACCEPTED }]);
  return {
    clock,
    warnings: log.warnings,
    writes: () => writes,
    status: () => current()["status"],
    async stop() {
      life.abort(new Error("the test is over"));
      await Promise.all([answering, writer.ended]);
    },
  };
}

test("a status that somebody changes back each time is restored less and less often, and it is reported", async () => {
  const fight = await fought(() => true);
  await fight.clock.advance(600_000);
  expect(fight.writes()).toBeGreaterThan(6);
  expect(fight.writes()).toBeLessThan(30);
  expect(fight.warnings.filter((line) => line.includes("is repeatedly changed by another writer"))).toHaveLength(1);
  await fight.stop();
});

test("a status that somebody changes a few times is restored at once", async () => {
  const fight = await fought((times) => times <= 3);
  await fight.clock.advance(500);
  expect(fight.writes()).toBe(4);
  expect(fight.status()).toMatchObject(ACCEPTED);
  expect(fight.warnings).toEqual([]);
  await fight.stop();
});

test("where only lists change, an object's status waits behind those whose conditions change, and is paced", async () => {
  const clock = virtualClock();
  const cluster = simulatedCluster({ name: "", clock, kinds: allKinds() });
  const policies = Array.from({ length: 200 }, (_, i) => ({ ...policy, metadata: { name: `p-${i}`, namespace: "shop" } }));
  cluster.load([{ apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } }, ...policies]);
  const life = new AbortController();
  const log = recordingLog();
  const refs = policies.map((one) => ({ ...refOf(one), clusterName: "" }));
  const objects = () => refs.map((ref) => cluster.object(ref) as AnyResource);
  const live = () => emptySnapshot().apply({ put: objects(), remove: [] });
  const writer = startStatusWriter({ cluster, live, clock, random: () => 0.5, log, meter: noMeter }, life.signal);
  const says = (message: string, workloads: readonly string[]) => {
    const conditions = [{ type: "Accepted", status: "True", reason: "Accepted", message }];
    return { state: "ACCEPTED", workloads: [...workloads], workloadCount: workloads.length, conditions };
  };
  const counted = (count: number) => objects().filter(({ status }) => (status as { workloadCount?: number })?.workloadCount === count);

  writer.write(refs.map((ref) => ({ ref, status: says("valid", []) })));
  await clock.advance(1000);
  expect(counted(0)).toHaveLength(200);

  // Of the last one something else is said, too.
  writer.write(refs.map((ref, i) => ({ ref, status: says(i < 199 ? "valid" : "valid, with 1 warning", ["w"]) })));
  await clock.advance(100);
  expect(counted(1).length).toBeLessThan(100);
  expect(counted(1).map(({ metadata }) => metadata.name)).toContain("p-199");
  await clock.advance(5_000);
  expect(counted(1)).toHaveLength(200);
  expect(log.warnings).toEqual([]);
  life.abort(new Error("the test is over"));
  await writer.ended;
});

test("a status that was made of an earlier generation does not count for the later one", async () => {
  const clock = virtualClock();
  const cluster = simulatedCluster({ name: "", clock, kinds: allKinds() });
  cluster.load([
    { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } },
    { ...policy, metadata: { ...policy.metadata, generation: 2 } },
  ]);
  const life = new AbortController();
  const ref = { ...refOf(policy), clusterName: "" };
  const current = () => cluster.object(ref) as AnyResource;
  const live = () => emptySnapshot().apply({ put: [current()], remove: [] });
  const writer = startStatusWriter({ cluster, live, clock, random: () => 0.5, log: recordingLog(), meter: noMeter }, life.signal);
  const conditions = [{ type: "Applied", status: "True", reason: "Applied", message: "1 of 1 object applied" }];
  writer.write([{ ref, status: { state: "ACCEPTED", observedGeneration: 1, conditions } }]);
  await clock.advance(1_000);
  expect(current().metadata.generation).toBe(2);
  expect(current()["status"]).toMatchObject({ observedGeneration: 1, conditions: [{ type: "Applied", observedGeneration: 1 }] });
  life.abort(new Error("the test is over"));
  await writer.ended;
});

test("a status that could not be written yet is not replaced by the one before, when all objects are listed again", async () => {
  const clock = virtualClock();
  const cluster = simulatedCluster({ name: "", clock, kinds: allKinds() });
  cluster.load([{ apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } }, policy]);
  const life = new AbortController();
  const ref = { ...refOf(policy), clusterName: "" };
  const current = () => cluster.object(ref) as AnyResource;
  const live = () => emptySnapshot().apply({ put: [current()], remove: [] });
  const writer = startStatusWriter({ cluster, live, clock, random: () => 0.5, log: recordingLog(), meter: noMeter }, life.signal);
  writer.write([{ ref, status: { state: "FAILED" } }]);
  await clock.advance(100);
  expect(current()["status"]).toEqual({ state: "FAILED" });
  cluster.faults.reachable(false);
  writer.write([{ ref, status: ACCEPTED }]);
  await clock.advance(10_000);
  // It waits to be tried again.
  expect(current()["status"]).toEqual({ state: "FAILED" });
  cluster.faults.reachable(true);
  writer.listed("networking.mesh.gloo.solo.io/TrafficPolicy");
  await clock.advance(60_000);
  expect(current()["status"]).toEqual(ACCEPTED);
  life.abort(new Error("the test is over"));
  await writer.ended;
});
