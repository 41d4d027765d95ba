import { randomUUID } from "node:crypto";
import { noSignals, type Resource, SIGNAL_AT, snapshotOf, type TrafficEdge } from "@isthmus/core";
import { type MemoryStore, memoryStore } from "@isthmus/store";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type ClusterActivity, type StoreReader, SYNC_BOUNDS, serverRoles, startActivitySharing, storeReader } from "../src/index.ts";
import { activityIn, activityObjects } from "../src/replication/clusterActivity.ts";
import { recordingLog } from "./recordingLog.ts";
import { clock, eventually, meanwhile, quiet } from "./virtualTime.ts";

const { kinds } = serverRoles("gloo-mesh");
const log = recordingLog();
let store: MemoryStore;
let stop: AbortController;
let reader: StoreReader;

beforeEach(() => {
  store = memoryStore({ clock, id: randomUUID });
  stop = new AbortController();
  reader = storeReader({ store, kinds, clock, log }, stop.signal);
});
afterEach(() => stop.abort());

const edgeTo = (service: string): TrafficEdge => ({
  ...{ sourceNamespace: "shop", sourceWorkload: "web" },
  ...{ namespace: "books", service, workload: "v1", cluster: "" },
});

/** Of each service so many requests in an hour, and a tenth of them in five minutes. */
function activity(clusterName: string, at: number, requests: Readonly<Record<string, number>>): ClusterActivity {
  const counted = (count: number) => {
    const signals = noSignals();
    signals[SIGNAL_AT.codes + 2] = count;
    return signals;
  };
  const edges = Object.entries(requests).map(([service, count]) => ({
    edge: edgeTo(service),
    signals: [counted(count / 10), counted(count)],
  }));
  return {
    clusterName,
    at,
    sync: SYNC_BOUNDS.map((_, i) => i).concat(3),
    traffic: {
      windows: [
        { minutes: 5, seconds: 300 },
        { minutes: 60, seconds: 1_800 },
      ],
      ...{ targets: 3, scraped: 2, left: 0, edges },
    },
  };
}

/** A replica that has these activity, until it is stopped. */
function replica(instance: string, said: () => readonly ClusterActivity[], registered: ReadonlySet<string> = new Set(["east", "west"])) {
  const own = new AbortController();
  const signal = AbortSignal.any([own.signal, stop.signal]);
  const isRegistered = (name: string) => registered.has(name);
  startActivitySharing({ store, instance, activity: said, isRegistered, everyMs: 1_000, clock, log }, signal);
  return own;
}

const requestsOf = (name: string) =>
  Object.fromEntries(
    reader.activity.get(name)?.traffic?.edges.map(({ edge, signals }) => [edge.service, signals.map((one) => one[SIGNAL_AT.codes + 2])]) ??
      [],
  );
const update = () => meanwhile(reader.update(stop.signal));

