import type { ConsoleInsight } from "@isthmus/console/wire";
import { resourceKeyOf } from "@isthmus/core";
import { expect, it } from "vitest";
import { matchesRow } from "../../client/components/table/tableColumns.ts";
import { emptyFleet, type Fleet } from "../../client/data/fleet.ts";
import { clustersOfCode, insightGroups, namespacesOfCode, severitiesOfCode } from "../../client/model/insights/insightGroups.ts";
import { type CodeInsights, findingText, insightIndexOf, insightsOfCluster } from "../../client/model/insights/insightIndex.ts";
import { parseFilter } from "../../client/model/lines/tokens.ts";

function found(code: ConsoleInsight["code"], namespace: string, clusterName: string, more: Partial<ConsoleInsight> = {}): ConsoleInsight {
  const object = { apiVersion: "v1", kind: "Service", name: `${code}-${namespace}`, namespace, clusterName };
  const about = { code, category: "RES" as const, severity: "warning" as const, object, field: "", message: "is wrong" };
  return { ...about, cluster: clusterName, remedy: { text: "" }, since: "2026-01-02T00:00:00Z", ...more };
}

function fleetOf(...insights: readonly ConsoleInsight[]): Fleet {
  const fleet = emptyFleet();
  const rows = insights.map((one) => [resourceKeyOf(one.object), { object: one.object, insights: [one] }] as const);
  return { ...fleet, insights: fleet.insights.with(rows) };
}

const target = { apiVersion: "v1", kind: "Service", name: "t", namespace: "other", clusterName: "c2" };
const fleet = fleetOf(
  found("RES1", "shop", "c1", { severity: "error", since: "2026-01-01T00:00:00Z" }),
  found("RES1", "bank", "c2"),
  found("RES2", "shop", "c1", { targets: [target] }),
  found("RES2", "", ""),
  found("RES3", "shop", "c3", { suppressed: { reason: "known", by: "annotation" } }),
);
const { byCode } = insightIndexOf(fleet);
const groups = (by: Parameters<typeof insightGroups>[1]) =>
  insightGroups(byCode, by, fleet).map(({ name, counts, codes, objects }) => [name, counts.error, counts.warning, codes.join(), objects]);

it("groups insights by severity, cluster or namespace; what is about two clusters is in both, what is suppressed in none", () => {
  expect(groups("severity")).toEqual([
    ["error", 1, 0, "RES1", 1],
    ["warning", 0, 3, "RES1,RES2", 3],
  ]);
  expect(groups("cluster")).toEqual([
    ["c1", 1, 1, "RES1,RES2", 2],
    ["c2", 0, 2, "RES1,RES2", 2],
    ["management", 0, 1, "RES2", 1],
  ]);
  expect(groups("namespace")).toEqual([
    ["shop", 1, 1, "RES1,RES2", 2],
    ["bank", 0, 1, "RES1", 1],
    ["–", 0, 1, "RES2", 1],
  ]);
  expect(insightGroups(byCode, "severity", fleet).map(({ since }) => since)).toEqual(["2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"]);
});

it("has on the page of a cluster as many insights as totals count for it", () => {
  for (const name of ["c1", "c2", "c3"]) {
    const { error = 0, warning = 0, info = 0 } = insightIndexOf(fleet).byCluster.get(name) ?? {};
    const active = insightsOfCluster(fleet, name).filter(({ suppressed }) => suppressed === undefined);
    expect([name, active.length]).toEqual([name, error + warning + info]);
  }
  expect(insightsOfCluster(fleet, "c3").map(({ code }) => code)).toEqual(["RES3"]);
});

it("leads to exactly the codes of a group, whatever their names have in them", () => {
  const values = { severity: severitiesOfCode, cluster: clustersOfCode, ns: namespacesOfCode };
  const columns = Object.entries(values).map(([token, of]) => ({
    ...{ id: token, title: token, width: [1, 1] as const, token, values: of },
    text: (row: CodeInsights) => of(row).join(", "),
    cell: () => null,
  }));
  for (const by of ["severity", "cluster", "namespace"] as const) {
    for (const { query, codes } of insightGroups(byCode, by, fleet)) {
      const filter = parseFilter(query);
      expect(byCode.filter((row) => matchesRow(columns, filter, row)).map(({ code }) => code)).toEqual(codes);
    }
  }
  const strange = fleetOf(found("RES1", "a b:c,d", "c1"));
  const [group] = insightGroups(insightIndexOf(strange).byCode, "namespace", strange);
  expect(parseFilter(group?.query ?? "").tokens).toEqual([{ key: "ns", values: ["a b:c,d"] }]);
});

it("says what is wrong as a sentence, of which the field is the subject where the message has none", () => {
  expect(findingText({ field: "spec.replicas", message: "is 1: while the pod restarts" })).toBe(
    "spec.replicas is 1: while the pod restarts",
  );
  expect(findingText({ field: "spec.host", message: "Destination not found" })).toBe("spec.host: Destination not found");
  expect(findingText({ field: "", message: "is 1" })).toBe("is 1");
});
