import { type AnyResource, emptySnapshot, type ResourceRef, resourceKeyOf } from "@isthmus/core";
import { type DatedObject, type Insight, type InsightHistory, NO_HISTORY } from "@isthmus/insights";
import { heldBy, longText, MEBIBYTE } from "@isthmus/testing";
import { expect, test } from "vitest";
import { rolloutRestarts } from "../src/agent/rolloutRestarts.ts";
import { serverRoles } from "../src/index.ts";
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
