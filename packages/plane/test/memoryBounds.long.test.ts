import { Namespace, Secret } from "@isthmus/api";
import {
  type AnyResource,
  emptySnapshot,
  type Resource,
  type ResourceRef,
  refOf,
  resourceKeyOf,
  SIGNAL_COUNT,
  snapshotOf,
} from "@isthmus/core";
import { type DatedObject, type Insight, type InsightHistory, NO_HISTORY } from "@isthmus/insights";
import { simulatedCluster } from "@isthmus/simulator";
import { heldBy, longText, MEBIBYTE } from "@isthmus/testing";
import { expect, test } from "vitest";
import { lastPods } from "../src/agent/lastPods.ts";
import { rolloutRestarts } from "../src/agent/trust/rolloutRestarts.ts";
import { nameRecord } from "../src/identity/nameRecord.ts";
import { serverRoles } from "../src/index.ts";
import { unsupportedDefinitions } from "../src/informer/unsupportedDefinitions.ts";
import { ACTIVITY_MINUTES, activityIn, activityObjects, SYNC_BOUNDS, type TrafficActivity } from "../src/replication/clusterActivity.ts";
import { NEW_SHARE } from "../src/replication/clusterShare.ts";
import { stepUnowned } from "../src/replication/followerShare.ts";
import type { WrittenNotice } from "../src/replication/partitionLoader.ts";
import { hasRoomFor } from "../src/replication/receivedNotices.ts";
import { startInsightEvents } from "../src/server/insights/insightEvents.ts";

const nothing = () => undefined;
const log = { debug: nothing, info: nothing, warn: nothing, error: nothing };
const never = new AbortController().signal;

// Each is filled with the longest texts that it takes, beyond its bound. What is allowed is twice what the bound says.

