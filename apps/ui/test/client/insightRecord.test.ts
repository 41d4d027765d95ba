import type { ConsoleEndedInsight, ConsoleInsight } from "@isthmus/console/wire";
import { type ResourceRef, resourceKeyOf } from "@isthmus/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { emptyFleet, type Fleet } from "../../client/data/fleet.ts";
import { changesBetween, changesSince, insightRecord, insightTrend } from "../../client/model/insights/insightRecord.ts";
import { scopeOf } from "../../client/model/scope.ts";

const T0 = Date.parse("2026-01-01T00:00:00Z");
const MINUTE = 60_000;
const at = (minutes: number) => new Date(T0 + minutes * MINUTE).toISOString();
const refTo = (name: string, clusterName = "c1"): ResourceRef => ({
  apiVersion: "v1",
  kind: "Service",
  name,
  namespace: "ns",
  clusterName,
});

function found(name: string, minutes: number, more: Partial<ConsoleInsight> = {}): ConsoleInsight {
  const object = refTo(name, more.cluster ?? "c1");
  return {
    code: "RES1003",
    category: "RES",
    severity: "warning",
    object,
    cluster: object.clusterName,
    field: "",
    message: `about ${name}`,
    remedy: { text: "do" },
    since: at(minutes),
    ...more,
  };
}

function over(name: string, from: number, to: number, more: Partial<ConsoleEndedInsight> = {}): ConsoleEndedInsight {
  return { object: refTo(name), code: "RES1003", severity: "warning", field: "", message: "m", since: at(from), until: at(to), ...more };
}

function fleetOf(current: readonly ConsoleInsight[], ended: readonly ConsoleEndedInsight[] = [], more: Partial<Fleet> = {}): Fleet {
  const base = emptyFleet();
  const byKey = new Map<string, ConsoleInsight[]>();
  for (const insight of current) byKey.set(resourceKeyOf(insight.object), [...(byKey.get(resourceKeyOf(insight.object)) ?? []), insight]);
  const rows = [...byKey].map(([key, insights]) => [key, { object: insights[0]?.object ?? refTo(""), insights }] as const);
  return { ...base, insights: base.insights.with(rows), ended, ...more };
}

const told = (changes: ReturnType<typeof changesSince>) => changes.map(({ what, insight }) => `${what} ${insight.object.name}`).sort();
const since = (fleet: Fleet, minutes: number) => told(changesSince(insightRecord(fleet), T0 + minutes * MINUTE));

describe("what changed since a time", () => {
  it("is what began and is still there, and what was there and has ended", () => {
    const fleet = fleetOf([found("old", 0), found("young", 20)], [over("gone", 5, 15), over("short", 12, 14), over("before", 1, 8)]);
    expect(since(fleet, 10)).toEqual(["gone gone", "new young"]);
    expect(since(fleet, 5)).toEqual(["gone before", "gone gone", "new young"]);
    expect(since(fleet, 30)).toEqual([]);
  });

  it("does not tell what came back, nor what is suppressed", () => {
    const suppressed = found("quiet", 20, { suppressed: { reason: "known", by: "annotation" } });
    expect(since(fleetOf([found("back", 18), suppressed], [over("back", 5, 15)]), 10)).toEqual([]);
    // At that time it was not there.
    expect(since(fleetOf([found("back", 18)], [over("back", 5, 15)]), 16)).toEqual(["new back"]);
  });

  it("begins where the record does: with the first that is known, and after those that are forgotten", () => {
    expect(insightRecord(fleetOf([])).start).toBeUndefined();
    const known = [found("a", 9)];
    expect(insightRecord(fleetOf(known, [over("b", 2, 3)])).start).toBe(T0 + 2 * MINUTE);
    const forgottenInsights = [{ cluster: "c2", before: at(4) }];
    expect(insightRecord(fleetOf(known, [over("b", 2, 3)], { forgottenInsights })).start).toBe(T0 + 4 * MINUTE);
  });

  it("keeps to the clusters of a scope", () => {
    const record = insightRecord(fleetOf([found("a", 0), found("b", 0, { cluster: "c2" })]), scopeOf("c2"));
    expect(record.current.map(({ object }) => object.name)).toEqual(["b"]);
  });
});

describe("what is other than in an earlier fleet", () => {
  it("follows from what was shown and is", () => {
    const quiet = { suppressed: { reason: "known", by: "Settings" } } as const;
    const before = fleetOf([found("stays", 0), found("goes", 0), found("hides", 0), found("shows", 0, quiet)]);
    const after = fleetOf([found("stays", 0, { message: "2 of 3" }), found("comes", 5), found("hides", 0, quiet), found("shows", 0)]);
    expect(told(changesBetween(before, after))).toEqual(["gone goes", "new comes", "new shows", "suppressed hides"]);
    expect(told(changesBetween(before, before))).toEqual([]);
    expect(told(changesBetween(before, after, scopeOf("c2")))).toEqual([]);
  });

  it("is what began and ended since, where nothing is suppressed", () => {
    const span = fc.record({ name: fc.constantFrom("a", "b", "c", "d"), from: fc.nat(40), length: fc.integer({ min: 1, max: 30 }) });
    fc.assert(
      fc.property(
        fc.uniqueArray(span, { selector: ({ name }) => name }),
        fc.nat(60),
        fc.integer({ min: 1, max: 40 }),
        (spans, then, later) => {
          const now = then + later;
          const standing = (time: number) => spans.filter(({ from, length }) => from <= time && from + length > time);
          const fleetAt = (time: number) =>
            fleetOf(
              standing(time).map(({ name, from }) => found(name, from)),
              spans.filter(({ from, length }) => from + length <= time).map(({ name, from, length }) => over(name, from, from + length)),
            );
          expect(since(fleetAt(now), then)).toEqual(told(changesBetween(fleetAt(then), fleetAt(now))));
        },
      ),
    );
  });
});

describe("the trend", () => {
  const options = { now: T0 + 40 * MINUTE, spanMs: 1_000 * MINUTE, points: 5 };

  it("counts what there was at each time, from the first that is known to now", () => {
    const fleet = fleetOf([found("a", 0), found("b", 25, { severity: "error" })], [over("c", 5, 15)]);
    const trend = insightTrend(insightRecord(fleet), options);
    expect(trend.map((point) => (point.at - T0) / MINUTE)).toEqual([0, 10, 20, 30, 40]);
    expect(trend.map(({ counts: { error, warning } }) => [error, warning])).toEqual([
      [0, 1],
      [0, 2],
      [0, 1],
      [1, 1],
      [1, 1],
    ]);
  });

  it("is of the span at most, and counts what was there at its beginning", () => {
    const fleet = fleetOf([found("a", 0)], [over("b", 1, 25), over("c", 1, 2)]);
    const trend = insightTrend(insightRecord(fleet), { ...options, spanMs: 20 * MINUTE, points: 3 });
    expect(trend.map((point) => [(point.at - T0) / MINUTE, point.counts.warning])).toEqual([
      [20, 2],
      [30, 1],
      [40, 1],
    ]);
  });

  it("is none where nothing was ever found", () => {
    expect(insightTrend(insightRecord(fleetOf([])), options)).toEqual([]);
  });
});
