import type { ConsoleSource } from "@isthmus/console/wire";
import { METRICS, type Resource, snapshotOf } from "@isthmus/core";
import { describe, expect, it } from "vitest";
import { emptyFleet, type Fleet } from "../../client/data/fleet.ts";
import { momentGrid, shadeOf } from "../../client/model/history/momentGrid.ts";
import { savedFleet } from "../../client/model/history/savedFleet.ts";
import { pipelineOf } from "../../client/model/pipeline.ts";
import { NO_SCOPE, scopeOf } from "../../client/model/scope.ts";
import { debugStrings } from "../../client/strings/debug.ts";

const object = (name: string, clusterName = ""): Resource => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name, namespace: "ns", ...(clusterName === "" ? {} : { clusterName }) },
});

describe("the grid of moments", () => {
  const changes = (...counts: readonly Readonly<Record<string, number>>[]) => ({
    moments: counts.map((each, i) => ({ at: `t${i}`, clusters: Object.entries(each).map(([name, count]) => ({ name, count })) })),
  });

  it("has the latest moment first, and a column for each cluster in which something changed", () => {
    expect(momentGrid(changes({}, { b: 2, "": 1 }, { a: 3 }), NO_SCOPE, 5)).toEqual({
      clusters: ["", "a", "b"],
      hasOthers: false,
      rows: [
        { at: "t2", counts: [0, 3, 0], others: 0, isFirst: false },
        { at: "t1", counts: [1, 0, 2], others: 0, isFirst: false },
        { at: "t0", counts: [0, 0, 0], others: 0, isFirst: true },
      ],
    });
  });

  it("sums up the clusters for which there is no place, and loses nothing", () => {
    const many = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`c${String(i).padStart(2, "0")}`, i + 1]));
    const { clusters, rows, hasOthers } = momentGrid(changes({}, many), NO_SCOPE, 3);
    expect([clusters, hasOthers]).toEqual([["c97", "c98", "c99"], true]);
    expect((rows[0]?.others ?? 0) + (rows[0]?.counts ?? []).reduce((sum, count) => sum + count, 0)).toBe((100 * 101) / 2);
  });

  it("keeps to the clusters of a scope, with the management cluster", () => {
    expect(momentGrid(changes({}, { a: 1, b: 2, "": 3 }), scopeOf("b"), 5).clusters).toEqual(["", "b"]);
  });

  it("shades by order of magnitude", () => {
    expect([0, 1, 9, 10, 999, 1_000, 5_000_000].map(shadeOf)).toEqual([0, 1, 1, 2, 3, 4, 4]);
  });
});

describe("the pipeline", () => {
  const source: ConsoleSource = { kind: "server", name: "s", version: "1", namespace: "gloo-mesh" };
  const fleet: Fleet = {
    ...emptyFleet(),
    source,
    snapshot: snapshotOf([object("x"), object("a1", "a"), object("a2", "a"), object("b1", "b")]),
    generated: snapshotOf([object("g1", "a"), object("g2", "b"), object("g3", "b")]),
    clock: {
      now: "2026-01-01T00:10:00Z",
      at: "2026-01-01T00:09:59Z",
      clusters: [
        { name: "a", at: "2026-01-01T00:09:58Z", phase: "synced", connected: true },
        { name: "b", at: "2026-01-01T00:09:57Z", phase: "synced", connected: true, behindSince: "2026-01-01T00:05:00Z" },
        { name: "c", at: null, phase: "unknown", connected: false },
      ],
    },
  };

  it("says of each stage what it has come to, and what is not known", () => {
    const { clusters, ...all } = pipelineOf(fleet);
    expect(all).toEqual({
      received: 3,
      oldestHeardAt: "2026-01-01T00:09:57Z",
      merged: 4,
      translated: 3,
      connected: 2,
      acknowledged: 1,
      behind: 1,
      unknown: 1,
      behindSince: "2026-01-01T00:05:00Z",
    });
    expect(clusters.map(({ name, received, translated, isConnected }) => [name, received, translated, isConnected])).toEqual([
      ["a", 2, 1, true],
      ["b", 1, 2, true],
      ["c", 0, 0, false],
    ]);
  });

  it("keeps to the clusters of a scope, but for what is merged", () => {
    expect(pipelineOf(fleet, scopeOf("a"))).toMatchObject({ received: 2, merged: 4, translated: 1, connected: 1, behind: 0, unknown: 0 });
  });

  it("is empty while nothing is known", () => {
    expect(pipelineOf(emptyFleet())).toMatchObject({ clusters: [], received: 0, merged: 0, oldestHeardAt: undefined });
  });
});

describe("a saved moment", () => {
  it("has every object of the snapshot, as YAML and JSON of clusters have them", () => {
    const saved = JSON.parse(savedFleet({ snapshot: snapshotOf([object("x"), object("y", "a")]) }));
    expect(saved).toMatchObject({ apiVersion: "v1", kind: "List" });
    expect(saved.items.map(({ metadata }: Resource) => [metadata.name, metadata.clusterName])).toEqual([
      ["x", undefined],
      ["y", "a"],
    ]);
  });
});

it("names metrics of servers that there are", () => {
  expect(debugStrings.metricsRows.filter(([, metric]) => !(metric in METRICS))).toEqual([]);
});
