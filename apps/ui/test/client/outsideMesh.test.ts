import { type Resource, snapshotOf } from "@isthmus/core";
import { expect, it } from "vitest";
import { emptyFleet, type Fleet } from "../../client/data/fleet.ts";
import { outsideWorkloads } from "../../client/model/outsideMesh.ts";

type Metadata = Omit<Resource["metadata"], "name">;

const of =
  (apiVersion: string, kind: string) =>
  (name: string, metadata: Metadata = {}, spec: object = {}) =>
    ({ apiVersion, kind, metadata: { name, namespace: "shop", clusterName: "c1", ...metadata }, spec }) as Resource;
const [deployment, statefulSet, replicaSet, pod] = [
  of("apps/v1", "Deployment"),
  of("apps/v1", "StatefulSet"),
  of("apps/v1", "ReplicaSet"),
  of("v1", "Pod"),
];
const by = (kind: string, name: string): Metadata => ({
  ownerReferences: [{ apiVersion: "apps/v1", kind, name, uid: name, controller: true }],
});
const containers = (...names: readonly string[]) => ({ containers: names.map((name) => ({ name, image: name })) });
const template = (labels: Record<string, string>, spec: object = {}) => ({ template: { metadata: { labels }, spec } });
const namespace = (labels: Record<string, string>) =>
  ({ apiVersion: "v1", kind: "Namespace", metadata: { name: "shop", clusterName: "c1", labels } }) as Resource;
const workload = (name: string, kind: string) =>
  ({
    apiVersion: "discovery.mesh.gloo.solo.io/v1",
    kind: "Workload",
    metadata: { name: `${name}-shop-c1-${kind}`, namespace: "gloo-mesh" },
    spec: { kubernetes: { controller: { name, namespace: "shop", clusterName: "c1" } }, mesh: { name: "istiod", namespace: "gloo-mesh" } },
  }) as Resource;
const pods = (name: string, ...names: readonly string[]) => [
  replicaSet(`${name}-1`, by("Deployment", name)),
  pod(`${name}-1-x`, by("ReplicaSet", `${name}-1`), containers(...names)),
];

function fleetOf(objects: readonly Resource[], more: Partial<Fleet> = {}): Fleet {
  return { ...emptyFleet(), snapshot: snapshotOf(objects), isReady: true, ...more };
}

function reasons(objects: readonly Resource[], more: Partial<Fleet> = {}): readonly string[] {
  return outsideWorkloads(fleetOf(objects, more)).map(({ kind, name, reason }) => `${kind} ${name}: ${reason}`);
}

it("leaves out what is a Workload, by its kind as well as its name", () => {
  const objects = [deployment("web"), statefulSet("web"), workload("web", "deployment"), ...pods("web", "main", "istio-proxy")];
  expect(reasons(objects)).toEqual(["StatefulSet web: noPods"]);
});

it("says why something is in no mesh, and nothing that is not known", () => {
  const legacy = [deployment("legacy"), ...pods("legacy", "main")];
  expect(reasons(legacy)).toEqual(["Deployment legacy: unknown"]);
  expect(reasons([namespace({}), ...legacy])).toEqual(["Deployment legacy: notInjected"]);
  expect(reasons([namespace({ "istio-injection": "disabled", "istio.io/rev": "1-27" }), ...legacy])).toEqual([
    "Deployment legacy: notInjected",
  ]);
  for (const labels of [{ "istio-injection": "enabled" }, { "istio.io/rev": "1-27" }])
    expect(reasons([namespace(labels), ...legacy])).toEqual(["Deployment legacy: notRestarted"]);
  expect(reasons([namespace({ "istio.io/dataplane-mode": "ambient" }), ...legacy])).toEqual(["Deployment legacy: ambient"]);
  const injected = namespace({ "istio-injection": "enabled" });
  const outOf = deployment("legacy", {}, template({ "sidecar.istio.io/inject": "false" }));
  expect(reasons([injected, outOf, ...pods("legacy", "main")])).toEqual(["Deployment legacy: optedOut"]);
  const onNode = deployment("legacy", {}, template({}, { hostNetwork: true }));
  expect(reasons([injected, onNode, ...pods("legacy", "main")])).toEqual(["Deployment legacy: optedOut"]);
  expect(reasons([injected, deployment("legacy")])).toEqual(["Deployment legacy: noPods"]);
  // It has a sidecar, so nobody may say that it is in no mesh.
  expect(reasons([injected, deployment("legacy"), ...pods("legacy", "main", "istio-proxy")])).toEqual(["Deployment legacy: sidecar"]);
});

it("counts pods that no reported controller makes once, by what makes them", () => {
  const objects = [
    namespace({}),
    ...["a", "b"].map((name) => pod(`job-${name}`, by("Job", "nightly"), containers("main"))),
    pod("alone", {}, containers("main")),
    replicaSet("rollout-1", by("Rollout", "rollout")),
    pod("rollout-1-x", by("ReplicaSet", "rollout-1"), containers("main", "istio-proxy")),
    // Of a ReplicaSet and of a StatefulSet that are not here.
    pod("gone-1-x", by("ReplicaSet", "gone-1"), containers("main")),
    pod("set-0", by("StatefulSet", "set"), containers("main")),
  ];
  expect([...reasons(objects)].sort()).toEqual(["Job nightly: notInjected", "Pod alone: notInjected", "Rollout rollout: sidecar"]);
});

it("says nothing of clusters that have not reported everything, of the management cluster, and where Workloads may not be listed", () => {
  const objects = [deployment("web"), deployment("web", { clusterName: "c2" }), deployment("plane", { clusterName: "" })];
  const clocks = (phase: "unknown" | "stale") => ({ now: "", at: "", clusters: [{ name: "c1", at: null, phase }] });
  expect(outsideWorkloads(fleetOf(objects, { clock: clocks("unknown") })).map(({ cluster }) => cluster)).toEqual(["c2"]);
  expect(outsideWorkloads(fleetOf(objects, { clock: clocks("stale") }))).toHaveLength(2);
  const viewer = (missing: readonly string[]) => ({ username: "a", isPartial: true, missing, hasAllClusters: true, isExhausted: false });
  expect(reasons(objects, { viewer: viewer(["workloads.discovery.mesh.gloo.solo.io"]) })).toEqual([]);
  expect(reasons(objects, { viewer: viewer(["pods"]) })).toHaveLength(2);
  // A user who sees one sees all, as they are in one namespace.
  const some = [...objects, workload("web", "deployment")];
  expect(reasons(some, { viewer: viewer(["workloads.discovery.mesh.gloo.solo.io"]) })).toHaveLength(1);
});
