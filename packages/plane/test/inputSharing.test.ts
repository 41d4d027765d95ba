import { ConfigMap, Service } from "@isthmus/api";
import { type Clock, firstSeenOf, keyOfResource, type Resource } from "@isthmus/core";
import { memoryStore } from "@isthmus/store";
import { expect, test } from "vitest";
import { type ServerLink, type Store, StoreError } from "../src/index.ts";
import { type InputSharing, inputSharing } from "../src/replication/inputSharing.ts";
import { type SnapshotStore, snapshotStore } from "../src/snapshots/snapshotStore.ts";
import { recordingLog } from "./recordingLog.ts";

const link: ServerLink = { setDesired: () => undefined, sendNotices: () => undefined, disconnect: () => undefined };
const partition = { section: "input", clusterName: "east" } as const;

/** A store that holds something of a cluster, and a replica that leads and has not seen a registration of it. */
async function sharing(areRegistrationsKnown: () => boolean) {
  let now = 0;
  const clock: Clock = { now: () => now, sleep: async () => undefined };
  let count = 0;
  const store: Store = memoryStore({ clock, id: () => `id-${count++}` });
  const fence = await store.raiseFence("input/east", "another");
  const put = [{ kindKey: "/Service", key: "web.shop.east", text: "{}" }];
  const base = undefined;
  await store.write({ partition, fence, base, sequence: 1, delta: { erase: [], put, remove: [] }, complete: true, kinds: {}, meta: {} });
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
    onReport: () => undefined,
    onEarlierReport: () => undefined,
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

const named = (name: string) => ({ apiVersion: "v1", kind: "Service", metadata: { name, namespace: "shop", clusterName: "east" } });
const map = (name: string) => ({ ...named(name), kind: "ConfigMap" });
const agent = { instance: "i", version: "1", agentNamespace: "gloo-mesh", clusterUid: "uid", features: [] };

/** Replicas of one registered cluster over one store, each doing its work when the test says so. */
function replicas() {
  let now = 1;
  const clock: Clock = { now: () => now++, sleep: async () => undefined };
  let count = 0;
  const store = memoryStore({ clock, id: () => `id-${count++}` });
  const life = new AbortController();
  const log = recordingLog();
  const kindOf = (_: string, kind: string) => (kind === "Service" ? Service : ConfigMap);

  function replica(instance: string, over: Partial<SnapshotStore> = {}, kinds: ReadonlySet<string> = new Set()) {
    const ages = { kinds, now: () => now, areKept: kinds.size > 0 };
    const known = snapshotStore({ kindOf, ages, isRegistered: () => true, log, changed: () => inputs?.changed() });
    let inputs: InputSharing | undefined;
    inputs = inputSharing({
      store,
      instance,
      snapshots: {
        ...known,
        get clusters() {
          return known.clusters;
        },
        ...over,
      },
      isRegistered: () => true,
      areRegistrationsKnown: () => true,
      isAlive: () => true,
      leads: () => true,
      meta: (_, isHeard) => ({ servedBy: instance, phase: "synced", connected: true, isHeard }),
      link: () => ({ ...link, disconnect: () => gone() }),
      wake: () => undefined,
      onReport: () => undefined,
      onEarlierReport: () => undefined,
      clock,
      log,
    });
    const { touch, work, hear, compare } = inputs;
    store.subscribe(hear, life.signal);
    const gone = () => {
      known.disconnected("east");
      touch("east");
    };
    return {
      known,
      gone,
      /** Its agent comes. */
      comes() {
        known.connected("east", agent);
        touch("east");
      },
      /** Its agent says everything. */
      says(...objects: readonly Resource[]) {
        known.observed("east", { put: objects, remove: [] });
        const keys = (kind: string) => new Set(objects.filter((object) => object.kind === kind).map(keyOfResource));
        known.synced("east", new Map(["Service", "ConfigMap"].map((kind) => [`/${kind}`, keys(kind)])));
        touch("east");
      },
      work: () => work("east"),
      compare,
      /** When it says that it first saw each Service. */
      seen: () =>
        Object.fromEntries([...known.snapshotIn("east").of(Service)].map((object) => [object.metadata.name, firstSeenOf(object)])),
      has: () =>
        [Service, ConfigMap].flatMap((kind) => [...known.snapshotIn("east").of<Resource>(kind)]).map(({ metadata }) => metadata.name),
    };
  }

  /** A replica whose agent has reported everything, which is written. */
  async function serving(instance: string) {
    const one = replica(instance);
    one.comes();
    one.says(named("old"));
    await one.work();
    return one;
  }
  return { store, replica, serving, later: () => (now += 60_000) };
}

const SERVICES: ReadonlySet<string> = new Set(["/Service"]);

test("objects are as old as the store says, where the agent comes before anything of its cluster was read", async () => {
  const { replica, later } = replicas();
  const one = replica("one", {}, SERVICES);
  one.comes();
  one.says(named("old"));
  await one.work();
  const first = one.seen()["old"];
  expect(first).toMatch(/^1970-01-01T00:00:00\.\d{3}Z$/);
  one.gone();
  later();
  const two = replica("two", {}, SERVICES);
  two.comes();
  two.says(named("old"), named("new"));
  // Not a moment younger than it is.
  expect(two.has()).toEqual([]);
  await two.work();
  expect(two.seen()).toEqual({ old: first, new: expect.stringMatching(/^1970-01-01T00:01/) });
  const three = replica("three", {}, SERVICES);
  await three.work();
  expect(three.seen()).toEqual(two.seen());
});

test("a store that does not answer keeps a cluster waiting for a while, and not for ever", async () => {
  const { store, replica, later } = replicas();
  const one = replica("one", {}, SERVICES);
  store.faults.stop();
  one.comes();
  one.says(named("old"));
  await expect(one.work()).rejects.toThrow(StoreError);
  expect(one.has()).toEqual([]);
  later();
  await expect(one.work()).rejects.toThrow(StoreError);
  expect(one.has()).toEqual(["old"]);
  store.faults.start();
  await one.work();
  const two = replica("two", {}, SERVICES);
  await two.work();
  expect(two.seen()).toEqual(one.seen());
});

test("a replica that follows lets go a kind that the store has no more, though it does not know what the store had", async () => {
  const { store, replica } = replicas();
  const [one, two] = [replica("one"), replica("two")];
  one.comes();
  one.says(named("web"), map("istio"));
  await one.work();
  // Nothing of what it wrote is there any more, and it does not know.
  store.faults.wipe();
  await one.compare();
  two.comes();
  two.says(named("web"));
  await two.work();
  await one.work();
  expect(one.has()).toEqual(["web"]);
});

test("what an agent said that came and went is written, and what the store has does not take its place", async () => {
  const { replica, serving } = replicas();
  const [one, two, three] = [await serving("one"), replica("two"), replica("three")];
  one.gone();
  two.comes();
  two.says(named("old"), named("new"));
  two.gone();
  await two.work();
  expect(two.has()).toEqual(["new", "old"]);
  await three.work();
  expect(three.has()).toEqual(["new", "old"]);
});

test("what came while a cluster was read is not undone by what was read", async () => {
  const { replica } = replicas();
  const one = replica("one");
  one.comes();
  one.says(named("old"));
  await one.work();
  one.gone();
  let comesAndGoes = () => {
    comesAndGoes = () => undefined;
    two.comes();
    two.says(named("new"));
    two.gone();
  };
  const two = replica("two", {
    parsed: (clusterName, resource) => {
      comesAndGoes();
      return two.known.parsed(clusterName, resource);
    },
  });
  await two.work();
  expect(two.has()).toEqual(["new"]);
  await two.work();
  expect(two.has()).toEqual(["new"]);
});

test("what was never written is not undone by the next replica, before that has heard everything", async () => {
  const { store, replica, serving } = replicas();
  const [one, two, three] = [await serving("one"), replica("two"), replica("three")];
  await two.work();
  store.faults.stop();
  one.known.observed("east", { put: [named("new")], remove: [] });
  await expect(one.work()).rejects.toThrow(StoreError);
  store.faults.start();
  // The agent goes to the other one, which knows it as the store has it.
  two.comes();
  await two.work();
  await one.work();
  expect(one.has()).toEqual(["new", "old"]);
  await three.work();
  expect(three.has()).toEqual(["old"]);
  two.says(named("new"));
  await two.work();
  await Promise.all([one.work(), three.work()]);
  expect([one.has(), three.has()]).toEqual([["new"], ["new"]]);
});

test("a replica that had the agent long ago does not write what it heard then over what is newer", async () => {
  const { store, replica, serving } = replicas();
  const [one, two, three] = [await serving("one"), replica("two"), replica("three")];
  one.gone();
  // It does not hear of the other.
  store.faults.loseNotices(10);
  two.comes();
  two.says(named("new"));
  await two.work();
  two.gone();
  await one.compare();
  one.comes();
  await one.work();
  await three.work();
  expect(three.has()).toEqual(["new"]);
  one.says(named("newest"));
  await one.work();
  await three.work();
  expect(three.has()).toEqual(["newest"]);
});

test("what an agent said that came and went is not written where another replica has written since, though its fence was not received", async () => {
  const { store, replica, serving } = replicas();
  const [one, two, three] = [await serving("one"), replica("two"), replica("three")];
  await two.work();
  one.gone();
  two.comes();
  two.says(named("new"));
  two.gone();
  store.faults.loseNotices(2);
  three.comes();
  three.says(named("newer"));
  await three.work();
  three.says(named("newest"));
  await three.work();
  await two.work();
  expect([two.has(), three.has()]).toEqual([["newest"], ["newest"]]);
});

test("a write is not applied to what the agent has reported here since", async () => {
  const { replica, serving } = replicas();
  const [one, two] = [await serving("one"), replica("two")];
  await two.work();
  // The agent goes to the other one for a moment, and its connection here is left over.
  two.comes();
  two.says(named("brief"));
  two.gone();
  one.says(named("new"));
  await one.work();
  // The one that heard the agent last writes, and the agent has to connect again.
  await two.work();
  await one.work();
  expect([one.has(), two.has()]).toEqual([["brief"], ["brief"]]);
  one.comes();
  one.says(named("new"));
  await one.work();
  await two.work();
  expect([one.has(), two.has()]).toEqual([["new"], ["new"]]);
});

test("what an agent has reported in part before it went stays until the store is read again", async () => {
  const { replica, serving } = replicas();
  const [one, two] = [await serving("one"), replica("two")];
  await two.work();
  two.comes();
  two.known.observed("east", { put: [named("brief")], remove: [] });
  two.gone();
  await two.compare();
  await two.work();
  expect([one.has(), two.has()]).toEqual([["old"], ["old"]]);
});
