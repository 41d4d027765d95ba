import { edgeRow, noSignals, SIGNAL_AT, type TrafficEdge } from "@isthmus/core";
import { ACTIVITY_MINUTES, type ClusterActivity } from "@isthmus/plane";
import { expect, it } from "vitest";
import { shownActivity } from "../src/sources/activity.ts";

const MINUTE = 60_000;
const START = Date.parse("2026-01-01T12:00:00Z");

function edgeTo(service: string, more: Partial<TrafficEdge> = {}): TrafficEdge {
  return { sourceNamespace: "shop", sourceWorkload: "cart", namespace: "shop", service, workload: "", cluster: "", ...more };
}

/** In a window of 100 seconds, so many requests of each edge, of which one failed. */
function activityAt(minute: number, counts: Readonly<Record<string, number>>, clusterName = "east"): ClusterActivity {
  const edges = Object.entries(counts).map(([service, count]) => {
    const signals = noSignals();
    signals[SIGNAL_AT.codes + 2] = count - 1;
    signals[SIGNAL_AT.codes + 5] = 1;
    return { edge: edgeTo(service), signals: ACTIVITY_MINUTES.map(() => signals) };
  });
  const windows = ACTIVITY_MINUTES.map((minutes) => ({ minutes, seconds: 100 }));
  return { clusterName, at: START + minute * MINUTE, sync: [], traffic: { windows, targets: 1, scraped: 1, left: 0, edges } };
}

/** The moments, and the series of each Service. */
function seriesOf(shown: ReturnType<typeof shownActivity>, ...all: readonly ClusterActivity[]) {
  const { traffic } = shown(new Map(all.map((one) => [one.clusterName, one]))).get("east") ?? {};
  const times = (traffic?.times ?? []).map((time) => (Date.parse(time) - START) / MINUTE);
  const without = edgeRow(
    edgeTo("a"),
    ACTIVITY_MINUTES.flatMap(() => [...noSignals()]),
  ).length;
  return { times, series: Object.fromEntries((traffic?.edges ?? []).map((row) => [row[3], row.slice(without)])) };
}

it("grows with each word of the agent: an edge that was not there had no request then", () => {
  const shown = shownActivity();
  expect(seriesOf(shown, activityAt(0, { a: 100 }))).toEqual({ times: [0], series: { a: [1, 0.01] } });
  const second = activityAt(1, { a: 200, b: 50 });
  const expected = { times: [0, 1], series: { a: [1, 0.01, 2, 0.01], b: [0, 0, 0.5, 0.01] } };
  expect(seriesOf(shown, second)).toEqual(expected);
  // The same word once more, beside one of another cluster.
  expect(seriesOf(shown, second, activityAt(1, { c: 1 }, "west"))).toEqual(expected);
  expect(seriesOf(shown, activityAt(2, { b: 50 })).series).toEqual({ b: [0, 0, 0.5, 0.01, 0.5, 0.01] });
});

it("has a moment a minute, and the last one, however often an agent says something", () => {
  const shown = shownActivity();
  for (let i = 0; i < 30; i++) seriesOf(shown, activityAt(i / 6, { a: 100 + i }));
  const { times, series } = seriesOf(shown, activityAt(5, { a: 130, b: 10 }));
  expect(times.map((time) => Math.round(time * 60))).toEqual([0, 60, 120, 180, 240, 300]);
  expect(series["a"]).toEqual([1, 1.06, 1.12, 1.18, 1.24, 1.3].flatMap((rate) => [rate, 0.01]));
  expect(series["b"]?.slice(-4)).toEqual([0, 0, 0.1, 0.01]);
  for (let i = 31; i < 300; i++) seriesOf(shown, activityAt(i / 6, { a: 100 + i }));
  const later = seriesOf(shown, activityAt(50, { a: 400 }));
  expect([later.times.length, later.series["a"]?.length]).toEqual([30, 60]);
});

it("keeps half an hour, and begins again after a time of which nothing is known", () => {
  const shown = shownActivity();
  for (let minute = 0; minute < 40; minute++) seriesOf(shown, activityAt(minute, { a: 100 + minute }));
  const { times, series } = seriesOf(shown, activityAt(40, { a: 140 }));
  expect([times.length, times[0], series["a"]?.length, series["a"]?.[0]]).toEqual([30, 11, 60, 1.11]);
  expect(seriesOf(shown, activityAt(44, { a: 100 }))).toEqual({ times: [44], series: { a: [1, 0.01] } });
  // A clock that was set back.
  expect(seriesOf(shown, activityAt(30, { a: 100 })).times).toEqual([30]);
  shown(new Map());
  expect(seriesOf(shown, activityAt(31, { a: 100 })).times).toEqual([31]);
});
