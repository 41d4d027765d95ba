import { type Resource, snapshotOf } from "@isthmus/core";
import { expect, it } from "vitest";
import { emptyFleet, type Fleet } from "../../client/data/fleet.ts";
import { type Destination, KubernetesCluster, type TrafficPolicy } from "../../client/data/kinds.ts";
import { freshnessOf } from "../../client/model/clusters/freshness.ts";
import { effectiveRouting, selectorText, valueText } from "../../client/model/effect.ts";
import { generatedObjectsOf } from "../../client/model/generatedObjects.ts";
import { parentsOf } from "../../client/model/parents.ts";
import { policiesOn, targetsOf } from "../../client/model/policyTargets.ts";
import { searchFleet } from "../../client/model/searchFleet.ts";
import { approvalOf } from "../../client/model/status.ts";
import { topologyOf } from "../../client/model/topology/topology.ts";

const NETWORKING = "networking.mesh.gloo.solo.io/v1";
const policy: TrafficPolicy = {
  apiVersion: NETWORKING,
  kind: "TrafficPolicy",
  metadata: { name: "shift", namespace: "bookinfo", generation: 1 },
  spec: {},
  status: { observedGeneration: 1, state: "ACCEPTED", destinations: { "reviews.gloo-mesh.": { state: "ACCEPTED" } } },
};
const service = (name: string, clusterName: string) => ({ name, namespace: "bookinfo", clusterName });

function destination(name: string, clusterName: string, status: Destination["status"] = {}): Destination {
  return {
    apiVersion: "discovery.mesh.gloo.solo.io/v1",
    kind: "Destination",
    metadata: { name, namespace: "gloo-mesh", labels: { "cluster.discovery.mesh.gloo.solo.io": clusterName } },
    spec: { kubeService: { ref: service(name, clusterName) } },
    status,
  };
}

const shifted = destination("reviews", "c1", {
  appliedTrafficPolicies: [
    {
      ref: { name: "shift", namespace: "bookinfo" },
      spec: {
        policy: {
          requestTimeout: "2s",
          trafficShift: {
            destinations: [
              { kubeService: service("reviews", "c1"), weight: 3 },
              { kubeService: service("ratings", "c2"), weight: 1 },
            ],
          },
        },
      },
    },
  ],
});

function fleetOf(objects: readonly Resource[], generated: readonly Resource[] = []): Fleet {
  return { ...emptyFleet(), snapshot: snapshotOf(objects), generated: snapshotOf(generated), isReady: true };
}

it("says of each routed value which policy set it", () => {
  expect(effectiveRouting(shifted).map(({ field, value, policy: by, order }) => [field, value, by.name, order])).toEqual([
    ["requestTimeout", "2s", "shift", 0],
    ["trafficShift", "75 % → bookinfo/reviews in c1 · 25 % → bookinfo/ratings in c2", "shift", 0],
  ]);
  expect(selectorText([{ kubeServiceAccountRefs: { serviceAccounts: [service("web", "c1")] } }])).toBe(
    "service accounts bookinfo/web in c1",
  );
});

it("finds generated objects by the annotation of their parents, and a policy's through its Destinations", () => {
  const generated: Resource = {
    apiVersion: "networking.istio.io/v1",
    kind: "VirtualService",
    metadata: {
      name: "reviews",
      namespace: "bookinfo",
      clusterName: "c1",
      annotations: {
        "parents.networking.mesh.gloo.solo.io": JSON.stringify({
          "discovery.mesh.gloo.solo.io/v1, Kind=Destination": [{ name: "reviews", namespace: "gloo-mesh" }],
        }),
      },
    },
  };
  const fleet = fleetOf([shifted, policy], [generated]);
  expect(generatedObjectsOf(fleet, shifted)).toEqual([{ resource: generated, via: undefined }]);
  expect(generatedObjectsOf(fleet, policy)).toEqual([{ resource: generated, via: shifted }]);
});

it.each(["{", "[]", "null", '{"x":5}', '{"g/v1, Kind=K":[null,{"name":5},{"name":"ok"}]}', '{"__proto__":[{"name":"x"}]}'])(
  "reads an annotation that somebody else wrote: %s",
  (text) => {
    const annotations = { "parents.networking.mesh.gloo.solo.io": text };
    const parents = parentsOf({ apiVersion: "v1", kind: "Service", metadata: { name: "x", annotations } });
    expect(
      parents.every(({ name, namespace, clusterName }) => [name, namespace, clusterName].every((one) => typeof one === "string")),
    ).toBe(true);
  },
);

it("finds the policies that select a Destination, and takes a status of an older generation for none", () => {
  const fleet = fleetOf([shifted, policy]);
  expect(policiesOn(fleet, "reviews.gloo-mesh.")).toEqual([{ policy, status: { state: "ACCEPTED" } }]);
  expect(approvalOf(policy).word).toBe("Accepted");
  expect(approvalOf({ ...policy, metadata: { ...policy.metadata, generation: 2 } } as Resource).word).toBe("Pending");
});

it("draws where traffic is sent, and namespaces instead of services where there are too many", () => {
  const fleet = fleetOf([shifted, destination("ratings", "c2")]);
  const { nodes, edges } = topologyOf(fleet);
  expect(nodes.map(({ name, cluster }) => `${name} ${cluster}`).sort()).toEqual(["ratings c2", "reviews c1"]);
  expect(edges.map(({ type, label, because }) => [type, label, because?.name])).toEqual([["route", "25 %", "shift"]]);
  const grouped = topologyOf(fleet, 1);
  expect(grouped.nodes.map(({ id }) => id).sort()).toEqual(["c1/bookinfo", "c2/bookinfo"]);
  expect(grouped.edges.map(({ from, to }) => [from, to])).toEqual([["c1/bookinfo", "c2/bookinfo"]]);
});

