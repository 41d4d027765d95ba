import {
  AccessPolicy,
  CiliumEndpoint,
  CiliumIdentity,
  CiliumNetworkPolicy,
  CiliumNode,
  CiliumPolicyReport,
  DaemonSet,
  KubernetesCluster,
  Mesh,
  Settings,
} from "@isthmus/api";
import { type AnyResource, type Kind, kindKeyOf, type Resource, refOf } from "@isthmus/core";
import { startAgentLink } from "@isthmus/relay/session";
import type { SimulatedCluster } from "@isthmus/simulator";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Cluster } from "../src/index.ts";
import { demoFleet, type Fleet, type PublishedStatus, register, statusOf } from "./fleet.ts";
import { clock, eventually, quiet } from "./virtualTime.ts";

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

/** Settings that turn enforcement by Cilium on. */
function settings(endpoints?: string): AnyResource {
  return {
    apiVersion: Settings.apiVersion,
    kind: Settings.kind,
    metadata: { name: "settings", namespace: "gloo-mesh" },
    spec: {
      cilium: { accessPolicies: "ENABLED" },
      ...(endpoints === undefined ? {} : { discovery: { cilium: { endpoints } } }),
    },
  } as AnyResource;
}

/** An endpoint as Cilium writes it for a pod: with much that changes all the time. */
function endpoint(name: string, { app = "reviews", enforcing = true, owner = "Pod", at = 0 } = {}): AnyResource {
  const { apiVersion, kind } = CiliumEndpoint;
  return {
    apiVersion,
    kind,
    metadata: { name, namespace: "bookinfo", ownerReferences: [{ apiVersion: "v1", kind: owner, name, uid: `uid-of-${name}` }] },
    status: {
      id: 100 + at,
      identity: { id: 4711, labels: [`k8s:app=${app}`, "k8s:io.kubernetes.pod.namespace=bookinfo"] },
      log: [{ code: "OK", message: `regenerated ${at} times` }],
      policy: { ingress: { enforcing, allowed: [{ "identity-labels": ["reserved:host"] }], state: enforcing ? "enforcing" : "disabled" } },
      state: "ready",
    },
  } as AnyResource;
}

let fleet: Fleet;
/** Lists and watches of endpoints in cluster-1. */
let reads: string[];
const first = () => fleet.clusters["cluster-1"] as SimulatedCluster;

/** A cluster that notes who reads endpoints. */
function noted(cluster: Cluster): Cluster {
  const note = (verb: string, kind: Kind) => {
    if (kind.kind === CiliumEndpoint.kind) reads.push(verb);
  };
  return {
    ...cluster,
    list(kind, ...rest) {
      note("list", kind);
      return cluster.list(kind, ...rest);
    },
    watch(kind, ...rest) {
      note("watch", kind);
      return cluster.watch(kind, ...rest);
    },
  };
}

beforeEach(async () => {
  reads = [];
  fleet = demoFleet();
  await register(fleet);
  const selector = { "k8s-app": "cilium" };
  await first().create({
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    metadata: { name: "cilium", namespace: "kube-system" },
    spec: {
      selector: { matchLabels: selector },
      template: {
        metadata: { labels: selector },
        spec: { containers: [{ name: "cilium-agent", image: "quay.io/cilium/cilium:v1.20.2" }] },
      },
    },
  } as AnyResource);
  fleet.startServer();
  fleet.startAgent("cluster-1", { over: noted });
  fleet.startAgent("cluster-2");
});
afterEach(() => fleet.stop());

/** Writes an endpoint as Cilium does. */
async function put(one: AnyResource): Promise<void> {
  const { name, namespace = "" } = one.metadata;
  if ((await first().get(CiliumEndpoint, { name, namespace })) === undefined) await first().create(one);
  await first().updateStatus(one);
}

/** The policy that enforces `readers`, once it is there. */
function policyHere(): Promise<AnyResource> {
  return eventually(async () => {
    const found = await first().get(CiliumNetworkPolicy, OURS);
    expect(found).toBeDefined();
    return found as AnyResource;
  });
}

