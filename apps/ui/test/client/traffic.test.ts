import type { ConsoleActivity } from "@isthmus/console/wire";
import { edgeRow, fullKeyOf, noSignals, OTHER_EDGES, type Resource, SIGNAL_AT, snapshotOf, type TrafficEdge } from "@isthmus/core";
import { describe, expect, it } from "vitest";
import { emptyFleet, type Fleet } from "../../client/data/fleet.ts";
import { folded, NO_STREAM } from "../../client/data/fold.ts";
import type { Destination, Workload } from "../../client/data/kinds.ts";
import { fleetSync, syncTimes } from "../../client/model/clusters/syncTimes.ts";
import { scopeOf } from "../../client/model/scope.ts";
import { receivedTraffic } from "../../client/model/topology/receivedTraffic.ts";
import { topologyOf } from "../../client/model/topology/topology.ts";
import { withTraffic } from "../../client/model/topology/topologyTraffic.ts";
import { countedEdges, summedSeries, trafficEnds, trafficState } from "../../client/model/topology/traffic.ts";
import { trafficRows } from "../../client/model/topology/trafficRows.ts";

const AT = "2026-01-01T12:00:00.000Z";
const now = Date.parse(AT);
const labels = (clusterName: string) => ({ "cluster.discovery.mesh.gloo.solo.io": clusterName });
const place = (name: string, clusterName: string) => ({ name, namespace: "bookinfo", clusterName });

function destination(name: string, clusterName: string, status: Destination["status"] = {}): Destination {
  return {
    apiVersion: "discovery.mesh.gloo.solo.io/v1",
    kind: "Destination",
    metadata: { name: `${name}-${clusterName}`, namespace: "gloo-mesh", labels: labels(clusterName) },
    spec: { kubeService: { ref: place(name, clusterName), workloadSelectorLabels: { app: name } } },
    status,
  };
}

function workload(name: string, app: string, clusterName = "c1"): Workload {
  return {
    apiVersion: "discovery.mesh.gloo.solo.io/v1",
    kind: "Workload",
    metadata: { name: `${name}-${clusterName}`, namespace: "gloo-mesh", labels: labels(clusterName) },
    spec: { kubernetes: { controller: { kind: "Deployment", ...place(name, clusterName) }, podLabels: { app }, serviceAccountName: name } },
  } as Workload;
}

interface Counted {
  readonly from: string;
  readonly to: string;
  readonly namespace?: string;
  readonly workload?: string;
  readonly cluster?: string;
  /** In five minutes and in an hour: requests, all of which took 25 to 50 ms, and errors among them. */
  readonly requests?: readonly [number, number];
  readonly errors?: number;
  readonly bytes?: number;
}

function row({ from, to, requests = [300, 600], errors = 0, bytes = 0, ...names }: Counted) {
  const edge: TrafficEdge = {
    ...{ sourceNamespace: "bookinfo", sourceWorkload: from, namespace: "bookinfo", service: to },
    ...{ workload: "", cluster: "", ...names },
  };
  const numbers = requests.flatMap((count) => {
    const signals = noSignals();
    signals[SIGNAL_AT.codes + 2] = count - errors;
    signals[SIGNAL_AT.codes + 5] = errors;
    signals[SIGNAL_AT.buckets + 4] = count;
    signals[SIGNAL_AT.responseBytes] = bytes;
    return [...signals];
  });
  return edgeRow(edge, numbers);
}

const activityOf = (cluster: string, edges: readonly Counted[], more: Partial<ConsoleActivity> = {}): ConsoleActivity => ({
  ...{ cluster, at: AT, sync: [], syncBounds: [] },
  traffic: {
    windows: [
      { minutes: 5, seconds: 300 },
      { minutes: 60, seconds: 600 },
    ],
    ...{ targets: 1, scraped: 1, edges: edges.map(row), left: 0 },
  },
  ...more,
});

function fleetOf(objects: readonly Resource[], activity: readonly ConsoleActivity[]): Fleet {
  const clock = { now: AT, at: AT, clusters: [] };
  const map = new Map(activity.map((one) => [one.cluster, one]));
  return { ...emptyFleet(), snapshot: snapshotOf(objects), activity: map, clock, isReady: true };
}

const OBJECTS = [
  destination("reviews", "c1"),
  destination("ratings", "c1"),
  destination("ratings", "c2"),
  workload("reviews-v1", "reviews"),
  workload("reviews-v2", "reviews"),
  workload("cron", "cron"),
];

