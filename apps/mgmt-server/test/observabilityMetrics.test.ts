import { noSignals, SIGNAL_AT } from "@isthmus/core";
import { fleetTraffic } from "@isthmus/dataplane";
import { expect, it } from "vitest";
import { type MetricsInputs, observabilityMetricsPage } from "../src/observabilityMetrics.ts";

const MINUTE = 60_000;
const NOW = 1_000_000 * MINUTE;

const edge = (sourceWorkload: string, service: string, cluster = "") => ({
  edge: { ...{ sourceNamespace: "shop", sourceWorkload, namespace: "books", service, workload: `${service}-v1` }, cluster },
  signals: noSignals(),
});

/** Of ten requests a minute one fails, for two minutes; then nothing is known for one, and in the last one nothing happens. */
function inputs(): MetricsInputs {
  const traffic = fleetTraffic();
  const host = edge("hourly", "reviews.mesh.global");
  const edges = [
    edge("web", "reviews"),
    edge("cron", "ratings", "west"),
    { ...host, edge: { ...host.edge, sourceNamespace: "jobs", namespace: "", workload: "" } },
  ];
  for (const { signals } of edges) {
    signals[SIGNAL_AT.codes + 2] = 9;
    signals[SIGNAL_AT.codes + 5] = 1;
    signals[SIGNAL_AT.buckets + 4] = 10;
  }
  const about = { epoch: "e", ageMs: 0, targets: 1, scraped: 1, controlPlanes: [] };
  for (const [sequence, back] of [3, 2].entries()) traffic.take("east", { ...about, sequence, spanMs: MINUTE, edges }, NOW - back * MINUTE);
  traffic.take("east", { ...about, sequence: 3, spanMs: MINUTE, edges: [] }, NOW);
  return {
    traffic,
    clusters: () => [{ cluster: "east" }, { cluster: "west", problem: "its agent is not connected to this replica" }],
    now: () => NOW - 1,
  };
}

async function asked(of: "node" | "edge", body: object | string) {
  const stop = new AbortController();
  let text = "";
  const page = observabilityMetricsPage(of, inputs());
  for await (const part of page(new URLSearchParams(), typeof body === "string" ? body : JSON.stringify(body), stop.signal)) text += part;
  return JSON.parse(text) as Record<string, readonly Record<string, unknown>[]>;
}

const ref = (name: string, namespace: string, clusterName = "east") => ({ name, namespace, clusterName });
const known = { requestCount: [10, 10, null, 0], successCount: [9, 9, null, 0], failureCount: [1, 1, null, 0] };

it("gives of a workload what it sent and what it got, step by step: what is not known is null, never 0", async () => {
  const { nodeMetrics = [], errors } = await asked("node", {
    nodeSelectors: [{ workloadRef: ref("web", "shop") }],
    window: "240s",
    step: "60s",
  });
  expect(nodeMetrics.map(({ workloadRef }) => workloadRef)).toEqual([ref("web", "shop")]);
  expect(nodeMetrics[0]?.["outgoingMetrics"]).toMatchObject(known);
  const { timestamps, requestLatencies } = (nodeMetrics[0]?.["outgoingMetrics"] ?? {}) as {
    timestamps: string[];
    requestLatencies: { p50: (number | null)[] };
  };
  expect(timestamps.at(-1)).toBe(new Date(NOW).toISOString());
  expect(requestLatencies.p50).toEqual([37.5, 37.5, null, null]);
  expect(nodeMetrics[0]?.["incomingMetrics"]).toMatchObject({ requestCount: [null, null, null, null] });
  // Nobody asked for the cluster of which nothing is known.
  expect(errors).toBeUndefined();
});

it("gives an edge between two workloads, also to another cluster, and names the clusters that are not known here", async () => {
  const all = await asked("edge", "");
  expect(all["edgeMetrics"]?.map(({ sourceWorkloadRef, targetWorkloadRef }) => [sourceWorkloadRef, targetWorkloadRef])).toEqual([
    [ref("web", "shop"), ref("reviews-v1", "books")],
    [ref("cron", "shop"), ref("ratings-v1", "books", "west")],
    // Nobody has said whose host it is.
    [ref("hourly", "jobs"), ref("reviews.mesh.global", "", "")],
  ]);
  expect(all["errors"]).toEqual([{ clusterName: "west", message: "its agent is not connected to this replica" }]);
  const target = { workloadSelector: { kubeWorkloadMatcher: { namespaces: ["books"], clusters: ["west"] } } };
  const one = await asked("edge", { edgeSelectors: [{ source: {}, target }], window: "240s", step: "120s" });
  expect(one["edgeMetrics"]).toHaveLength(1);
  expect(one["edgeMetrics"]?.[0]?.["metrics"]).toMatchObject({ requestCount: [20, 0], failureCount: [2, 0] });
});

it.each([
  ["no JSON", "{"],
  ["another member", { nodeSelector: [] }],
  [
    "labels, by which nothing is known here",
    { nodeSelectors: [{ workloadSelector: { kubeWorkloadMatcher: { labels: { app: "web" } } } }] },
  ],
  ["a window of more than an hour", { window: "3660s" }],
  ["a step of no whole minutes", { step: "15s" }],
  ["a time that is none", { time: "soon" }],
  ["more selectors than anybody needs", { nodeSelectors: Array.from({ length: 65 }, () => ({})) }],
  ["a deep text", `${"[".repeat(100)}${"]".repeat(100)}`],
])("refuses %s, as it might have narrowed the selection", async (_, body) => {
  await expect(asked("node", body)).rejects.toThrow("the request is not understood");
});