/** Cilium's word on the policy. */
async function says(status: "True" | "False", message: string): Promise<void> {
  await first().updateStatus({ ...(await policyHere()), status: { conditions: [{ type: "Valid", status, message }] } });
}

async function enforced(): Promise<NonNullable<PublishedStatus["conditions"]>[number] | undefined> {
  return (await statusOf(fleet, readers)).conditions?.find(({ type }) => type === "NetworkEnforced");
}

const onServer = <R extends Resource>(kind: Kind<R>, clusterName = "cluster-1"): readonly R[] => [
  ...fleet.server().store.snapshotIn(clusterName).of(kind),
];

describe("what Cilium makes of an AccessPolicy", () => {
  it("is in its status: whether Cilium takes the policy, and how many pods enforce it", async () => {
    await fleet.management.create(settings());
    await fleet.management.create(readers);
    await policyHere();
    await eventually(async () => expect(await enforced()).toMatchObject({ status: "Unknown", reason: "NoEndpoints" }));
    for (const name of ["reviews-1", "reviews-2"]) await put(endpoint(name));
    await put(endpoint("reviews-3", { enforcing: false }));
    await put(endpoint("ratings-1", { app: "ratings" }));
    await put(endpoint("cilium-health-1", { owner: "Node" }));
    await eventually(async () =>
      expect(await enforced()).toMatchObject({
        status: "False",
        reason: "NotEnforcing",
        message: "1 CiliumNetworkPolicy; 2 of 3 endpoints enforce",
      }),
    );
    await put(endpoint("reviews-3"));
    await says("True", "Policy validation succeeded");
    await eventually(async () =>
      expect(await enforced()).toMatchObject({
        status: "True",
        reason: "Enforced",
        message: "1 of 1 CiliumNetworkPolicy accepted; 3 of 3 endpoints enforce",
      }),
    );
    await first().delete({ ...CiliumEndpoint, name: "reviews-3", namespace: "bookinfo", clusterName: "cluster-1" });
    await eventually(async () => expect((await enforced())?.message).toContain("2 of 2 endpoints enforce"));
    await fleet.management.delete({ ...AccessPolicy, name: "readers", namespace: "gloo-mesh", clusterName: "" });
    await eventually(() => expect(onServer(CiliumPolicyReport)).toEqual([]));
  });

  it("is a warning with object, reason and remedy where Cilium refuses the policy, until it takes it", async () => {
    await fleet.management.create(settings());
    await fleet.management.create(readers);
    await says("False", `port 99999 is out of range\n${"x".repeat(5_000)}`);
    await eventually(async () => expect(await enforced()).toMatchObject({ status: "False", reason: "RefusedByCilium" }));
    const told = JSON.stringify(await statusOf(fleet, readers));
    expect(told).toContain(
      "CiliumNetworkPolicy bookinfo/accesspolicy-reviews in cluster-1 is refused by Cilium (port 99999 is out of range x",
    );
    expect(told).toContain("compare spec.allowedPorts");
    expect(told.length).toBeLessThan(4_000);
    // The mesh enforces it all the same.
    expect(await statusOf(fleet, readers)).toMatchObject({ state: "ACCEPTED" });
    await says("True", "");
    await eventually(async () => expect(JSON.stringify(await statusOf(fleet, readers))).not.toContain("refused by Cilium"));
  });

  it("costs nothing on the wire while no number changes, and nothing at all where nothing is written for Cilium", async () => {
    for (let i = 0; i < 20; i++) await put(endpoint(`reviews-${i}`));
    await quiet(60_000);
    expect(reads).toEqual([]);
    await fleet.management.create(settings());
    await fleet.management.create(readers);
    await eventually(async () => expect((await enforced())?.message).toContain("20 of 20"));
    const before = onServer(CiliumPolicyReport);
    const version = fleet.server().store.snapshotIn("cluster-1");
    for (let at = 1; at <= 5; at++) {
      for (let i = 0; i < 20; i++) await put(endpoint(`reviews-${i}`, { at }));
      await quiet(10_000);
    }
    expect(onServer(CiliumPolicyReport)[0]).toBe(before[0]);
    expect(fleet.server().store.snapshotIn("cluster-1")).toBe(version);
    expect(onServer(CiliumEndpoint)).toEqual([]);
    expect(reads.filter((verb) => verb === "list")).toHaveLength(1);
  });

  it("does not say how many pods there are where that cannot be known", async () => {
    first().unserve(CiliumEndpoint);
    await fleet.management.create(settings());
    await fleet.management.create(readers);
    await eventually(async () => expect(await enforced()).toMatchObject({ status: "Unknown", reason: "NotCounted" }));
    await says("True", "");
    await eventually(async () =>
      expect(await enforced()).toMatchObject({ status: "True", reason: "Accepted", message: "1 of 1 CiliumNetworkPolicy accepted" }),
    );
    expect(onServer(CiliumPolicyReport)[0]?.status).toEqual({ valid: true });
    first().serve(CiliumEndpoint);
    await put(endpoint("reviews-1"));
    await eventually(async () => expect((await enforced())?.message).toContain("1 of 1 endpoint enforce"));
  });

  it("is what the agent of that cluster says, and no other's", async () => {
    await fleet.management.create(settings());
    await fleet.management.create(readers);
    await put(endpoint("reviews-1"));
    await says("True", "");
    await eventually(async () => expect(await enforced()).toMatchObject({ status: "True" }));
    await fleet.stopAgent("cluster-2");
    const forger = new AbortController();
    const link = startAgentLink(
      {
        clusterName: "cluster-2",
        kinds: [kindKeyOf(CiliumPolicyReport)],
        userKinds: [],
        agent: { instance: "forger", version: "test", agentNamespace: "gloo-mesh", clusterUid: "cluster-2" },
        connector: fleet.network().connector("cluster-2"),
        handler: { desired: () => undefined, notices: () => undefined, state: () => undefined },
        answer: () => Promise.reject(new Error("no query is expected")),
        clock,
        random: () => 0,
        log: fleet.log,
      },
      forger.signal,
    );
    const { apiVersion, kind } = CiliumPolicyReport;
    const forged = ["cluster-1", "cluster-2"].map((clusterName) => {
      const status = { valid: false, message: "forged", endpoints: 9, enforcing: 0 };
      return { apiVersion, kind, metadata: { ...OURS, clusterName }, status };
    });
    link.observe({ put: forged, remove: [] });
    link.synced([kindKeyOf(CiliumPolicyReport)], []);
    await eventually(() => expect(onServer(CiliumPolicyReport, "cluster-2")).toHaveLength(1));
    await quiet(20_000);
    expect(await enforced()).toMatchObject({ status: "True", message: "1 of 1 CiliumNetworkPolicy accepted; 1 of 1 endpoint enforce" });
    forger.abort(new Error("done"));
  });

  it("is known after a restart of the agent, which forgets what is gone", async () => {
    await fleet.management.create(settings());
    await fleet.management.create(readers);
    await put(endpoint("reviews-1"));
    await eventually(async () => expect((await enforced())?.message).toContain("1 of 1"));
    await fleet.stopAgent("cluster-1");
    await put(endpoint("reviews-2"));
    fleet.startAgent("cluster-1");
    await eventually(async () => expect((await enforced())?.message).toContain("2 of 2"));
    await fleet.stopAgent("cluster-1");
    await fleet.management.delete({ ...Settings, name: "settings", namespace: "gloo-mesh", clusterName: "" });
    await quiet();
    await first().delete({ ...CiliumNetworkPolicy, ...OURS, clusterName: "cluster-1" });
    fleet.startAgent("cluster-1");
    await eventually(() => expect(onServer(CiliumPolicyReport)).toEqual([]));
    await eventually(async () => expect(await enforced()).toBeUndefined());
  });
});

