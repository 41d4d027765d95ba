import { noSignals, OTHER_EDGES, SIGNAL_AT } from "@isthmus/core";
import { expect, it } from "vitest";
import type { FleetEdge, FleetTraffic } from "../src/traffic/fleetTraffic.ts";
import { windowsOf } from "../src/traffic/trafficWindows.ts";

const edge = (service: string, requests: number, bytes = 0): FleetEdge => {
  const signals = noSignals();
  signals[SIGNAL_AT.codes + 2] = requests;
  signals[SIGNAL_AT.responseBytes] = bytes;
  const names = { sourceNamespace: "shop", sourceWorkload: "web", namespace: "books", workload: "", cluster: "" };
  return { edge: { ...names, service }, totals: signals, recent: signals };
};

/** Traffic that is the same in each window, of as many seconds as it has minutes. */
const of = (edges: readonly FleetEdge[]): Pick<FleetTraffic, "of"> => ({
  of: (_, minutes) => ({ seconds: minutes, targets: 2, scraped: 1, edges, controlPlanes: [] }),
});
const options = { minutes: [5, 60], now: 0, most: 3 };
const told = (edges: readonly FleetEdge[]) => {
  const found = windowsOf(of(edges), "east", options);
  return found?.edges.map(({ edge: { service }, signals }) => [service, ...signals.map((one) => one[SIGNAL_AT.codes + 2])]);
};

it("has the busiest first, and leaves out what is idle", () => {
  expect(told([edge("a", 1), edge("b", 5), edge("idle", 0)])).toEqual([
    ["b", 5, 5],
    ["a", 1, 1],
  ]);
  expect(windowsOf(of([]), "east", options)).toEqual({
    windows: [
      { minutes: 5, seconds: 5 },
      { minutes: 60, seconds: 60 },
    ],
    ...{ targets: 2, scraped: 1, edges: [], left: 0 },
  });
});

it("adds up what there is no room for, and what an agent had no room for: no request is lost", () => {
  const found = windowsOf(of([edge("a", 1), edge("b", 5), edge("c", 3), edge("d", 2), edge(OTHER_EDGES, 7)]), "east", options);
  expect(found?.left).toBe(3);
  expect(told([edge("a", 1), edge("b", 5), edge("c", 3), edge("d", 2), edge(OTHER_EDGES, 7)])).toEqual([
    ["b", 5, 5],
    ["c", 3, 3],
    [OTHER_EDGES, 10, 10],
  ]);
});

it("takes connections by their bytes", () => {
  expect(told([edge("quiet", 1), edge("database", 0, 50_000_000)])?.map(([service]) => service)).toEqual(["database", "quiet"]);
});

it("knows nothing of a cluster of which nothing is known", () => {
  expect(windowsOf({ of: () => undefined }, "east", options)).toBeUndefined();
});
