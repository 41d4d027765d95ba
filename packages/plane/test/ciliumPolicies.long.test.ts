import { AccessPolicy, AuthorizationPolicy, CiliumNetworkPolicy, Settings } from "@isthmus/api";
import type { AnyResource } from "@isthmus/core";
import type { SimulatedCluster } from "@isthmus/simulator";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { demoFleet, type Fleet, register, statusOf } from "./fleet.ts";
import { eventually, quiet } from "./virtualTime.ts";

const OURS = { name: "accesspolicy-reviews", namespace: "bookinfo" };
const readers = {
  apiVersion: AccessPolicy.apiVersion,
  kind: AccessPolicy.kind,
  metadata: { name: "readers", namespace: "gloo-mesh" },
  spec: {
    sourceSelector: [{ kubeIdentityMatcher: { namespaces: ["bookinfo"] } }],
    destinationSelector: [{ kubeServiceRefs: { services: [{ name: "reviews", namespace: "bookinfo", clusterName: "cluster-1" }] } }],
  },
} as AnyResource;
const settings = {
  apiVersion: Settings.apiVersion,
  kind: Settings.kind,
  metadata: { name: "settings", namespace: "gloo-mesh" },
  spec: { cilium: { accessPolicies: "ENABLED" } },
} as AnyResource;
const ofUser = (name: string): AnyResource => ({
  apiVersion: CiliumNetworkPolicy.apiVersion,
  kind: CiliumNetworkPolicy.kind,
  metadata: { name, namespace: "bookinfo" },
  spec: { endpointSelector: { matchLabels: { "k8s:app": "reviews" } }, ingress: [{ fromEntities: ["world"] }] },
});

let fleet: Fleet;
const first = () => fleet.clusters["cluster-1"] as SimulatedCluster;
const second = () => fleet.clusters["cluster-2"] as SimulatedCluster;
const policyHere = () => first().get(CiliumNetworkPolicy, OURS);

/** Cilium as its chart installs it, of which only this is read. */
const agentOfCilium: AnyResource = {
  apiVersion: "apps/v1",
  kind: "DaemonSet",
  metadata: { name: "cilium", namespace: "kube-system" },
  spec: {
    selector: { matchLabels: { "k8s-app": "cilium" } },
    template: {
      metadata: { labels: { "k8s-app": "cilium" } },
      spec: { containers: [{ name: "cilium-agent", image: "quay.io/cilium/cilium:v1.20.2" }] },
    },
  },
};

beforeEach(async () => {
  fleet = demoFleet();
  await register(fleet);
  await first().create(agentOfCilium);
});
afterEach(() => fleet.stop());

function start(): void {
  fleet.startServer();
  fleet.startAgent("cluster-1");
  fleet.startAgent("cluster-2");
}

describe("an AccessPolicy in a cluster with Cilium", () => {
  it("is a CiliumNetworkPolicy there while the Settings ask for it, and nothing in a cluster without", async () => {
    start();
    await fleet.management.create(readers);
    await eventually(async () => expect(await first().get(AuthorizationPolicy, { name: "reviews", namespace: "bookinfo" })).toBeDefined());
    await quiet();
    expect(await policyHere()).toBeUndefined();
    await fleet.management.create(settings);
    await eventually(async () =>
      expect((await policyHere())?.spec).toMatchObject({ endpointSelector: { matchLabels: { "k8s:app": "reviews" } } }),
    );
    expect((await second().list(CiliumNetworkPolicy)).items).toEqual([]);
    await fleet.management.delete({ ...Settings, name: "settings", namespace: "gloo-mesh", clusterName: "" });
    await eventually(async () => expect(await policyHere()).toBeUndefined());
    // The mesh enforces it all the same.
    expect(await first().get(AuthorizationPolicy, { name: "reviews", namespace: "bookinfo" })).toBeDefined();
  });

  it("is reported and not written while the Settings ask for an audit, and what was written before goes", async () => {
    start();
    await fleet.management.create(settings);
    await fleet.management.create(readers);
    await eventually(async () => expect(await policyHere()).toBeDefined());
    await fleet.management.apply({ ...settings, spec: { cilium: { accessPolicies: "AUDIT" } } } as AnyResource, {
      fieldManager: "user",
      force: true,
    });
    await eventually(async () => expect(await policyHere()).toBeUndefined());
    await eventually(async () =>
      expect(JSON.stringify(await statusOf(fleet, readers))).toMatch(
        /would get CiliumNetworkPolicy bookinfo\/accesspolicy-reviews, which selects [1-9]/,
      ),
    );
    expect(await first().get(AuthorizationPolicy, { name: "reviews", namespace: "bookinfo" })).toBeDefined();
  });

  it("is restored when somebody changes or deletes it there, beside policies of users, which stay as they are", async () => {
    await first().create(ofUser("other"));
    const other = await first().get(CiliumNetworkPolicy, { name: "other", namespace: "bookinfo" });
    start();
    await fleet.management.create(settings);
    await fleet.management.create(readers);
    const written = await eventually(async () => {
      const found = await policyHere();
      expect(found).toBeDefined();
      return found as CiliumNetworkPolicy;
    });
    await first().update({ ...written, spec: { ...written.spec, ingress: [{ fromEntities: ["all"] }] } } as CiliumNetworkPolicy);
    await eventually(async () => expect((await policyHere())?.spec).toEqual(written.spec));
    await first().delete({ ...CiliumNetworkPolicy, ...OURS, clusterName: "cluster-1" });
    await eventually(async () => expect((await policyHere())?.spec).toEqual(written.spec));
    await quiet();
    expect(await first().get(CiliumNetworkPolicy, { name: "other", namespace: "bookinfo" })).toEqual(other);
  });

  it("never takes the place of a user's object of its name, and its status names that", async () => {
    await first().create(ofUser(OURS.name));
    const theirs = await policyHere();
    start();
    await fleet.management.create(settings);
    await fleet.management.create(readers);
    await eventually(async () =>
      expect(JSON.stringify(await statusOf(fleet, readers))).toContain("CiliumNetworkPolicy bookinfo/accesspolicy-reviews"),
    );
    await quiet();
    expect(await policyHere()).toEqual(theirs);
    expect(await first().get(AuthorizationPolicy, { name: "reviews", namespace: "bookinfo" })).toBeDefined();
  });
});