describe("Settings.spec.discovery.cilium.endpoints", () => {
  it("NONE: endpoints are not watched, and only Cilium's word is reported", async () => {
    await fleet.management.create(settings("NONE"));
    await fleet.management.create(readers);
    await put(endpoint("reviews-1"));
    await says("True", "");
    await eventually(async () => expect(await enforced()).toMatchObject({ status: "True", reason: "Accepted" }));
    await quiet(60_000);
    expect(reads).toEqual([]);
    expect(onServer(CiliumPolicyReport)[0]?.status).toEqual({ valid: true });
    await fleet.management.update(settings());
    await eventually(async () => expect((await enforced())?.message).toContain("1 of 1 endpoint enforce"));
    await fleet.management.update(settings("NONE"));
    await eventually(async () =>
      expect(await enforced()).toMatchObject({ reason: "Accepted", message: "1 of 1 CiliumNetworkPolicy accepted" }),
    );
  });

  it("says how many identities and nodes Cilium has in the status of the mesh beside it, as long as it may be counted", async () => {
    const mesh = async () => (await fleet.management.get(Mesh, { name: "istiod-istio-system-cluster-1", namespace: "gloo-mesh" }))?.status;
    await first().create({ ...CiliumNode, metadata: { name: "node-1" }, spec: { addresses: [] } } as AnyResource);
    for (let i = 0; i < 3; i++) await first().create({ ...CiliumIdentity, metadata: { name: String(40_000 + i) } } as AnyResource);
    await eventually(async () => expect((await mesh())?.cilium).toEqual({ identities: 3, nodes: 1 }));
    expect(JSON.stringify([...fleet.server().store.snapshotIn("cluster-1").collections().keys()])).not.toMatch(/CiliumIdentity|CiliumNode/);
    await first().delete({ ...CiliumIdentity, name: "40000", namespace: "", clusterName: "cluster-1" });
    await eventually(async () => expect((await mesh())?.cilium).toEqual({ identities: 2, nodes: 1 }));
    await fleet.management.create(settings("NONE"));
    await eventually(async () => expect((await mesh())?.cilium).toEqual({}));
    expect(
      (await fleet.management.get(Mesh, { name: "istiod-istio-system-cluster-2", namespace: "gloo-mesh" }))?.status?.cilium,
    ).toBeUndefined();
  });

  it("is in the status of the cluster, as long as it is there", async () => {
    const status = async () => (await fleet.management.get(KubernetesCluster, { name: "cluster-1", namespace: "gloo-mesh" }))?.status;
    await eventually(async () => expect((await status())?.cilium).toMatchObject({ enforcement: "default", clusterMesh: false }));
    const [daemonSet] = (await first().list(DaemonSet)).items.filter(({ metadata }) => metadata.name === "cilium");
    if (daemonSet === undefined) throw new Error("no Cilium in the cluster of the test");
    await first().delete(refOf(daemonSet));
    await eventually(async () => expect((await status())?.cilium).toBeUndefined());
  });

  it("FULL: endpoints are sent, too, of namespaces to discover and without what is long; no more with SUMMARY", async () => {
    await put(endpoint("reviews-1"));
    await put({ ...endpoint("elsewhere"), metadata: { name: "elsewhere", namespace: "kube-system" } } as AnyResource);
    const selectors = [{ matchLabels: { "kubernetes.io/metadata.name": "bookinfo" } }];
    await fleet.management.create({ ...settings(), spec: { discovery: { selectors, cilium: { endpoints: "FULL" } } } } as AnyResource);
    await eventually(() => expect(onServer(CiliumEndpoint).map(({ metadata }) => metadata.name)).toEqual(["reviews-1"]));
    const sent = JSON.stringify(onServer(CiliumEndpoint));
    expect(sent).toContain("k8s:app=reviews");
    expect(sent).not.toMatch(/regenerated|allowed|reserved:host/);
    await put(endpoint("reviews-2", { enforcing: false }));
    await eventually(() => expect(onServer(CiliumEndpoint).map(({ metadata }) => metadata.name)).toEqual(["reviews-1", "reviews-2"]));
    expect(onServer(CiliumEndpoint, "cluster-2")).toEqual([]);
    await fleet.management.update(settings("SUMMARY"));
    await eventually(() => expect(onServer(CiliumEndpoint)).toEqual([]));
  });
});
