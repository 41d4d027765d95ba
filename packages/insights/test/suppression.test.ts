import { Settings } from "@isthmus/api";
import { type AnyResource, type Resource, snapshotOf } from "@isthmus/core";
import { expect, test } from "vitest";
import { SUPPRESS_ANNOTATION } from "../src/index.ts";
import { fixture, insightsIn } from "./fixtures.ts";

/** What becomes of the insights of a world about VirtualServices. */
function evaluated(objects: readonly Resource[]) {
  const rows = [...insightsIn(snapshotOf(objects)).byObject];
  const judged = rows.filter(({ object }) => object.kind === "VirtualService");
  return {
    shown: judged.flatMap(({ shown }) => shown.map(({ code }) => code)),
    suppressed: judged.flatMap(({ suppressed }) => suppressed.map(({ insight, reason, by }) => `${by} ${insight.code} ${reason}`)),
    problems: rows.flatMap(({ problems }) => problems),
  };
}

function evaluatedWith(annotation: string) {
  return evaluated(
    fixture("BP0001", "finds").map((object) => ({
      ...object,
      metadata: { ...object.metadata, annotations: { [SUPPRESS_ANNOTATION]: annotation } },
    })),
  );
}

test.each([
  ["BP0001: shared by all teams", "shared by all teams"],
  ["RTE1001: other\nBP0001 until 2026-02-01: until the move", "until the move"],
  ["RTE1001: other; BP*: no best practice here", "no best practice here"],
])("what %j suppresses is kept apart, with its reason", (annotation, reason) => {
  expect(evaluatedWith(annotation)).toEqual({ shown: [], suppressed: [`annotation BP0001 ${reason}`], problems: [] });
});

test.each([
  ["BP0001 until 2026-01-31: until the move", "the suppression of BP0001 has ended on 2026-01-31: remove it, or extend it"],
  ["BP0001", '"BP0001" is not of the form "CODE until YYYY-MM-DD: reason", so it suppresses nothing'],
  ["BP0001 until tomorrow: x", '"BP0001 until tomorrow: x" is not of the form "CODE until YYYY-MM-DD: reason", so it suppresses nothing'],
  ["*: all", '"*: all" is not of the form "CODE until YYYY-MM-DD: reason", so it suppresses nothing'],
])("%j suppresses nothing, and that is said", (annotation, problem) => {
  const message = `VirtualService bookinfo/reviews in cluster-1: annotation ${SUPPRESS_ANNOTATION}: ${problem}`;
  expect(evaluatedWith(annotation)).toEqual({ shown: ["BP0001"], suppressed: [], problems: [message] });
});

test("a suppression of another code suppresses nothing", () => {
  expect(evaluatedWith("BP0002: other")).toEqual({ shown: ["BP0001"], suppressed: [], problems: [] });
});

test("an annotation suppresses insights about the object that has it, and about no other", () => {
  const [judged] = fixture("BP0001", "finds") as readonly [AnyResource];
  // Each for a host of its own: two for one would be another insight.
  const renamed = (name: string, annotations = {}) => ({
    ...judged,
    metadata: { ...judged.metadata, name, annotations },
    spec: { ...(judged["spec"] as object), hosts: [name] },
  });
  const annotations = { [SUPPRESS_ANNOTATION]: "BP*: mine; RTE*: mine; SEC*: mine" };
  const namespace: AnyResource = {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name: judged.metadata.namespace ?? "", clusterName: judged.metadata.clusterName ?? "", annotations },
  };
  expect(evaluated([renamed("mine", annotations), renamed("theirs"), namespace])).toEqual({
    shown: ["BP0001"],
    suppressed: ["annotation BP0001 mine"],
    problems: [],
  });
});

/** Settings with suppressions, as the API server would take them. */
function settings(entries: readonly object[], metadata: object = {}): Resource {
  return Settings.parse({
    apiVersion: Settings.apiVersion,
    kind: Settings.kind,
    metadata: { name: "settings", namespace: "gloo-mesh", ...metadata },
    spec: { insights: { suppressions: entries } },
  });
}

function evaluatedUnder(entries: readonly object[], metadata?: object) {
  return evaluated([...fixture("BP0001", "finds"), settings(entries, metadata)]);
}

const SHOWN = { shown: ["BP0001"], suppressed: [], problems: [] };

test.each([
  { code: "BP0001", reason: "shared" },
  { code: "BP*", reason: "shared", until: "2026-02-01" },
  { code: "BP0001", reason: " shared ", object: {} },
  { code: "BP0001", reason: "shared", object: { cluster: "cluster-*", namespace: "book*", kind: "VirtualService", name: "*view*" } },
  { code: "BP0001", reason: "shared", object: { name: "r*v*ws" } },
])("the Settings suppress by %j", (entry) => {
  expect(evaluatedUnder([{ code: "RTE1001", reason: "other" }, entry])).toEqual({
    ...SHOWN,
    shown: [],
    suppressed: ["Settings BP0001 shared"],
  });
});

test.each([
  [{ code: "BP0001" }],
  [{ code: "BP0001", reason: "  " }],
  [{ reason: "all of them" }],
  [{ code: "*", reason: "all of them" }],
  [{ code: "BP0001", reason: "over", until: "2026-01-31" }],
  [{ code: "BP0001", reason: "no day", until: "soon" }],
  [{ code: "BP0001", reason: "misspelt", object: { namspace: "other" } }],
  [{ code: "BP0001", reason: "misspelt", objects: { namespace: "other" } }],
  [{ code: "BP0001", reason: "other", object: { namespace: "book" } }],
  [{ code: "BP0001", reason: "other", object: { name: "reviews*reviews" } }],
  [{ code: "BP0001", reason: "other", object: { name: "*s*ws" } }],
  [{ code: "BP0001", reason: "other", object: { cluster: "" } }],
])("the Settings suppress nothing by %j", (entry) => {
  expect(evaluatedUnder([entry])).toEqual(SHOWN);
});

test.each([{ clusterName: "cluster-1" }, { namespace: "bookinfo" }, { name: "mine" }])("Settings with %j suppress nothing", (metadata) => {
  expect(evaluatedUnder([{ code: "BP*", reason: "mine" }], metadata)).toEqual(SHOWN);
});

test("what is suppressed is counted", () => {
  const objects = [...fixture("BP0001", "finds"), settings([{ code: "BP0001", reason: "shared" }])];
  expect(insightsIn(snapshotOf(objects)).counts).toContainEqual({ code: "BP0001", severity: "warning", shown: 0, suppressed: 1 });
});