const edgesOf = (fleet: Fleet, minutes: 5 | 60 = 5) =>
  withTraffic(topologyOf(fleet), fleet, minutes).edges.map(({ type, from, to, label, rates }) => [type, from, to, label, rates?.requests]);

describe("the last moments of an edge", () => {
  const times = ["2026-01-01T11:58:00.000Z", AT];
  const withSeries = (activity: ConsoleActivity, series: readonly (readonly number[])[]): ConsoleActivity => ({
    ...activity,
    traffic: {
      ...(activity.traffic ?? expect.fail("no traffic")),
      times: times.slice(-(series[0]?.length ?? 0) / 2),
      edges: (activity.traffic?.edges ?? []).map((edge, i) => [...edge, ...(series[i] ?? [])]),
    },
  });
  const calls = [
    { from: "reviews-v1", to: "ratings" },
    { from: "reviews-v2", to: "ratings" },
  ];

  it("are added up, with those of a cluster that began later at the end", () => {
    const one = withSeries(activityOf("c1", calls), [
      [1, 0, 2, 0.5],
      [3, 0, 4, 0],
    ]);
    const other = withSeries(activityOf("c2", [{ from: "reviews-v1", to: "ratings", cluster: "c1" }]), [[10, 10]]);
    const rated = destination("ratings", "c1");
    const [row] = trafficRows(fleetOf(OBJECTS, [one]), rated, 60);
    expect([row?.text, Array.from(row?.series ?? [])]).toEqual(["bookinfo/reviews-v1", [1, 0, 2, 0.5]]);
    const edges = withTraffic(topologyOf(fleetOf(OBJECTS, [one, other])), fleetOf(OBJECTS, [one, other]), 5).edges;
    expect(edges.map(({ series }) => Array.from(series ?? []))).toEqual([
      [4, 0, 6, 0.5],
      [10, 10],
    ]);
    expect(summedSeries([[1, 0, 2, 0], [10, 10], []])).toEqual([1, 0, 12, 10]);
  });

  it("are added up of all that an object received, for lists", () => {
    const one = withSeries(activityOf("c1", calls), [
      [1, 0, 2, 0.5],
      [3, 0, 4, 0],
    ]);
    const received = receivedTraffic(fleetOf(OBJECTS, [one]));
    const rated = received.get(fullKeyOf(destination("ratings", "c1")));
    expect([rated?.rates.requests, Array.from(rated?.series ?? [])]).toEqual([600, [4, 0, 6, 0.5]]);
    // What an agent said long ago is not of now.
    const later = { ...fleetOf(OBJECTS, [one]), clock: { now: new Date(now + 200_000).toISOString(), at: AT, clusters: [] } };
    expect([...receivedTraffic(later).keys()]).toEqual([]);
    // Nothing that is known of is no zero.
    expect([...received.keys()]).toEqual([fullKeyOf(destination("ratings", "c1"))]);
  });

  it("are not needed: what was recorded before has none", () => {
    const [row] = trafficRows(fleetOf(OBJECTS, [activityOf("c1", calls)]), destination("ratings", "c1"), 5);
    expect(Array.from(row?.series ?? [1])).toEqual([]);
  });
});