describe("activity of clusters in the store", () => {
  it("are what an agent has said, with its time, in both windows", async () => {
    const said = activity("east", clock.now() + 1, { reviews: 100, ratings: 7 });
    replica("one", () => [said]);
    await eventually(async () => {
      await update();
      expect(reader.activity.get("east")).toEqual(said);
    });
    expect(requestsOf("east")).toEqual({ reviews: [10, 100], ratings: [0.7, 7] });
    expect(reader.problems).toEqual([]);
  });

  it("follow what is said next, also to fewer edges, and say why there are none", async () => {
    const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`s${i}`, i]));
    let said: ClusterActivity = activity("east", clock.now() + 1, many);
    replica("one", () => [said]);
    await eventually(async () => {
      await update();
      expect(Object.keys(requestsOf("east"))).toHaveLength(1_000);
    });
    said = activity("east", clock.now() + 1, { reviews: 5 });
    await eventually(async () => {
      await update();
      expect(requestsOf("east")).toEqual({ reviews: [0.5, 5] });
    });
    said = { clusterName: "east", at: clock.now() + 1, sync: said.sync, traffic: undefined, problem: "its agent scrapes no proxies" };
    await eventually(async () => {
      await update();
      expect(reader.activity.get("east")).toEqual(said);
    });
  });

  it("are those of the replica that took over: one that has nothing new to say does not write over them", async () => {
    const old = activity("east", clock.now() + 1, { reviews: 1 });
    replica("one", () => [old]);
    await eventually(async () => {
      await update();
      expect(requestsOf("east")).toEqual({ reviews: [0.1, 1] });
    });
    // Of the first one the connection hangs: it still says what it said before.
    replica("two", () => [activity("east", clock.now(), { reviews: 2 })]);
    await eventually(async () => {
      await update();
      expect(requestsOf("east")).toEqual({ reviews: [0.2, 2] });
    });
    for (let i = 0; i < 5; i++) {
      await quiet();
      await update();
      expect(requestsOf("east")).toEqual({ reviews: [0.2, 2] });
    }
    expect((await store.head({ section: "activity", clusterName: "east" }))?.meta["writtenBy"]).toBe("two");
  });

  it("stay with their time when nobody says anything, and go with the registration", async () => {
    const registered = new Set(["east", "west"]);
    const said = [activity("east", clock.now() + 1, { reviews: 1 }), activity("west", clock.now() + 1, { ratings: 2 })];
    let now = said;
    replica("one", () => now, registered);
    await eventually(async () => {
      await update();
      expect([...reader.activity.keys()].sort()).toEqual(["east", "west"]);
    });
    now = [];
    await quiet();
    await update();
    expect(reader.activity.get("east")).toEqual(said[0]);
    registered.delete("west");
    await eventually(async () => {
      await update();
      expect([...reader.activity.keys()]).toEqual(["east"]);
    });
    expect([...(await store.overview("activity")).versions.keys()]).toEqual(["east"]);
  });

  it("are written again into a store that was emptied", async () => {
    replica("one", () => [activity("east", clock.now(), { reviews: 1 })]);
    await eventually(async () => {
      await update();
      expect(reader.activity.size).toBe(1);
    });
    store.faults.wipe();
    await eventually(async () => expect((await store.head({ section: "activity", clusterName: "east" }))?.complete).toBe(true));
  });
});

/** What is read of the objects of good activity, with some members of others in the first of them. */
function readOf(members: object, rows?: readonly unknown[]): ClusterActivity | undefined {
  const [head, part, ...others] = activityObjects(activity("east", 5, { reviews: 1 }));
  expect(others).toEqual([]);
  return activityIn("east", snapshotOf([{ ...head, ...members } as Resource, { ...part, ...(rows && { rows }) } as Resource]));
}

describe("what is read of them", () => {
  const windows = [5, 60].map((minutes) => ({ minutes, seconds: 1 }));
  const zeros = Array.from({ length: 40 }, () => 0);

  it("is what was written", () => {
    expect(readOf({})).toEqual(activity("east", 5, { reviews: 1 }));
    expect(readOf({ traffic: { windows, targets: 1, scraped: 1, left: 0 } })).toMatchObject({ traffic: { targets: 1 } });
    expect(readOf({}, [["", "", "", "s", "", "", ...zeros]])?.traffic?.edges).toHaveLength(1);
  });

  it.each([
    ["another number of parts than it says", { parts: 2 }],
    ["parts without end", { parts: 1e9 }],
    ["another time than its parts", { at: 6 }],
    ["a time that is none", { at: "now" }],
    ["no durations", { sync: [1] }],
    ["a window that is another", { traffic: { windows: [{ minutes: 7, seconds: 1 }, windows[1]], targets: 1, scraped: 1, left: 0 } }],
    ["a negative number", { traffic: { windows, targets: -1, scraped: 1, left: 0 } }],
    ["nothing but null", { traffic: null }],
  ])("is nothing where it has %s", (_, members) => {
    expect(readOf(members)).toBeUndefined();
  });

  it.each([
    ["a name that ends a line", ["", "a\nb", "", "s", "", "", ...zeros]],
    ["too few numbers", ["", "", "", "s", "", "", ...zeros.slice(1)]],
    ["a number that is none", ["", "", "", "s", "", "", ...zeros.with(3, null as unknown as number)]],
    ["no list", { length: 46 }],
  ])("is nothing where a row has %s", (_, row) => {
    expect(readOf({}, [row])).toBeUndefined();
  });
});
