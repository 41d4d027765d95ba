import type { ConsoleInsight } from "@isthmus/console/wire";
import { resourceKeyOf } from "@isthmus/core";
import { expect, it } from "vitest";
import { emptyFleet, type Fleet } from "../../client/data/fleet.ts";
import { insightFile } from "../../client/model/insights/insightExport.ts";
import { scopeOf } from "../../client/model/scope.ts";

function found(name: string, cluster: string, more: Partial<ConsoleInsight> = {}): ConsoleInsight {
  const object = { apiVersion: "v1", kind: "Service", name, namespace: "shop", clusterName: cluster };
  const remedy = { text: "add a pod", command: "kubectl scale" };
  return {
    code: "RES1003",
    category: "RES",
    severity: "error",
    object,
    cluster,
    field: "spec",
    message: "is wrong",
    remedy,
    since: "2026-01-01T00:00:00Z",
    ...more,
  };
}

function fleetOf(...insights: readonly ConsoleInsight[]): Fleet {
  const fleet = emptyFleet();
  const source = { kind: "server" as const, name: "s", version: "9.8", namespace: "gloo-mesh" };
  const rows = insights.map((one) => [resourceKeyOf(one.object), { object: one.object, insights: [one] }] as const);
  return { ...fleet, source, insights: fleet.insights.with(rows) };
}

const suppressed = found("b", "c2", { suppressed: { reason: "known", until: "2027-01-01", by: "annotation" } });

it("is a SARIF log with what is suppressed, and why", () => {
  const { name, text } = insightFile("SARIF", fleetOf(found("a", "c1"), suppressed));
  const [run] = JSON.parse(text).runs;
  expect(name).toBe("insights.sarif");
  expect(run.tool.driver).toMatchObject({ name: "gloo-mesh-ui", version: "9.8", rules: [{ id: "RES1003" }] });
  expect(run.results).toMatchObject([
    {
      ruleId: "RES1003",
      level: "error",
      message: { text: "Service shop/a in c1: spec: is wrong. Remedy: add a pod: kubectl scale" },
      suppressions: [],
    },
    { suppressions: [{ kind: "inSource", justification: "known", properties: { until: "2027-01-01" } }] },
  ]);
});

it("is JSON as meshctl prints it", () => {
  const { insights, suppressed: hidden } = JSON.parse(insightFile("JSON", fleetOf(found("a", "c1"), suppressed)).text);
  expect(insights).toEqual([found("a", "c1")]);
  expect(hidden).toEqual([{ insight: found("b", "c2"), reason: "known", until: "2027-01-01", by: "annotation" }]);
});

it("keeps to the clusters of a scope", () => {
  const { insights, suppressed: hidden } = JSON.parse(insightFile("JSON", fleetOf(found("a", "c1"), suppressed), scopeOf("c2")).text);
  expect([insights.length, hidden.length]).toEqual([0, 1]);
});

it("has nothing hidden in it, and no command that would be another one when it is pasted", () => {
  const hostile = found("a", "c1", { message: "is\u202ewrong\u001b[31m", remedy: { text: "x", command: "kubectl get a\n; rm -rf /" } });
  for (const format of ["SARIF", "JSON"] as const) {
    const { text } = insightFile(format, fleetOf(hostile));
    for (const hidden of ["\\u202e", "\\u001b", "\u202e", "\u001b", "rm -rf"]) expect(text).not.toContain(hidden);
  }
});