describe("the graph with what was counted", () => {
  it("adds up the workloads behind a Service: quantiles are those of the sum", () => {
    const fleet = fleetOf(OBJECTS, [
      activityOf("c1", [
        { from: "reviews-v1", to: "ratings" },
        { from: "reviews-v2", to: "ratings", requests: [300, 3_000], errors: 30 },
      ]),
    ]);
    expect(edgesOf(fleet)).toEqual([["traffic", "reviews-c1.gloo-mesh.", "ratings-c1.gloo-mesh.", "2.00/s · 5 % errors · p95 49 ms", 600]]);
    expect(edgesOf(fleet, 60)[0]?.[4]).toBe(3_600);
  });

  it("leads to another cluster, and to the host under which a Service is federated", () => {
    const federated = destination("details", "c2", {
      appliedFederation: { federatedHostname: "details.bookinfo.svc.c2.global", federatedToMeshes: [] },
    });
    const fleet = fleetOf(
      [...OBJECTS, federated],
      [
        activityOf("c1", [
          { from: "reviews-v1", to: "ratings", cluster: "c2" },
          { from: "reviews-v1", to: "details.bookinfo.svc.c2.global" },
        ]),
      ],
    );
    expect(edgesOf(fleet).map(([, , to]) => to)).toEqual(["ratings-c2.gloo-mesh.", "details-c2.gloo-mesh."]);
  });

  it("has nodes for what is no Destination, and says so", () => {
    const fleet = fleetOf(OBJECTS, [
      activityOf("c1", [
        { from: "cron", to: "reviews" },
        { from: "reviews-v1", to: "api.example.com" },
        { from: "", to: "reviews" },
        { from: OTHER_EDGES, to: OTHER_EDGES },
      ]),
    ]);
    const { nodes, edges } = withTraffic(topologyOf(fleet), fleet, 5);
    expect(nodes.filter(({ isOutside }) => isOutside).map(({ name }) => name)).toEqual([
      "cron",
      "api.example.com",
      "unknown",
      OTHER_EDGES,
      OTHER_EDGES,
    ]);
    expect(edges).toHaveLength(4);
  });

  it("puts what was counted on the edge that allows it, once", () => {
    const sourceSelector = [{ kubeServiceAccountRefs: { serviceAccounts: [{ ...place("reviews-v1", "c1") }] } }];
    const policies = ["one", "two"].map((name) => ({ ref: { name, namespace: "bookinfo" }, spec: { sourceSelector } }));
    const allowed = destination("ratings", "c1", { appliedAccessPolicies: policies } as Destination["status"]);
    const objects = [...OBJECTS.filter((one) => one !== OBJECTS[1]), allowed];
    const edges = edgesOf(fleetOf(objects, [activityOf("c1", [{ from: "reviews-v1", to: "ratings" }])]));
    expect(edges.map(([type, , , label, requests]) => [type, label, requests])).toEqual([
      ["access", "1.00/s · p95 49 ms", 300],
      ["access", "", undefined],
    ]);
    // Nothing is known: no figure, and no 0.
    expect(edgesOf(fleetOf(objects, [])).map(([type, , , label, requests]) => [type, label, requests])).toEqual([
      ["access", "", undefined],
      ["access", "", undefined],
    ]);
  });

  it("adds up by namespace where services are", () => {
    const fleet = fleetOf(OBJECTS, [activityOf("c1", [{ from: "reviews-v1", to: "ratings", cluster: "c2" }])]);
    const { edges } = withTraffic(topologyOf(fleet, 1), fleet, 5);
    expect(edges.map(({ from, to, rates }) => [from, to, rates?.requests])).toEqual([["c1/bookinfo", "c2/bookinfo", 300]]);
  });

  it("shows connections without requests by their bytes", () => {
    const fleet = fleetOf(OBJECTS, [activityOf("c1", [{ from: "reviews-v1", to: "ratings", requests: [0, 0], bytes: 600_000 }])]);
    expect(edgesOf(fleet)[0]?.[3]).toBe("2.0 kB/s");
  });
});

describe("activity of an object", () => {
  const fleet = fleetOf(OBJECTS, [
    activityOf("c1", [
      { from: "reviews-v1", to: "ratings" },
      { from: "cron", to: "reviews", workload: "reviews-v1", requests: [3, 3] },
      { from: "", to: "reviews", workload: "reviews-v2", requests: [2, 2] },
    ]),
  ]);

  it("are who calls a workload, and whom it calls", () => {
    expect(trafficRows(fleet, OBJECTS[3] as Workload, 5).map(({ side, text, rates }) => [side, text, rates.requests])).toEqual([
      ["received", "bookinfo/cron", 3],
      ["sent", "bookinfo/ratings", 300],
    ]);
  });

  it("name the cluster of a Service that is called by a host name, and none of a host of which nobody knows", () => {
    const hosts = [
      destination("details", "c2", { appliedFederation: { federatedHostname: "details.bookinfo.svc.c2.corp", federatedToMeshes: [] } }),
      destination("stock", "c1", { localFqdn: "stock.bookinfo.svc.example.com" }),
    ];
    const calls = ["ratings", "details.bookinfo.svc.c2.corp", "stock.bookinfo.svc.example.com", "reviews.mesh.global"];
    const calling = fleetOf(
      [...OBJECTS, ...hosts],
      [
        activityOf(
          "c1",
          calls.map((to) => ({ from: "reviews-v1", to, ...(to === "ratings" ? {} : { namespace: "" }) })),
        ),
      ],
    );
    const rows = trafficRows(calling, OBJECTS[3] as Workload, 5);
    expect(rows.map(({ object, cluster }) => [object?.metadata.name, cluster])).toEqual([
      ["ratings-c1", "c1"],
      ["details-c2", "c2"],
      ["stock-c1", "c1"],
      [undefined, ""],
    ]);
  });

  it("are of a Destination who calls it, whichever workload answers", () => {
    expect(trafficRows(fleet, OBJECTS[0] as Destination, 5).map(({ side, text, rates }) => [side, text, rates.requests])).toEqual([
      ["received", "bookinfo/cron", 3],
      ["received", "bookinfo", 2],
    ]);
    expect(trafficRows(fleet, OBJECTS[2] as Destination, 5)).toEqual([]);
  });
});

