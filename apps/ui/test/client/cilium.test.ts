import { type Resource, snapshotOf } from "@isthmus/core";
import { expect, it } from "vitest";
import { ciliumClusters, ciliumPolicyRows } from "../../client/model/ciliumRows.ts";
import { settingsPatch } from "../../client/model/commands.ts";

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
  const settings = {
    apiVersion: "settings.mesh.gloo.solo.io/v1",
    kind: "Settings",
    metadata: { name: "a; rm -rf b", namespace: "$(c)" },
  } as const;
  expect(settingsPatch(settings, { a: "'" })).toBe(
    `kubectl --namespace '$(c)' patch settings.settings.mesh.gloo.solo.io 'a; rm -rf b' --type merge --patch '{"spec":{"a":"'\\''"}}'`,
  );
});
