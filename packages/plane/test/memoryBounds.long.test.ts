import { type AnyResource, emptySnapshot, type Resource, type ResourceRef, resourceKeyOf, SIGNAL_COUNT, snapshotOf } from "@isthmus/core";
import { type DatedObject, type Insight, type InsightHistory, NO_HISTORY } from "@isthmus/insights";
import { heldBy, longText, MEBIBYTE } from "@isthmus/testing";
import { expect, test } from "vitest";
import { rolloutRestarts } from "../src/agent/rolloutRestarts.ts";
import { serverRoles } from "../src/index.ts";
import { ACTIVITY_MINUTES, activityIn, activityObjects, SYNC_BOUNDS, type TrafficActivity } from "../src/replication/clusterActivity.ts";
import { startInsightEvents } from "../src/server/insightEvents.ts";

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
