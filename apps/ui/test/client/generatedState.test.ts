import { type Resource, snapshotOf } from "@isthmus/core";
import { expect, it } from "vitest";
import { emptyFleet } from "../../client/data/fleet.ts";
import { generatedState } from "../../client/model/generatedState.ts";

const NETWORKING = "networking.mesh.gloo.solo.io/v1";
const DISCOVERY = "discovery.mesh.gloo.solo.io/v1";
const OURS = { "owner.networking.mesh.gloo.solo.io": "gloo-mesh" };

function generated(
  kind: string,
  { parent = "Destination", labels = OURS, spec = { a: 1 } }: { parent?: string; labels?: object; spec?: object } = {},
): Resource {
  const group = parent === "Destination" ? DISCOVERY : NETWORKING;
  const parents = JSON.stringify({ [`${group}, Kind=${parent}`]: [{ name: "cart", namespace: "gloo-mesh" }] });
  return {
    apiVersion: kind === "AuthorizationPolicy" ? "security.istio.io/v1" : "networking.istio.io/v1",
    kind,
    metadata: {
      name: "cart",
      namespace: "shop",
      clusterName: "c1",
      labels: labels as Record<string, string>,
      annotations: { "parents.networking.mesh.gloo.solo.io": parents },
    },
    spec,
  } as Resource;
}

interface PolicyOptions {
  readonly applied?: string;
  readonly generation?: number;
  readonly errors?: readonly string[];
  readonly clusterName?: string;
}

function policy(kind: string, { applied = "True", generation = 1, errors = [], clusterName = "" }: PolicyOptions = {}): Resource {
  return {
    apiVersion: NETWORKING,
    kind,
    metadata: { name: "cart", namespace: "gloo-mesh", generation, clusterName },
    status: {
      observedGeneration: 1,
      state: errors.length === 0 ? "ACCEPTED" : "FAILED",
      destinations: { "cart.gloo-mesh.": { errors } },
      conditions: [{ type: "Applied", status: applied }],
    },
  } as Resource;
}

const ref = { name: "cart", namespace: "gloo-mesh" };
const cart = {
  apiVersion: DISCOVERY,
  kind: "Destination",
  metadata: ref,
  status: { appliedTrafficPolicies: [{ ref }, { ref: { ...ref, name: "other" } }], appliedAccessPolicies: [{ ref }] },
} as Resource;
const named = (resource: Resource, name: string) => ({ ...resource, metadata: { ...resource.metadata, name } });

function cluster(status: object, namespace = "gloo-mesh"): Resource {
  return {
    apiVersion: "multicluster.solo.io/v1alpha1",
    kind: "KubernetesCluster",
    metadata: { name: "c1", namespace },
    status: { state: "CONNECTED", ...status },
  } as Resource;
}

const source = { kind: "server", name: "test", version: "0", namespace: "gloo-mesh" } as const;

/** In a cluster that is connected, unless the objects say otherwise. */
function stateOf(resource: Resource, objects: readonly Resource[]): readonly [string, string] {
  const snapshot = snapshotOf([cluster({}), ...objects]);
  const { status, message } = generatedState({ ...emptyFleet(), source, snapshot }, resource);
  return [status.word, message];
}

it("calls applied only what the status of a policy that has a say in it says", () => {
  const [route, rule, access] = [generated("VirtualService"), generated("DestinationRule"), generated("AuthorizationPolicy")];
  const traffic = policy("TrafficPolicy");
  const both = [cart, traffic, named(traffic, "other")];
  expect(stateOf(route, both)[0]).toBe("Applied");
  expect(stateOf(route, [cart, traffic, named(policy("TrafficPolicy", { applied: "False" }), "other")])[0]).toBe("Not known");
  expect(stateOf(route, [cart, traffic])[0]).toBe("Not known");
  expect(stateOf(route, [cart])[0]).toBe("Not known");
  // Of an older generation it is the word about other objects.
  expect(stateOf(route, [cart, policy("TrafficPolicy", { generation: 2 }), named(traffic, "other")])[0]).toBe("Not known");
  expect(stateOf(rule, both)[0]).toBe("Not known");
  expect(stateOf(access, both)[0]).toBe("Not known");
  expect(stateOf(access, [cart, policy("AccessPolicy")])[0]).toBe("Applied");
  expect(stateOf(generated("DestinationRule", { parent: "VirtualMesh" }), [policy("VirtualMesh")])[0]).toBe("Applied");
});

