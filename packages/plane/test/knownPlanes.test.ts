import { kindOf, Mesh, Settings } from "@isthmus/api";
import { type AnyResource, type Resource, snapshotOf } from "@isthmus/core";
import { istiod, meshConfig } from "@isthmus/testing/oneTenant";
import { expect, test } from "vitest";
import { receivedSettings } from "../src/agent/settings.ts";
import { serverRoles } from "../src/roles.ts";

const parsed = (objects: readonly AnyResource[]) =>
  objects.map((one) => kindOf(one.apiVersion, one.kind)?.parse(structuredClone(one)) ?? one);

const mesh = (namespace: string, clusterName = "a"): Resource =>
  ({
    apiVersion: Mesh.apiVersion,
    kind: Mesh.kind,
    metadata: {
      name: `istiod-${namespace}-${clusterName}`,
      namespace: "gloo-mesh",
      labels: { "cluster.discovery.mesh.gloo.solo.io": clusterName },
    },
    spec: { istio: { installation: { namespace, cluster: clusterName, podLabels: { app: "istiod" }, version: "1.27.1" } } },
  }) as Resource;

const settings = (selectors: readonly object[]): Resource =>
  ({
    apiVersion: Settings.apiVersion,
    kind: Settings.kind,
    metadata: { name: "settings", namespace: "gloo-mesh" },
    spec: { discovery: { selectors } },
  }) as Resource;

/** Where the agent of `a` looks, by what its server knows. */
function scopeBy(management: readonly Resource[], cluster: readonly AnyResource[]): (namespace: string) => boolean {
  const told = serverRoles("gloo-mesh").settingsToTell(snapshotOf(management), "a");
  const received = receivedSettings(JSON.parse(JSON.stringify(told))) ?? expect.fail("no Settings");
  return received.scopeIn(snapshotOf(parsed(cluster)), "a");
}

const named = (name: string) => ({ matchLabels: { "kubernetes.io/metadata.name": name } });
const selecting = (place: { readonly namespace: string; readonly clusterName: string }, name: string) =>
  meshConfig(place, "a.example", `discoverySelectors:\n- matchLabels:\n    kubernetes.io/metadata.name: ${name}\n`);
const at = (namespace: string) => ({ namespace, clusterName: "a" });

test("the namespace of a control plane that is gone stays in scope, and no other", () => {
  const management = [settings([named("shop")]), mesh("istio-system"), mesh("mesh-of-b", "b")];
  for (const cluster of [[istiod({ name: "istiod", ...at("istio-system") })], []]) {
    const scope = scopeBy(management, cluster);
    expect(["shop", "istio-system", "mesh-of-b", "other"].filter(scope)).toEqual(["shop", "istio-system"]);
  }
  // Its server does not know it: it is confirmed that it was removed, or no policy relies on it.
  expect(scopeBy([settings([named("shop")])], [])("istio-system")).toBe(false);
});

test("what one of two meshes selects stays in scope while its control plane is gone", () => {
  const management = [mesh("istio-system"), mesh("istio-two")];
  const configs = [selecting(at("istio-system"), "shop"), selecting(at("istio-two"), "bank")];
  const both = [istiod({ name: "istiod", ...at("istio-system") }), istiod({ name: "istiod", ...at("istio-two") })];
  const names = ["shop", "bank", "other", "istio-system", "istio-two"];
  const wanted = ["shop", "bank", "istio-system", "istio-two"];
  expect(names.filter(scopeBy(management, [...configs, ...both]))).toEqual(wanted);
  expect(names.filter(scopeBy(management, [...configs, ...both.slice(1)]))).toEqual(wanted);
  // Nothing says what the one selects whose configuration is gone, too.
  expect(names.filter(scopeBy(management, [...configs.slice(1), ...both.slice(1)]))).toEqual(names);
});

test("a list that is none, or has more entries than a cluster has meshes, widens nothing without bound", () => {
  const { scopeIn } =
    receivedSettings({
      ...settings([named("shop")]),
      knownPlanes: [
        null,
        1,
        { mesh: 1, namespace: "x", revision: "" },
        ...Array.from({ length: 200 }, (_, i) => ({ mesh: `istiod-n${i}-a`, namespace: `n${i}`, revision: "", type: "ISTIO" })),
      ],
    } as Resource) ?? expect.fail("no Settings");
  const scope = scopeIn(snapshotOf([]), "a");
  expect(["shop", "x", "n0", "n199"].filter(scope)).toEqual(["shop", "n0"]);
  expect(receivedSettings({ ...settings([named("shop")]), knownPlanes: "all" } as Resource)?.scopeIn(snapshotOf([]), "a")("n0")).toBe(
    false,
  );
});