test("Events about insights that are remembered, and origins", async () => {
  // 5,000 identities of 2,048 letters, and 1,000 origins.
  const bytes = 5_000 * (2_048 + 200) + 1_000 * 500;
  const held = await heldBy(async () => {
    let now = 0;
    const clock = { now: () => now, sleep: async () => undefined };
    const { kinds } = serverRoles("gloo-mesh");
    const meter = { add: nothing, record: nothing };
    const cluster = { create: async () => undefined as never };
    const view = { snapshot: emptySnapshot() };
    const events = startInsightEvents({ cluster, view, kinds, namespace: "gloo-mesh", instance: "a", meter, clock, log } as never, never);
    for (let i = 0; i < 5_200; i++) {
      // One every six seconds.
      now += 6_000;
      const object: ResourceRef = { apiVersion: "v1", kind: "Service", name: "s", namespace: "shop", clusterName: `cluster-${i}` };
      const letters = i % 50 === 0 ? MEBIBYTE : 2_200;
      const about = {
        code: "RTE1001",
        category: "RTE",
        severity: "error",
        object,
        cluster: object.clusterName,
        remedy: { text: "" },
      } as const;
      const insight: Insight = { ...about, field: longText(i, letters), message: longText(i, letters) };
      const dated: DatedObject = { object, insights: [{ insight, since: 0 }], problems: [] };
      const after: InsightHistory = { ...NO_HISTORY, current: NO_HISTORY.current.with([[resourceKeyOf(object), dated]]) };
      events.changed(NO_HISTORY, after, () => true);
      if (i % 20 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    return events;
  });
  expect(held).toBeLessThan(2 * bytes);
});

test("activity of clusters, and why there is none", async () => {
  const edges = 500;
  // Six names of 253 letters, and 40 numbers.
  const bytes = edges * (6 * 253 + 40 * 8 + 500);
  const held = await heldBy(() => {
    const name = (i: number) => `${i}-`.padEnd(253, "n");
    const edge = (i: number) => ({
      sourceNamespace: name(i),
      sourceWorkload: name(i),
      namespace: name(i),
      service: name(i),
      workload: name(i),
      cluster: "",
    });
    const signals = ACTIVITY_MINUTES.map(() => new Float64Array(SIGNAL_COUNT).fill(1));
    const traffic: TrafficActivity = {
      windows: ACTIVITY_MINUTES.map((minutes) => ({ minutes, seconds: 1 })),
      ...{ targets: 1, scraped: 1, left: 0, edges: Array.from({ length: edges }, (_, i) => ({ edge: edge(i), signals })) },
    };
    const sync = [...SYNC_BOUNDS.map(() => 1), 1];
    return Array.from({ length: 20 }, (_, i) => {
      const said = { clusterName: "east", at: 1, sync, problem: longText(i), traffic: i === 0 ? traffic : undefined };
      const objects = JSON.parse(JSON.stringify(activityObjects(said))) as Resource[];
      const activity = activityIn("east", snapshotOf(objects));
      expect([activity?.problem?.length, activity?.traffic?.edges.length]).toEqual([300, i === 0 ? edges : undefined]);
      return activity;
    });
  });
  expect(held).toBeLessThan(2 * bytes + 2 * MEBIBYTE);
});

test("workloads that were rolled out", async () => {
  // 10,000 of two names of 253 letters.
  const bytes = 10_000 * (2 * 253 + 200);
  const held = await heldBy(async () => {
    const workload = { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "a" } } as AnyResource;
    const cluster = { get: async () => workload, apply: async () => workload } as never;
    const restarts = rolloutRestarts({ cluster, log }, never);
    for (let i = 0; i < 12_000; i++) {
      const owner = { apiVersion: "apps/v1", kind: "Deployment", name: `${i}-`.padEnd(253, "n") };
      expect(await restarts.restart({ namespace: "n".repeat(253), name: "pod", owner } as never, 0)).toEqual({ type: "rolling" });
    }
    return restarts;
  });
  expect(held).toBeLessThan(2 * bytes);
});

test("names that were ever registered", async () => {
  // 5,000 names of 63 letters with UIDs of 128, in a Secret: a third longer.
  const bytes = 5_000 * (4 / 3) * (63 + 128 + 200);
  const held = await heldBy(async () => {
    const clock = { now: () => 0, sleep: async () => undefined };
    const cluster = simulatedCluster({ name: "", clock, kinds: [Namespace, Secret] });
    cluster.load([{ apiVersion: "v1", kind: "Namespace", metadata: { name: "gloo-mesh" } }]);
    const record = nameRecord(cluster, { namespace: "gloo-mesh" });
    for (let i = 0; i < 7_000; i += 1_000) {
      const uids = Array.from({ length: 1_000 }, (_, at) => [`${i + at}-`.padEnd(63, "n"), longText(i + at, 128)] as const);
      await record.add(new Map(uids));
    }
    const { isFull, uids } = await record.read();
    expect([isFull, uids.size]).toEqual([true, 5_000]);
    return [cluster, record, uids];
  });
  expect(held).toBeLessThan(4 * bytes);
});

test("kinds that an API server has and nobody reads", async () => {
  // 500 of three names.
  const bytes = 500 * (253 + 63 + 63 + 200);
  const held = await heldBy(() => {
    const tell = unsupportedDefinitions("east", log);
    for (let i = 0; i < 4; i++) {
      tell(
        Array.from({ length: 1_000 }, (_, at) => ({
          spec: {
            group: "networking.mesh.gloo.solo.io",
            names: { kind: `Kind${i * 1_000 + at}`.padEnd(at === 0 ? MEBIBYTE : 63, "k"), plural: "kinds" },
            versions: [{ name: "v1alpha9", served: true }],
          },
        })),
      );
    }
    return tell;
  });
  expect(held).toBeLessThan(2 * bytes + MEBIBYTE);
});

test("notices of writes that come while a partition is read", async () => {
  const bytes = 32 * MEBIBYTE;
  const notice = (i: number, letters: number): WrittenNotice => ({
    type: "written",
    partition: { section: "input", clusterName: "east" },
    base: { fence: 1, number: i } as never,
    delta: { erase: [], remove: [], put: [{ kindKey: "v1/Pod", key: `pod-${i}.shop.east`, text: longText(i, letters) }] },
    head: { complete: true, kinds: {}, meta: {}, version: { fence: 1, number: i + 1 } } as never,
  });
  for (const [notices, letters] of [
    [20, 4 * MEBIBYTE],
    [1_500, 200],
  ] as const) {
    const followed = await heldBy(() => {
      let share = { ...NEW_SHARE, type: "reading", written: [] } as Parameters<typeof stepUnowned>[0];
      for (let i = 0; i < notices; i++) {
        [share] = stepUnowned(share, { type: "written", notice: notice(i, letters), isOwn: false }, { isServed: false } as never);
      }
      return share;
    });
    expect(followed).toBeLessThan(2 * bytes);
    const heard = await heldBy(() => {
      const list: WrittenNotice[] = [];
      for (let i = 0; i < notices; i++) {
        const next = notice(i, letters);
        if (hasRoomFor(next, list)) list.push(next);
      }
      expect(list.length).toBe(letters > 200 ? 7 : 1_000);
      return list;
    });
    expect(heard).toBeLessThan(2 * bytes);
  }
});

test("last pods of operators' own kinds", async () => {
  // Of a namespace a hundred are kept: four names of 253 letters each.
  const bytes = 100 * 4 * 253;
  const long = (text: string) => text.padEnd(250, "n");
  const held = await heldBy(() => {
    const clock = { now: () => 0, sleep: () => new Promise<never>(nothing) };
    const filter = lastPods({ scope: () => () => true, isGone: () => false, due: nothing, clock }, never);
    for (let turn = 0; turn < 40; turn++) {
      const pods = Array.from({ length: 500 }, (_, i): Resource => {
        const name = long(`${turn}-${i}-`);
        const owner = { apiVersion: "core.strimzi.io/v1beta2", kind: "StrimziPodSet", name, uid: name, controller: true };
        return { apiVersion: "v1", kind: "Pod", metadata: { name, namespace: "tenant", ownerReferences: [owner] } };
      });
      filter.filtered({ put: pods, remove: [] });
      filter.filtered({ put: [], remove: pods.map(refOf) });
    }
    return filter;
  });
  expect(held).toBeLessThan(2 * bytes + MEBIBYTE);
});
