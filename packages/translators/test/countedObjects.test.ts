import { HTTPRoute, type Mesh, Namespace, Settings, VirtualService } from "@isthmus/api";
import { type Resource, snapshotOf } from "@isthmus/core";
import { soundTranslation } from "@isthmus/testing";
import { expect, test } from "vitest";
import { changedStatuses, statusesAfter, statusesOf } from "../src/index.ts";

const mesh = (userObjects?: readonly object[]): Resource =>
  ({
    apiVersion: "discovery.mesh.gloo.solo.io/v1",
    kind: "Mesh",
    metadata: { name: "istiod", namespace: "gloo-mesh" },
    spec: { istio: { installation: { namespace: "istio-system", cluster: "a" } } },
    ...(userObjects === undefined ? {} : { status: { userObjects } }),
  }) as Resource;

const one = ({ apiVersion, kind }: { readonly apiVersion: string; readonly kind: string }, name: string, labels = {}): Resource =>
  ({ apiVersion, kind, metadata: { name, namespace: "shop", clusterName: "a", labels } }) as Resource;

function countedIn(resources: readonly Resource[]): unknown {
  const translation = soundTranslation(snapshotOf(resources), { namespace: "gloo-mesh", stage: "networking" });
  const found = statusesOf(translation).find(({ ref }) => ref.kind === "Mesh");
  return (found?.status as Mesh["status"])?.userObjects;
}

const routes = { group: "gateway.networking.k8s.io", kind: "HTTPRoute" };

test("what users have written in the cluster of a mesh is counted by kind, without what is ours and what is elsewhere", () => {
  const ours = one(VirtualService, "ours", { "owner.networking.mesh.gloo.solo.io": "gloo-mesh" });
  const elsewhere = { ...one(HTTPRoute, "c"), metadata: { name: "c", namespace: "shop", clusterName: "b" } };
  const objects = [one(HTTPRoute, "a"), one(HTTPRoute, "b"), one(VirtualService, "mine"), ours, elsewhere];
  expect(countedIn([mesh([{ ...routes, count: 9 }]), ...objects])).toEqual([
    { group: "networking.istio.io", kind: "VirtualService", count: 1 },
    { ...routes, count: 2 },
  ]);
});

test("of a cluster of which nothing is known the last counts stand; where there is nothing, nothing is counted", () => {
  const before = [{ ...routes, count: 2 }];
  expect(countedIn([mesh(before)])).toEqual(before);
  expect(countedIn([mesh(before), one(Namespace, "shop")])).toBeUndefined();
});

const settings = (selectors: readonly object[]): Resource =>
  ({
    apiVersion: Settings.apiVersion,
    kind: Settings.kind,
    metadata: { name: "settings", namespace: "gloo-mesh" },
    spec: { discovery: { selectors } },
  }) as Resource;

test("what is in a namespace that discovery does not look into is not counted", () => {
  const bank = { ...one(HTTPRoute, "b"), metadata: { name: "b", namespace: "bank", clusterName: "a" } };
  const objects = [mesh(), one(Namespace, "shop"), one(Namespace, "bank"), one(HTTPRoute, "a"), bank];
  const only = (name: string) => settings([{ matchLabels: { "kubernetes.io/metadata.name": name } }]);
  expect(countedIn([...objects, settings([])])).toEqual([{ ...routes, count: 2 }]);
  expect(countedIn([...objects, only("bank")])).toEqual([{ ...routes, count: 1 }]);
  expect(countedIn([...objects, only("other")])).toBeUndefined();
});

test("which namespaces are counted follows the Settings", () => {
  const only = (name: string) => settings([{ matchLabels: { "kubernetes.io/metadata.name": name } }]);
  const options = { namespace: "gloo-mesh", stage: "networking" } as const;
  const before = soundTranslation(snapshotOf([mesh(), one(Namespace, "shop"), one(HTTPRoute, "a"), only("bank")]), options);
  const after = soundTranslation(before.cache.given.apply({ put: [only("shop")], remove: [] }), options, before);
  const told = statusesAfter(before, undefined);
  const refs = changedStatuses(statusesAfter(after, undefined, told), told);
  expect(refs).toContainEqual(expect.objectContaining({ kind: "Mesh", name: "istiod" }));
});
