import { type Resource, snapshotOf } from "@isthmus/core";
import { expect, it } from "vitest";
import type { Mesh, Sidecar, Workload } from "../../client/data/kinds.ts";
import { egressHosts, sidecarScope } from "../../client/model/sidecarScope.ts";

const workload: Workload = {
  apiVersion: "discovery.mesh.gloo.solo.io/v1",
  kind: "Workload",
  metadata: { name: "cart-shop-c1-deployment", namespace: "gloo-mesh" },
  spec: {
    kubernetes: { controller: { name: "cart", namespace: "shop", clusterName: "c1" }, podLabels: { app: "cart", version: "v1" } },
    mesh: { name: "istiod", namespace: "gloo-mesh" },
  },
};
const mesh = (spec: NonNullable<Mesh["spec"]>): Mesh => ({
  apiVersion: "discovery.mesh.gloo.solo.io/v1",
  kind: "Mesh",
  metadata: { name: "istiod", namespace: "gloo-mesh" },
  spec,
});
const istio = mesh({ istio: { installation: { cluster: "c1", namespace: "istio-system" } } });

function sidecar(namespace: string, name: string, labels?: Readonly<Record<string, string>>, clusterName = "c1"): Sidecar {
  return {
    apiVersion: "networking.istio.io/v1",
    kind: "Sidecar",
    metadata: { name, namespace, clusterName },
    spec: { ...(labels === undefined ? {} : { workloadSelector: { labels } }), egress: [{ hosts: [`./${name}`] }] },
  };
}

function scope(reported: readonly Resource[], generated: readonly Resource[] = [], of: Mesh = istio) {
  const found = sidecarScope({ snapshot: snapshotOf([of, ...reported]), generated: snapshotOf(generated) }, workload);
  return found && [found.level, ...found.sidecars.map((one) => `${one.sidecar.metadata.name}${one.isGenerated ? " generated" : ""}`)];
}

it("takes the Sidecar that selects the pods, then that of their namespace, then that of the root namespace", () => {
  const root = sidecar("istio-system", "root");
  const all = sidecar("shop", "all", {});
  const own = sidecar("shop", "own", { app: "cart" });
  expect(scope([root, all, own])).toEqual(["selector", "own"]);
  expect(scope([root, all])).toEqual(["namespace", "all"]);
  expect(scope([root])).toEqual(["root", "root"]);
  expect(scope([])).toBeUndefined();
});

it("takes the root namespace that the mesh configuration names", () => {
  const elsewhere = mesh({ istio: { installation: { cluster: "c1", namespace: "istio-system" }, rootNamespace: "istio-config" } });
  expect(scope([sidecar("istio-config", "root"), sidecar("istio-system", "own")], [], elsewhere)).toEqual(["root", "root"]);
  expect(scope([sidecar("istio-system", "own")], [], elsewhere)).toBeUndefined();
});

it("takes none that is for others", () => {
  expect(scope([sidecar("shop", "other", { app: "pay" }), sidecar("shop", "both", { app: "cart", version: "v2" })])).toBeUndefined();
  expect(scope([sidecar("other", "all"), sidecar("shop", "all", undefined, "c2")])).toBeUndefined();
  // In the root namespace a selector is for pods of that namespace.
  expect(scope([sidecar("istio-system", "own", { app: "cart" })])).toBeUndefined();
  expect(scope([sidecar("shop", "all")], [], mesh({ osm: {} }))).toBeUndefined();
  expect(scope([sidecar("", "all")], [], mesh({ istio: {} }))).toBeUndefined();
});

it("counts what is to be written, but not beside one of that name; of several of a level it says all", () => {
  const own = sidecar("shop", "own", { app: "cart" });
  expect(scope([sidecar("shop", "all")], [own])).toEqual(["selector", "own generated"]);
  expect(scope([own], [own])).toEqual(["selector", "own"]);
  expect(scope([own, sidecar("shop", "second", { version: "v1" })])).toEqual(["selector", "own", "second"]);
});

it("says that a Sidecar without egress leaves all hosts", () => {
  expect(egressHosts(sidecar("shop", "own"))).toEqual(["./own"]);
  expect(egressHosts({ ...sidecar("shop", "own"), spec: {} })).toBeUndefined();
  expect(egressHosts({ ...sidecar("shop", "own"), spec: { egress: [{ hosts: ["a/*"] }, {}, { hosts: ["a/*", "b/*"] }] } })).toEqual([
    "a/*",
    "b/*",
  ]);
});
