import { CODE_CLASSES, noSignals, OTHER_EDGES, SIGNAL_AT } from "@isthmus/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fleetTraffic } from "../src/traffic/fleetTraffic.ts";
import type { EdgeCounts, TrafficAnswer } from "../src/traffic/trafficAnswer.ts";
import { clusterReport } from "../src/traffic/trafficReport.ts";
import { trafficText } from "../src/traffic/trafficText.ts";

const MINUTE = 60_000;
const START = 1_000_000 * MINUTE;

function edge(service: string, requests: number, errors = 0): EdgeCounts {
  const signals = noSignals();
  signals[SIGNAL_AT.codes + CODE_CLASSES.indexOf("2xx")] = requests - errors;
  signals[SIGNAL_AT.codes + CODE_CLASSES.indexOf("5xx")] = errors;
  // Half of them took up to 10 ms, the others up to 100 ms.
  signals[SIGNAL_AT.buckets + 2] = requests / 2;
  signals[SIGNAL_AT.buckets + 5] = requests / 2;
  signals[SIGNAL_AT.requestBytes] = requests * 100;
  return { edge: { sourceNamespace: "shop", sourceWorkload: "web", namespace: "books", service, workload: "v1", cluster: "" }, signals };
}

const answer = (edges: readonly EdgeCounts[], spanMs = 30_000): TrafficAnswer => ({
  epoch: "e",
  sequence: 1,
  ageMs: 0,
  spanMs,
  targets: 3,
  scraped: 2,
  edges,
  controlPlanes: [{ namespace: "istio-system", workload: "istiod", proxies: 7, counts: [10, 1, 0, 5, 2] }],
});

