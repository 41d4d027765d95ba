import type { Clock } from "@isthmus/core";
import { memoryStore } from "@isthmus/store";
import { expect, test } from "vitest";
import type { Store } from "../src/index.ts";
import { inputSharing } from "../src/replication/inputSharing.ts";
import { snapshotStore } from "../src/snapshots/snapshotStore.ts";
import { recordingLog } from "./recordingLog.ts";

const NAMES = ["a", "b", "c", "d", "e", "f", "g"];
const agent = { instance: "i", version: "1", agentNamespace: "gloo-mesh", clusterUid: "uid", features: [] };
const clock: Clock = { now: () => 1, sleep: async () => undefined };

/** A replica that knows nothing yet of seven clusters that are in the store. Each reading of one continues until it is let go. */
async function starting() {
  let count = 0;
  const filled: Store = memoryStore({ clock, id: () => `id-${count++}` });
  for (const clusterName of NAMES) {
    const fence = await filled.raiseFence(`input/${clusterName}`, "another");
    const delta = { erase: [], put: [], remove: [] };
    const [base, meta] = [undefined, { servedBy: "another", phase: "synced", connected: true, isHeard: true }];
    await filled.write({ partition: { section: "input", clusterName }, fence, base, sequence: 1, delta, complete: true, kinds: {}, meta });
  }
  const reading = new Map<string, () => void>();
  const store: Store = {
    ...filled,
    async head(partition) {
      if (!reading.has(partition.clusterName)) await new Promise<void>((resolve) => reading.set(partition.clusterName, resolve));
      return filled.head(partition);
    },
  };
  const registered = new Set(NAMES);
  const isRegistered = (clusterName: string) => registered.has(clusterName);
  const log = recordingLog();
  const snapshots = snapshotStore({ kindOf: () => undefined, isRegistered, log, changed: () => undefined });
  const inputs = inputSharing({
    store,
    instance: "one",
    snapshots,
    isRegistered,
    areRegistrationsKnown: () => true,
    isAlive: () => true,
    leads: () => false,
    meta: () => ({ servedBy: "one", phase: "synced", connected: true, isHeard: true }),
    link: () => ({ setDesired: () => undefined, sendNotices: () => undefined, disconnect: () => undefined }),
    // As a queue does, a turn later.
    wake: (clusterName) => setImmediate(() => inputs.work(clusterName)),
    onReport: () => undefined,
    onEarlierReport: () => undefined,
    clock,
    log,
  });
  const turns = async () => {
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
  };
  return { inputs, snapshots, reading, registered, turns, filled };
}

test("clusters are read two at a time, in their order, until all have been", async () => {
  const { inputs, snapshots, reading, turns } = await starting();
  const first = NAMES.map((clusterName) => inputs.work(clusterName));
  const begun: (readonly string[])[] = [];
  for (let round = 0; round < 4; round++) {
    await turns();
    begun.push([...reading.keys()]);
    for (const letGo of reading.values()) letGo();
  }
  await turns();
  expect(begun.map((names) => names.length)).toEqual([2, 4, 6, 7]);
  expect(begun[3]).toEqual(NAMES);
  expect(await Promise.all(first)).toEqual(["done", "done", "later", "later", "later", "later", "later"]);
  expect([...snapshots.clusters.values()].map(({ phase }) => phase)).toEqual(NAMES.map(() => "synced"));
});

test("what is written does not wait for what is read, and who needs no reading any more gives its turn to the next", async () => {
  const { inputs, snapshots, reading, registered, turns, filled } = await starting();
  for (const clusterName of ["a", "b", "c", "d", "e"]) void inputs.work(clusterName);
  await turns();
  // While they wait, the agent of one comes here, and another one is not registered any more.
  snapshots.connected("c", agent);
  snapshots.synced("c", new Map());
  inputs.touch("c");
  registered.delete("d");
  await turns();
  reading.get("c")?.();
  await turns();
  expect((await filled.head({ section: "input", clusterName: "c" }))?.meta["servedBy"]).toBe("one");
  for (let round = 0; round < 3; round++) {
    for (const letGo of reading.values()) letGo();
    await turns();
  }
  expect(snapshots.clusters.get("e")?.phase).toBe("synced");
  expect(reading.has("d")).toBe(false);
});
