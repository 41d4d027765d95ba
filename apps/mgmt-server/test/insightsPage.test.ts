import type { DatedObject, Insight, InsightSeverity } from "@isthmus/insights";
import type { FleetInsights } from "@isthmus/plane";
import { expect, test } from "vitest";
import { insightsPage } from "../src/insightsPage.ts";

function object(clusterName: string, name: string, ...severities: readonly InsightSeverity[]): DatedObject {
  const ref = { apiVersion: "v1", kind: "Service", name, namespace: "shop", clusterName };
  const insights = severities.map((severity, i) => {
    const insight: Insight = {
      code: "RES1002",
      category: "RES",
      severity,
      object: ref,
      cluster: clusterName,
      field: `spec.ports[${i}]`,
      message: "runs alone",
      remedy: { text: "scale it" },
    };
    return { insight, since: i };
  });
  return { object: ref, insights, problems: [] };
}

async function page(objects: readonly DatedObject[], query = "", others: Partial<FleetInsights> = {}) {
  const found: FleetInsights = { at: 0, objects, ended: [], unknown: [], withNearMiss: (insight) => insight, ...others };
  const lines = await insightsPage({ insights: async () => found })(new URLSearchParams(query));
  return JSON.parse([...lines].join(""));
}

test("the worst is listed first, with when it began; all are counted", async () => {
  const { at, items, counts, omitted } = await page([object("east", "a", "info", "error"), object("west", "b", "warning")]);
  expect(at).toBe("1970-01-01T00:00:00.000Z");
  expect(items.map(({ severity, since }: { severity: string; since: string }) => `${severity} ${since}`)).toEqual([
    "error 1970-01-01T00:00:00.001Z",
    "warning 1970-01-01T00:00:00.000Z",
    "info 1970-01-01T00:00:00.000Z",
  ]);
  expect(counts).toEqual(["info", "error", "warning"].map((severity) => ({ code: "RES1002", severity, shown: 1, suppressed: 0 })));
  expect(omitted).toEqual([]);
});

test("a cluster in which much is wrong leaves room for the others, and its rest is counted", async () => {
  const much = Array.from({ length: 25_000 }, (_, i) => object("noisy", `s${i}`, "error"));
  const objects = [...much, object("quiet", "a", "info")];
  const { items, omitted, counts } = await page(objects);
  expect(items).toHaveLength(10_001);
  expect(items.at(-1)).toMatchObject({ cluster: "quiet" });
  expect(omitted).toEqual([{ cluster: "noisy", count: 15_000 }]);
  expect(counts[0]).toMatchObject({ shown: 25_000 });
  const one = await page(objects, "cluster=noisy");
  expect(one.items).toHaveLength(20_000);
  expect((await page(objects, "cluster=")).items).toEqual([]);
});

test("suppressed ones say so, and those that have ended are of the cluster that is asked for", async () => {
  const [dated] = object("east", "a", "error").insights;
  const suppression = { reason: "known", by: "Settings" } as const;
  const hidden = { ...object("east", "a"), insights: dated === undefined ? [] : [{ ...dated, suppression }], problems: ["has ended"] };
  const over = { object: hidden.object, code: "BP0001", severity: "error", field: "", message: "was", since: 0, until: 1 } as const;
  const { items, ended, problems, counts } = await page([hidden], "", { ended: [over] });
  expect(items).toMatchObject([{ suppressed: suppression }]);
  expect(ended).toMatchObject([{ code: "BP0001", until: "1970-01-01T00:00:00.001Z" }]);
  expect({ problems, counts }).toMatchObject({ problems: ["has ended"], counts: [{ shown: 0, suppressed: 1 }] });
  expect((await page([hidden], "cluster=west", { ended: [over] })).ended).toEqual([]);
});

test("nothing is not the same as nothing wrong", async () => {
  const lines = await insightsPage({ insights: async () => undefined })(new URLSearchParams());
  expect(JSON.parse([...lines].join(""))).toEqual({ at: null, items: [] });
});