describe("the traffic of a fleet", () => {
  it("has means over the time that was counted: a gap is no idle time", () => {
    const traffic = fleetTraffic();
    for (let i = 1; i <= 6; i++) traffic.take("east", answer([edge("reviews", 300, 3)]), START + i * 30_000);
    // Nothing arrives for two minutes, and what comes then is of the last half minute.
    const now = START + 10 * 30_000;
    traffic.take("east", answer([edge("reviews", 300, 3)]), now);
    const known = traffic.of("east", 5, now);
    expect(known?.seconds).toBe(210);
    const report = clusterReport("east", known ?? expect.fail("nothing is known"));
    expect(report.edges).toEqual([
      {
        source: { namespace: "shop", workload: "web" },
        destination: { namespace: "books", service: "reviews", workload: "v1", cluster: "" },
        requests: 2_100,
        errors: 21,
        requestsPerSecond: 10,
        errorPercent: 1,
        p50Ms: 10,
        p90Ms: 90,
        p95Ms: 95,
        p99Ms: 99,
        requestBytesPerSecond: 1_000,
        responseBytesPerSecond: 0,
      },
    ]);
    expect(report.controlPlanes).toEqual([{ namespace: "istio-system", workload: "istiod", proxies: 7 }]);
  });

  it("forgets what is an hour old, minute by minute, and an idle edge", () => {
    const traffic = fleetTraffic();
    for (let minute = 1; minute <= 90; minute++) traffic.take("east", answer([edge("reviews", 60)], MINUTE), START + minute * MINUTE);
    const now = START + 90 * MINUTE;
    expect(traffic.of("east", 60, now)?.edges[0]?.recent[SIGNAL_AT.codes + 2]).toBeCloseTo(59 * 60);
    expect(traffic.of("east", 60, now)?.seconds).toBeCloseTo(59 * 60);
    for (let minute = 91; minute <= 151; minute++) traffic.take("east", answer([], MINUTE), START + minute * MINUTE);
    expect(traffic.edges).toBe(0);
  });

  it("knows nothing of a cluster whose agent has not answered for two minutes", () => {
    const traffic = fleetTraffic();
    traffic.take("east", answer([edge("reviews", 1)]), START);
    expect(traffic.of("east", 5, START + 2 * MINUTE)).toBeDefined();
    expect(traffic.of("east", 5, START + 2 * MINUTE + 1)).toBeUndefined();
    expect(traffic.of("west", 5, START)).toBeUndefined();
  });

  it("is bounded: a cluster with very many edges takes no room from others, and its sum is right", () => {
    const traffic = fleetTraffic(100);
    traffic.take("evil", answer(Array.from({ length: 500 }, (_, i) => edge(`s${i}`, 1))), START);
    traffic.take("good", answer(Array.from({ length: 40 }, (_, i) => edge(`s${i}`, 1))), START);
    traffic.take("evil", answer(Array.from({ length: 500 }, (_, i) => edge(`t${i}`, 1))), START);
    expect(traffic.edges).toBe(100);
    expect(traffic.of("good", 5, START)?.edges).toHaveLength(40);
    const evil = traffic.of("evil", 5, START)?.edges ?? [];
    const other = evil.find((row) => row.edge.service === OTHER_EDGES);
    expect(other?.totals[SIGNAL_AT.codes + 2]).toBe(400 + 440);
    expect(evil.reduce((sum, { recent }) => sum + (recent[SIGNAL_AT.codes + 2] ?? 0), 0)).toBe(500 + 500);
    traffic.forget("evil");
    expect([traffic.edges, [...traffic.clusters]]).toEqual([40, ["good"]]);
  });

  it("has room for the new edges of a cluster in which a pod invents others, and keeps those on which something happens", () => {
    const traffic = fleetTraffic(100);
    let now = START;
    for (let round = 0; round < 20; round++, now += 30_000) {
      const invented = Array.from({ length: 20 }, (_, i) => edge(`s${round}-${i}`, 1));
      const late = round < 10 ? [] : [edge("late", 1)];
      traffic.take("east", answer([...invented, edge("reviews", 1), ...late]), now);
    }
    const found = traffic.of("east", 30, now - 30_000)?.edges ?? [];
    const totalOf = (service: string) => found.find((row) => row.edge.service === service)?.totals[SIGNAL_AT.codes + 2];
    expect([totalOf("reviews"), totalOf("late"), traffic.edges]).toEqual([20, 10, 100]);
    const inWindow = found.reduce((sum, { recent }) => sum + (recent[SIGNAL_AT.codes + 2] ?? 0), 0);
    expect(inWindow).toBeCloseTo(20 * 21 + 10, 3);
  });

  it("keeps the same edges of a cluster that has more than there is room for: they do not take turns", () => {
    const traffic = fleetTraffic(100);
    const crowd = Array.from({ length: 300 }, (_, i) => edge(`s${i}`, 1));
    for (let round = 1; round <= 4; round++) traffic.take("east", answer(round % 2 === 0 ? [...crowd].reverse() : crowd), START);
    const found = traffic.of("east", 5, START)?.edges ?? [];
    const rows = found.filter((row) => row.edge.service !== OTHER_EDGES);
    expect(rows.map(({ totals }) => totals[SIGNAL_AT.codes + 2])).toEqual(Array.from({ length: 100 }, () => 4));
  });

  it("is a text that Prometheus reads, with a 0 for each cluster that is not known", () => {
    const traffic = fleetTraffic();
    traffic.take("east", answer([edge("reviews", 300, 3)]), START);
    const named = ["east", "west"].map((cluster) => ({ cluster, traffic: traffic.of(cluster, 1, START) }));
    const text = [...trafficText(named)].join("");
    const labels =
      'cluster="east",gm_workload_ref="web.shop.east",source_workload_namespace="shop",gm_destination_workload_ref="v1.books.east",destination_service="reviews",destination_namespace="books",destination_cluster=""';
    for (const line of [
      'gloo_mesh_traffic_known{cluster="east"} 1',
      'gloo_mesh_traffic_known{cluster="west"} 0',
      'gloo_mesh_traffic_targets{cluster="east",result="failed"} 1',
      `gloo_mesh_requests_total{${labels},response_code_class="5xx"} 3`,
      `gloo_mesh_request_duration_milliseconds_bucket{${labels},le="10"} 150`,
      `gloo_mesh_request_duration_milliseconds_bucket{${labels},le="+Inf"} 300`,
      'gloo_mesh_control_plane_proxies{cluster="east",namespace="istio-system",workload="istiod"} 7',
      'gloo_mesh_control_plane_rejects_total{cluster="east",namespace="istio-system",workload="istiod"} 1',
    ]) {
      expect(text.split("\n")).toContain(line);
    }
  });

  it("is a text without two lines of the same labels, whatever an agent sends", () => {
    const name = fc.constantFrom("", "a", "b", "a.b", "b.a", "east", OTHER_EDGES);
    const names = fc.record({
      sourceNamespace: name,
      sourceWorkload: name,
      namespace: name,
      service: name,
      workload: name,
      cluster: name,
    });
    const plane = fc.record({ namespace: name, workload: name, proxies: fc.constant(1), counts: fc.constant([1, 1, 1, 1, 1]) });
    const { signals } = edge("reviews", 2, 1);
    const one = (of: EdgeCounts["edge"]): EdgeCounts => ({ edge: of, signals });
    const other = one({ ...edge(OTHER_EDGES, 1).edge, sourceNamespace: "", sourceWorkload: OTHER_EDGES, namespace: "", workload: "" });
    // Edges that differ in one name alone, and one that there is no room for.
    const pairs = fc
      .tuple(names, names)
      .map(([a, b]) => [a, { ...a, cluster: b.cluster }, { ...a, sourceNamespace: b.sourceNamespace }, b]);
    fc.assert(
      fc.property(fc.array(pairs, { maxLength: 5 }), fc.array(plane, { maxLength: 5 }), (sent, controlPlanes) => {
        const traffic = fleetTraffic(15);
        traffic.take("east", { ...answer([other, ...sent.flat().map(one)]), controlPlanes }, START);
        const text = [...trafficText([{ cluster: "east", traffic: traffic.of("east", 1, START) }])].join("");
        const series = text.split("\n").flatMap((line) => (line.startsWith("gloo_") ? [line.slice(0, line.lastIndexOf(" "))] : []));
        expect(series.length - new Set(series).size).toBe(0);
      }),
      { numRuns: 50 },
    );
  });
});
