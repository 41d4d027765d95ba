import { type Resource, snapshotOf } from "@isthmus/core";
import { expect, it } from "vitest";
import { emptyFleet, type Fleet } from "../../client/data/fleet.ts";
import { ciliumClusters, ciliumPolicyRows } from "../../client/model/clusters/ciliumRows.ts";
import { settingsPatch } from "../../client/model/commands.ts";
import { planeSettings } from "../../client/model/planeSettings.ts";

const PARENTS = "parents.networking.mesh.gloo.solo.io";
const DISCOVERY = "discovery.mesh.gloo.solo.io/v1";

function policy(name: string, clusterName: string, more: object = {}): Resource {
  return {
    apiVersion: "cilium.io/v2",
    kind: "CiliumNetworkPolicy",
    metadata: {
      name,
      namespace: "shop",
      clusterName,
      annotations: { [PARENTS]: JSON.stringify({ [`${DISCOVERY}, Kind=Destination`]: [{ name: "cart", namespace: "gloo-mesh" }] }) },
    },
    ...more,
  };
}

function report(clusterName: string, status: object): Resource {
  return {
    apiVersion: "reports.mesh.gloo.solo.io/v1",
    kind: "CiliumPolicyReport",
    metadata: { name: "accesspolicy-cart", namespace: "shop", clusterName },
    status,
  } as Resource;
}

const cart = {
  apiVersion: DISCOVERY,
  kind: "Destination",
  metadata: { name: "cart", namespace: "gloo-mesh" },
  status: { appliedAccessPolicies: [{ ref: { name: "callers", namespace: "gloo-mesh" } }] },
} as Resource;

const shown = (objects: readonly Resource[], made: readonly Resource[]) =>
  ciliumPolicyRows({ snapshot: snapshotOf(objects), generated: snapshotOf(made) }).map(
    ({ isGenerated, because, status, message, counts }) => ({
      made: isGenerated ? "generated" : "by hand",
      because: because.map(({ kind, name }) => `${kind} ${name}`),
      state: status.word,
      message,
      counts,
    }),
  );

it("says of a generated policy what its cluster reports, and of no other cluster", () => {
  const made = [policy("accesspolicy-cart", "c1"), policy("accesspolicy-cart", "c2"), policy("accesspolicy-cart", "c3")];
  const objects = [cart, report("c1", { valid: true, endpoints: 3, enforcing: 2 }), report("c2", { valid: false, message: "no" })];
  const because = ["AccessPolicy callers"];
  expect(shown(objects, made)).toEqual([
    { made: "generated", because, state: "Accepted", message: "", counts: { endpoints: 3, enforcing: 2 } },
    { made: "generated", because, state: "Rejected", message: "no", counts: undefined },
    { made: "generated", because, state: "Unknown", message: "", counts: undefined },
  ]);
  // Without what discovery knows, its parent.
  expect(shown([], [policy("accesspolicy-cart", "c1")])[0]?.because).toEqual(["Destination cart"]);
});

it("takes no policy for one of ours because of what it says of itself", () => {
  const [made, foreign] = [policy("accesspolicy-cart", "c1"), policy("accesspolicy-cart", "c1", { spec: {} })];
  const rows = shown([cart, foreign, report("c1", { valid: true, endpoints: 3, enforcing: 3 })], [made]);
  expect(rows).toMatchObject([
    { made: "by hand", because: [], state: "Unknown", counts: undefined },
    { made: "generated", state: "Name is taken", counts: undefined },
  ]);
  // With the label that was written with it, it is what was written, reported.
  const labels = { "owner.networking.mesh.gloo.solo.io": "gloo-mesh" };
  const labelled = { ...made, metadata: { ...made.metadata, labels } };
  expect(shown([cart, labelled, report("c1", { valid: true })], [labelled])).toMatchObject([{ made: "generated", state: "Accepted" }]);
  expect(shown([cart, foreign], [labelled])).toMatchObject([{ made: "by hand" }, { state: "Name is taken" }]);
  // Without a generated object of its name, the label says nothing.
  expect(shown([labelled], [])).toMatchObject([{ made: "by hand" }]);
  const mesh = {
    apiVersion: DISCOVERY,
    kind: "Mesh",
    metadata: { name: "istiod", namespace: "gloo-mesh", labels: { "cluster.discovery.mesh.gloo.solo.io": "c1" } },
    spec: { cilium: { version: "1.18.4" } },
  } as Resource;
  const snapshot = snapshotOf([cart, foreign, mesh]);
  expect(ciliumClusters(snapshot, ciliumPolicyRows({ snapshot, generated: snapshotOf([made]) }))).toMatchObject([
    { cluster: "c1", byHand: 1, generated: 1, identities: undefined },
  ]);
});

it("quotes what a command repeats of an object", () => {
  expect(settingsPatch("$(c)", { a: "'" })).toBe(
    `kubectl --namespace '$(c)' patch settings.settings.mesh.gloo.solo.io settings --type merge --patch '{"spec":{"a":"'\\''"}}'`,
  );
});

it("reads the Settings of the plane only, and knows when they may be left out", () => {
  const settings = (namespace: string, accessPolicies: string, more: object = {}) =>
    ({
      apiVersion: "settings.mesh.gloo.solo.io/v1",
      kind: "Settings",
      metadata: { name: "settings", namespace, ...more },
      spec: { cilium: { accessPolicies } },
    }) as Resource;
  const source = { kind: "store", name: "Redis", version: "0", namespace: "gloo-mesh" } as const;
  const strangers = [settings("a-team", "ENABLED"), settings("gloo-mesh", "ENABLED", { clusterName: "c1" })];
  const viewer = (isPartial: boolean) => ({ username: "ann", isPartial, missing: [], hasAllClusters: true, isExhausted: false });
  const seen = (objects: readonly Resource[], more: Partial<Fleet> = {}) =>
    planeSettings({ ...emptyFleet(), source, snapshot: snapshotOf(objects), ...more });
  expect(seen([...strangers, settings("gloo-mesh", "AUDIT")])).toMatchObject({
    isKnown: true,
    spec: { cilium: { accessPolicies: "AUDIT" } },
  });
  expect(seen(strangers)).toEqual({ isKnown: true, namespace: "gloo-mesh", spec: {} });
  expect(seen(strangers, { viewer: viewer(false) })).toEqual({ isKnown: true, namespace: "gloo-mesh", spec: {} });
  expect(seen(strangers, { viewer: viewer(true) })).toEqual({ isKnown: false });
  expect(seen([settings("gloo-mesh", "AUDIT")], { viewer: viewer(true) })).toMatchObject({ isKnown: true });
  expect(seen([settings("gloo-mesh", "AUDIT")], { source: undefined })).toEqual({ isKnown: false });
});
