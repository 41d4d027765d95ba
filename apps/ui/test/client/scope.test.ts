import type { ConsoleInsight } from "@isthmus/console/wire";
import { type Resource, type ResourceRef, refOf, resourceKeyOf, snapshotOf } from "@isthmus/core";
import { expect, it } from "vitest";
import { accessAxes, scopedAxes } from "../../client/access/accessMatrix.ts";
import { emptyFleet, type Fleet } from "../../client/data/fleet.ts";
import { insightIndexOf } from "../../client/model/insights/insightIndex.ts";
import { kindRows } from "../../client/model/kindRows.ts";
import { clusterNames, isInScope, NO_SCOPE, policyClusters, scopeOf, scopeText } from "../../client/model/scope.ts";

const discovered = (kind: string, name: string, cluster: string, spec: object = {}): Resource =>
  ({
    apiVersion: "discovery.mesh.gloo.solo.io/v1",
    kind,
    metadata: { name, namespace: "gloo-mesh", labels: { "cluster.discovery.mesh.gloo.solo.io": cluster } },
    spec,
  }) as Resource;
const service = (name: string, clusterName: string): Resource => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name, namespace: "shop", clusterName },
});
const policy = (status: object, clusterName = ""): Resource =>
  ({
    apiVersion: "networking.mesh.gloo.solo.io/v1",
    kind: "TrafficPolicy",
    metadata: { name: "p", namespace: "shop", clusterName },
    status,
  }) as Resource;
const insight = (object: ResourceRef, code: ConsoleInsight["code"], cluster: string): ConsoleInsight => ({
  object,
  code,
  cluster,
  severity: "error",
  field: "",
  message: "m",
  since: "2026-01-01T00:00:00Z",
  category: "RTE",
  remedy: { text: "r" },
});

const fleetOf = (objects: readonly Resource[], found: readonly ConsoleInsight[] = []): Fleet => ({
  ...emptyFleet(),
  snapshot: snapshotOf(objects),
  insights: emptyFleet().insights.with(found.map((one) => [resourceKeyOf(one.object), { object: one.object, insights: [one] }])),
});

it("reads the clusters of an address, and the same text gives the same set", () => {
  expect([...scopeOf("c1,,c2,c1")]).toEqual(["c1", "c2"]);
  expect(scopeOf("c1,c2")).toBe(scopeOf("c1,c2"));
  expect(scopeOf(",")).toBe(NO_SCOPE);
  expect(scopeOf(Array.from({ length: 500 }, (_, i) => `c${i}`).join(",")).size).toBe(100);
  expect(scopeText(["c1", "c2"])).toBe("c1,c2");
  expect(scopeText([])).toBeUndefined();
});

it("leaves out only what is about other clusters: what is about none in particular stays", () => {
  const scope = scopeOf("c1");
  expect([["c1"], ["c2"], ["c2", "c1"], ["", "c2"], [""], []].map((clusters) => isInScope(scope, clusters))).toEqual([
    true,
    false,
    true,
    false,
    true,
    true,
  ]);
  expect(isInScope(NO_SCOPE, ["c2"])).toBe(true);
});

it("takes a policy to be about its own cluster, and about those of its targets", () => {
  const fleet = fleetOf([discovered("Destination", "d1", "c1"), discovered("Mesh", "m2", "c2")]);
  const status = { destinations: { "d1.gloo-mesh.": {}, "gone.gloo-mesh.": {} }, meshes: { "m2.gloo-mesh.": {} } };
  expect(policyClusters(fleet, policy(status))).toEqual(["", "c2", "c1"]);
  expect(policyClusters(fleet, policy({}, "c9"))).toEqual(["c9"]);
  expect(isInScope(scopeOf("c1"), policyClusters(fleet, policy({})))).toBe(true);
});

it("counts insights, objects and access in the clusters of the scope", () => {
  const [one, two] = [discovered("Destination", "d1", "c1"), discovered("Destination", "d2", "c2")];
  const account = (name: string, clusterName: string) =>
    discovered("Workload", name, clusterName, {
      kubernetes: { controller: { name, namespace: "shop", clusterName }, serviceAccountName: name },
    });
  const fleet = fleetOf(
    [one, two, service("a", "c1"), service("b", "c2"), service("c", "c2"), account("web", "c1"), account("job", "c2")],
    [insight(refOf(one), "RTE1001", ""), insight(refOf(two), "RTE1001", ""), insight(refOf(service("b", "c2")), "HLT1001", "c2")],
  );
  const counted = (text: string) => {
    const { byCode, counts } = insightIndexOf(fleet, scopeOf(text));
    return [counts.error, byCode.map(({ code, objects, clusters }) => [code, objects, clusters])];
  };
  expect(counted("c1")).toEqual([1, [["RTE1001", 1, ["c1"]]]]);
  expect(counted("c9")).toEqual([0, []]);
  expect(counted("")).toEqual([3, insightIndexOf(fleet).byCode.map(({ code, objects, clusters }) => [code, objects, clusters])]);
  const services = (text: string) => kindRows(fleet, scopeOf(text)).find(({ kind }) => kind === "Service")?.reported;
  expect(["", "c1", "c2", "c9"].map(services)).toEqual([3, 1, 2, 0]);
  expect(scopedAxes(accessAxes(fleet), scopeOf("c2")).rows.map(({ name }) => name)).toEqual(["c2/shop/job"]);
  expect(clusterNames(fleet)).toEqual(["c1", "c2"]);
});
