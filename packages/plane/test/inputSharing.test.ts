import { Service } from "@isthmus/api";
import { memoryStore } from "@isthmus/store";
import { expect, test } from "vitest";
import type { Clock, ServerLink, Store } from "../src/index.ts";
import { digestOf, sumAfter } from "../src/server/sharing/digests.ts";
import { inputSharing } from "../src/server/sharing/inputSharing.ts";
import { snapshotStore } from "../src/server/snapshotStore.ts";
import { recordingLog } from "./recordingLog.ts";

const link: ServerLink = { want: () => undefined, tell: () => undefined, disconnect: () => undefined };
const area = { section: "input", clusterName: "east" } as const;

/** A store that holds something of a cluster, and a replica that leads and has not seen a registration of it. */
async function sharing(areRegistrationsKnown: () => boolean) {
  let now = 0;
  const clock: Clock = { now: () => now, sleep: async () => undefined };
  let count = 0;
  const store: Store = memoryStore({ clock, id: () => `id-${count++}` });
  const fence = await store.raiseFence("input/east", "another");
  const put = [{ kindKey: "/Service", key: "web.shop.east", text: "{}" }];
  const base = undefined;
  await store.write({ area, fence, base, sequence: 1, delta: { erase: [], put, remove: [] }, complete: true, kinds: {}, meta: {} });
  const log = recordingLog();
  const snapshots = snapshotStore({
    kindOf: () => undefined,
    isRegistered: () => false,
    isReadElsewhere: () => false,
    log,
    changed: () => undefined,
  });
  const woken = new Set<string>();
  const inputs = inputSharing({
    store,
    instance: "one",
    snapshots,
    isRegistered: () => false,
    areRegistrationsKnown,
    isAlive: () => true,
    leads: () => true,
    meta: () => ({}),
    link: () => link,
    wake: (clusterName) => void woken.add(clusterName),
    heard: () => undefined,
    clock,
    log,
  });
  /** Two looks, with more than a minute between them, and all that they ask for. */
  async function look(): Promise<void> {
    for (let i = 0; i < 2; i++) {
      await inputs.compare();
      for (const clusterName of woken) await inputs.work(clusterName);
      now += 61_000;
    }
    await inputs.compare();
    for (const clusterName of woken) await inputs.work(clusterName);
  }
  return { look, holds: async () => (await store.overview("input")).versions.has("east") };
}

test("what the store has of a cluster whose registration is gone is cleared after a while", async () => {
  const { look, holds } = await sharing(() => true);
  await look();
  expect(await holds()).toBe(false);
});

test("what the store has of a cluster stays while nobody knows who is registered", async () => {
  let isKnown = false;
  const { look, holds } = await sharing(() => isKnown);
  await look();
  expect(await holds()).toBe(true);
  // The wait begins when it is known.
  isKnown = true;
  await look();
  expect(await holds()).toBe(false);
});

test("what was read is not taken where an agent was here meanwhile: it may be older", async () => {
  let now = 0;
  const clock: Clock = { now: () => now++, sleep: async () => undefined };
  const store: Store = memoryStore({ clock, id: () => "id" });
  const named = (name: string) => ({ apiVersion: "v1", kind: "Service", metadata: { name, namespace: "shop", clusterName: "east" } });
  const text = JSON.stringify(named("old"));
  const put = [{ kindKey: "/Service", key: "old.shop.east", text }];
  const kinds = { "/Service": digestOf(sumAfter(undefined, "old.shop.east", undefined, text)) };
  const fence = await store.raiseFence("input/east", "another");
  const meta = { servedBy: "another", phase: "synced", connected: true };
  await store.write({ area, fence, base: undefined, sequence: 1, delta: { erase: [], put, remove: [] }, complete: true, kinds, meta });
  const log = recordingLog();
  const inner = snapshotStore({ kindOf: () => Service, isRegistered: () => true, log, changed: () => undefined });
  let comesAndGoes = () => {
    comesAndGoes = () => undefined;
    inner.connected("east", { instance: "i", version: "1", agentNamespace: "gloo-mesh", clusterUid: "uid", features: [] });
    inner.observed("east", { put: [named("new")], remove: [] });
    inner.synced("east", new Map([["/Service", new Set(["new.shop.east"])]]));
    inner.disconnected("east");
  };
  const snapshots = {
    ...inner,
    parsed: (...said: Parameters<typeof inner.parsed>) => {
      comesAndGoes();
      return inner.parsed(...said);
    },
  };
  const woken: string[] = [];
  const inputs = inputSharing({
    store,
    instance: "one",
    snapshots,
    isRegistered: () => true,
    areRegistrationsKnown: () => true,
    isAlive: () => true,
    leads: () => true,
    meta: () => ({}),
    link: () => link,
    wake: (clusterName) => void woken.push(clusterName),
    heard: () => undefined,
    clock,
    log,
  });
  await inputs.work("east");
  expect([...inner.snapshotIn("east").of(Service)].map(({ metadata }) => metadata.name)).toEqual(["new"]);
  expect(woken).toContain("east");
});