describe("what is known of a cluster's traffic", () => {
  const fleet = fleetOf(
    [],
    [activityOf("c1", []), { cluster: "c2", at: AT, sync: [], syncBounds: [], problem: "its agent scrapes no proxies" }],
  );
  const state = (cluster: string, later = 0) => trafficState(fleet, cluster, { minutes: 5, now: now + later });

  it("is of now, or old, or nothing, with the reason", () => {
    expect(state("c1")).toEqual({ known: "now", at: AT, seconds: 300 });
    expect(state("c1", 180_001)).toEqual({ known: "stale", at: AT, seconds: 300 });
    expect(state("c2")).toEqual({ known: "never", reason: "its agent scrapes no proxies" });
    expect(state("c3")).toEqual({ known: "never", reason: "" });
  });

  it("is what the stream said last, until it says that nothing is known; a row that is none is left out", () => {
    const event = (data: ConsoleActivity) => ({ type: "activity", data }) as const;
    const said = activityOf("c1", [{ from: "a", to: "b" }]);
    const { traffic = expect.fail("there is traffic") } = said;
    const broken = { ...said, traffic: { ...traffic, edges: [["a"], ...traffic.edges, [...(traffic.edges[0] ?? []), 1]] } };
    const once = folded(NO_STREAM, [event(broken)]);
    expect(countedEdges(once.shown, 5).map(({ edge }) => edge.service)).toEqual(["b"]);
    expect(folded(once, [event({ ...said, at: null })]).shown.activity.size).toBe(0);
  });
});

it("says how long changes took, of one cluster and of several together", () => {
  const one = (sync: readonly number[], syncBounds: readonly number[] = [1, 2]) => ({ cluster: "c", at: AT, sync, syncBounds });
  expect(syncTimes([one([0, 0, 0])])).toBeUndefined();
  expect(syncTimes([])).toBeUndefined();
  expect(syncTimes([one([100, 0, 0])])).toEqual({ count: 100, p50: 0.5, p95: 0.95 });
  expect(syncTimes([one([50, 0, 0]), one([0, 50, 0]), one([9], [])])).toEqual({ count: 100, p50: 1, p95: 1.9 });
  // Longer than the last bound is at least that.
  expect(syncTimes([one([0, 0, 5])])).toEqual({ count: 5, p50: 2, p95: 2 });
});

it("says how long changes took in all clusters, without figures that are old", () => {
  const one = (cluster: string, sync: readonly number[], at: string = AT, syncBounds: readonly number[] = [1, 2]) =>
    [cluster, { cluster, at, sync, syncBounds }] as const;
  const activity = new Map([
    one("c1", [50, 0, 0]),
    one("c2", [0, 50, 0]),
    one("c3", [0, 0, 0]),
    one("old", [0, 0, 900], "2026-01-01T11:50:00.000Z"),
    one("uncounted", []),
  ]);
  expect(fleetSync(activity, scopeOf(""), now)).toEqual({ times: { count: 100, p50: 1, p95: 1.9 }, known: 3 });
  expect(fleetSync(activity, scopeOf("c1,old"), now)).toEqual({ times: { count: 50, p50: 0.5, p95: 0.95 }, known: 1 });
  expect(fleetSync(activity, scopeOf("c3"), now)).toEqual({ times: undefined, known: 1 });
  expect(fleetSync(activity, scopeOf("old,uncounted"), now)).toEqual({ times: undefined, known: 0 });
});

describe("the workload that answered", () => {
  it("is found where Istio gives a federated host the namespace of its ServiceEntry", () => {
    const host = "reviews.bookinfo.svc.c2.global";
    const called = destination("reviews", "c2", { appliedFederation: { federatedHostname: host } });
    const edge = { from: "productpage-v1", to: host, namespace: "istio-system", workload: "reviews-v3", cluster: "c2" };
    const fleet = fleetOf([called, workload("reviews-v3", "reviews", "c2")], [activityOf("c1", [edge])]);
    const [counted] = countedEdges(fleet, 5);
    const ends = trafficEnds(fleet);
    if (counted === undefined) return expect.fail("nothing was counted");
    expect(ends.destination(counted)?.metadata.name).toBe("reviews-c2");
    expect(ends.target(counted)?.metadata.name).toBe("reviews-v3-c2");
  });
});