it("says why an object is not written", () => {
  const error = "VirtualService shop/cart in c1 cannot be written (Conflict): field .spec.hosts is owned by kubectl";
  const [traffic, failed] = [policy("TrafficPolicy"), policy("TrafficPolicy", { errors: [error] })];
  const route = generated("VirtualService");
  expect(stateOf(route, [cart, failed])).toEqual(["Not written", error]);
  expect(stateOf(named(route, "car"), [cart, failed])[0]).toBe("Not known");
  // Users may write statuses in a workload cluster.
  expect(stateOf(route, [policy("TrafficPolicy", { errors: [error], clusterName: "c1" })])[0]).toBe("Not known");
  const applied = [cart, traffic, named(traffic, "other")];
  expect(stateOf(route, [...applied, cluster({ mode: "observe", comparison: { mode: "observe", wouldChange: 1 } })])).toEqual([
    "Held",
    "The mode of the cluster is observe: nothing is written there.",
  ]);
  expect(stateOf(route, [cart, cluster({ mode: "freeze", comparison: { mode: "freeze", same: 3 } })])[0]).toBe("Applied");
  expect(stateOf(route, [...applied, cluster({ state: "OFFLINE" })])[0]).toBe("Not known");
  expect(stateOf(route, [cart, cluster({ state: "LAGGING" })])[0]).toBe("Waiting");
});

it("compares with what a cluster reports under the same name, and knows whose it is", () => {
  const route = generated("VirtualService");
  expect(stateOf(route, [generated("VirtualService", { labels: {} })])[0]).toBe("Name is taken");
  expect(stateOf(route, [generated("VirtualService")])[0]).toBe("Applied");
  expect(stateOf(route, [generated("VirtualService", { spec: { a: 2 } })])[0]).toBe("Differs");
  // Without a label of its own nothing is ours.
  expect(stateOf(generated("VirtualService", { labels: {} }), [generated("VirtualService", { labels: {} })])[0]).toBe("Name is taken");
});

it("calls nothing applied in a cluster that is not connected and current, whatever was found there before", () => {
  const route = generated("VirtualService");
  const traffic = policy("TrafficPolicy");
  const proofs = [
    [cart, traffic, named(traffic, "other")],
    [generated("VirtualService")],
    [cluster({ mode: "freeze", comparison: { mode: "freeze", same: 3 } })],
  ];
  const withState = (objects: readonly Resource[], state: string | undefined) => {
    const { status = {} } = (objects.find(({ kind }) => kind === "KubernetesCluster") ?? {}) as { readonly status?: object };
    return [...objects.filter(({ kind }) => kind !== "KubernetesCluster"), cluster({ ...status, state })];
  };
  for (const proof of proofs) {
    expect(stateOf(route, withState(proof, "CONNECTED"))[0]).toBe("Applied");
    for (const state of ["OFFLINE", "REVOKED", "UNREACHABLE"]) {
      expect(stateOf(route, withState(proof, state))).toEqual([
        "Not known",
        "No agent is connected: what is there stays as it was last written.",
      ]);
    }
    expect(stateOf(route, withState(proof, "LAGGING"))[0]).toBe("Waiting");
    for (const state of ["REGISTERED", "SYNCING", undefined]) expect(stateOf(route, withState(proof, state))[0]).not.toBe("Applied");
  }
  // A comparison of nothing says nothing.
  expect(stateOf(route, [cluster({ mode: "freeze", comparison: { mode: "freeze", same: 0 } })])[0]).toBe("Held");
});

it("believes no registration of another namespace than the plane's", () => {
  const route = generated("VirtualService");
  const forged = cluster({ mode: "freeze", comparison: { mode: "freeze", same: 3 } }, "a-team");
  expect(stateOf(route, [forged, cluster({ state: "OFFLINE" })])[0]).toBe("Not known");
  const fleet = { ...emptyFleet(), snapshot: snapshotOf([forged, generated("VirtualService")]) };
  expect(generatedState({ ...fleet, source }, route).status.word).toBe("Not known");
  expect(generatedState(fleet, route).status.word).toBe("Not known");
});

it("takes a report of Cilium for no proof of what is written", () => {
  const made = { ...generated("CiliumNetworkPolicy"), apiVersion: "cilium.io/v2" };
  const report = (status: object) =>
    ({ ...made, apiVersion: "reports.mesh.gloo.solo.io/v1", kind: "CiliumPolicyReport", spec: undefined, status }) as Resource;
  const inForce = [cart, policy("AccessPolicy")];
  expect(stateOf(made, inForce)[0]).toBe("Applied");
  expect(stateOf(made, [cart, report({ valid: true })])[0]).toBe("Not known");
  expect(stateOf(made, [...inForce, report({ valid: true })])[0]).toBe("Applied");
  expect(stateOf(made, [...inForce, report({ valid: false, message: "no such port" })])).toEqual(["Rejected", "no such port"]);
  expect(stateOf(made, [...inForce, report({ valid: true }), cluster({ state: "LAGGING" })])[0]).toBe("Waiting");
});