it("says how old what is shown is by the server's clock, whatever time the browser has", () => {
  const at = "2026-01-01T12:00:00.000Z";
  const browser = 5_000;
  const fleet = {
    ...fleetOf([]),
    source: { kind: "server" as const, name: "test", version: "1", namespace: "gloo-mesh" },
    clock: { now: at, at, clusters: [] },
  };
  const state = { fleet, connection: { isConnected: true, since: 0 }, clockAt: browser };
  expect(freshnessOf(state, browser + 2_000)).toMatchObject({ text: "live · 2 s ago", isStale: false });
  expect(freshnessOf(state, browser + 60_000)).toMatchObject({ isStale: true, tone: "bad" });
  expect(freshnessOf({ ...state, connection: { isConnected: false, since: browser } }, browser + 2_000)).toMatchObject({ isStale: true });
  const problem = { ...fleet, clock: { ...fleet.clock, problem: "refused" } };
  expect(freshnessOf({ ...state, fleet: problem }, browser)).toMatchObject({ isStale: true });
});

it("names clusters whose agents are gone, with the moment that their objects are of", () => {
  const now = "2026-01-01T12:00:00.000Z";
  const cluster: KubernetesCluster = { ...registered("c2"), status: { state: "OFFLINE" } };
  const clock = {
    now,
    at: now,
    clusters: [
      { name: "c1", at: now },
      { name: "c2", at: "2026-01-01T11:53:00.000Z" },
    ],
  };
  const fleet = { ...fleetOf([registered("c1"), cluster]), clock };
  const { frozen } = freshnessOf({ fleet, connection: { isConnected: true, since: 0 }, clockAt: 0 }, 0);
  expect(frozen).toHaveLength(1);
  expect(frozen[0]).toContain("c2 frozen");
});

function registered(name: string): KubernetesCluster {
  const { apiVersion, kind } = KubernetesCluster;
  return { apiVersion, kind, metadata: { name, namespace: "gloo-mesh" }, spec: {} };
}

it("finds an insight by its code and by the words of its title", () => {
  const object = { apiVersion: NETWORKING, kind: "TrafficPolicy", name: "shift", namespace: "bookinfo", clusterName: "" };
  const about = { code: "RTE1001", category: "RTE", severity: "error", cluster: "", field: "", since: "" } as const;
  const insight = { ...about, object, message: "no such service", remedy: { text: "create it" } };
  const empty = fleetOf([]);
  const fleet: Fleet = { ...empty, insights: empty.insights.with([["x", { object, insights: [insight] }]]) };
  for (const text of ["rte1001", "target exist"]) {
    expect(searchFleet(fleet, text)).toMatchObject([{ kind: "RTE1001", name: "Target does not exist", path: "/insights/RTE1001" }]);
  }
  expect(searchFleet(fleet, "target weather")).toEqual([]);
});

it("names workloads as targets of policies that are about workloads", () => {
  const workload = { apiVersion: "discovery.mesh.gloo.solo.io/v1", kind: "Workload", metadata: { name: "cart", namespace: "gloo-mesh" } };
  const fleet = fleetOf([workload]);
  const metadata = { name: "cart", namespace: "shop" };
  const states = (object: Resource) =>
    targetsOf(fleet, object).map(({ key, workload: found, state }) => [key, found?.metadata.name, state]);
  const dependency = { apiVersion: "networking.enterprise.mesh.gloo.solo.io/v1beta1", kind: "ServiceDependency", metadata };
  const approvals = { "cart.gloo-mesh.": { state: "ACCEPTED" }, "gone.gloo-mesh.": { state: "INVALID" } };
  expect(states({ ...dependency, status: { workloads: approvals } } as Resource)).toEqual([
    ["gone.gloo-mesh.", undefined, "INVALID"],
    ["cart.gloo-mesh.", "cart", "ACCEPTED"],
  ]);
  const record = { apiVersion: "observability.enterprise.mesh.gloo.solo.io/v1", kind: "AccessLogRecord", metadata };
  expect(states({ ...record, status: { workloads: [{ name: "cart", namespace: "gloo-mesh" }] } } as Resource)).toEqual([
    ["cart.gloo-mesh.", "cart", "ACCEPTED"],
  ]);
  const wasm = { apiVersion: "networking.enterprise.mesh.gloo.solo.io/v1beta1", kind: "WasmDeployment", metadata };
  const workloadStates = {
    "cart.gloo-mesh.": "FILTERS_DEPLOYED",
    "b.gloo-mesh.": "DEPLOYMENT_FAILED",
    "c.gloo-mesh.": "DEPLOYMENT_PENDING",
  };
  expect(states({ ...wasm, status: { workloadStates } } as Resource)).toEqual([
    ["b.gloo-mesh.", undefined, "FAILED"],
    ["c.gloo-mesh.", undefined, "PENDING"],
    ["cart.gloo-mesh.", "cart", "ACCEPTED"],
  ]);
  // Whose traffic a TrafficPolicy is for is not what it selects.
  expect(states({ ...policy, status: { workloads: ["cart.gloo-mesh."] } } as Resource)).toEqual([]);
});

it("says of a member that is there and holds nothing only its name", () => {
  expect(valueText({ permissive: {}, shared: { rootCertificateAuthority: { generated: {} } } })).toBe(
    "permissive, shared (rootCertificateAuthority (generated))",
  );
});
