import { DaemonSet, Deployment, EndpointSlice, Endpoints, Namespace, Node, Pod, ReplicaSet, Service, StatefulSet } from "@isthmus/api";
import { type AnyResource, refOf } from "@isthmus/core";
import { describe, expect, it } from "vitest";
import { READY_ANNOTATION } from "../src/index.ts";
import { at, liveCluster, node, service, workload } from "./liveCluster.ts";

describe("a Deployment", () => {
  it("gets its pods, which run on nodes with addresses of their own", async () => {
    const live = await liveCluster([node("node-1"), node("node-2"), workload({ replicas: 3 })]);
    const pods = await live.all(Pod);
    expect(pods).toHaveLength(3);
    expect(pods.every((pod) => /^web-[a-z0-9]{10}-[a-z0-9]{5}$/.test(pod.metadata.name))).toBe(true);
    expect(pods.every((pod) => at(pod, "status.phase") === "Running" && isReady(pod))).toBe(true);
    expect(new Set(pods.map((pod) => at(pod, "status.podIP"))).size).toBe(3);
    expect(pods.every((pod) => ["node-1", "node-2"].includes(String(at(pod, "spec.nodeName"))))).toBe(true);
    const deployment = await live.one(Deployment, "web");
    expect(deployment["status"]).toMatchObject({
      observedGeneration: 1,
      replicas: 3,
      readyReplicas: 3,
      availableReplicas: 3,
      unavailableReplicas: 0,
    });
    expect(at(deployment, "status.conditions.0")).toMatchObject({ type: "Available", status: "True" });
    expect(live.warnings).toEqual([]);
  });

  it("scales to zero and back, with new pods", async () => {
    const live = await liveCluster([workload({ replicas: 2 })]);
    const before = (await live.all(Pod)).map(({ metadata }) => metadata.name);
    await live.apply(workload({ replicas: 0 }));
    expect(await live.all(Pod)).toEqual([]);
    expect((await live.one(Deployment, "web"))["status"]).toMatchObject({ replicas: 0, readyReplicas: 0 });
    await live.apply(workload({ replicas: 2 }));
    const after = (await live.all(Pod)).map(({ metadata }) => metadata.name);
    expect(after).toHaveLength(2);
    expect(after.some((name) => before.includes(name))).toBe(false);
    expect(await live.all(ReplicaSet)).toHaveLength(1);
  });

  it("replaces a pod that is deleted", async () => {
    const live = await liveCluster([workload()]);
    const [pod] = await live.all(Pod);
    await live.cluster.delete(refOf(pod as AnyResource));
    await live.clock.advance(1_000);
    const [replacement, ...others] = await live.all(Pod);
    expect(others).toEqual([]);
    expect(replacement?.metadata.name).not.toBe(pod?.metadata.name);
  });

  it("moves to a new template, keeping the old ReplicaSet without pods", async () => {
    const live = await liveCluster([workload({ replicas: 2 })]);
    await live.apply(workload({ replicas: 2, image: "example.com/web:2" }));
    const pods = await live.all(Pod);
    expect(pods.map((pod) => at(pod, "spec.containers.0.image"))).toEqual(["example.com/web:2", "example.com/web:2"]);
    const replicas = (await live.all(ReplicaSet)).map((replicaSet) => at(replicaSet, "spec.replicas"));
    expect([...replicas].sort()).toEqual([0, 2]);
    await live.apply(workload({ replicas: 2 }));
    expect((await live.all(Pod)).map((pod) => at(pod, "spec.containers.0.image"))).toEqual(["example.com/web:1", "example.com/web:1"]);
    expect(await live.all(ReplicaSet)).toHaveLength(2);
  });

  it("keeps the old pods while the new ones don't become ready", async () => {
    const live = await liveCluster([workload({ replicas: 1 })]);
    await live.apply(workload({ image: "example.com/web:broken", annotations: { [READY_ANNOTATION]: "false" } }));
    const pods = await live.all(Pod);
    expect(pods.map((pod) => [at(pod, "spec.containers.0.image"), isReady(pod)]).sort()).toEqual([
      ["example.com/web:1", true],
      ["example.com/web:broken", false],
    ]);
  });

  it("takes its ReplicaSets and pods with it", async () => {
    const live = await liveCluster([workload({ replicas: 2 }), service()]);
    await live.cluster.delete(refOf(workload()));
    await live.clock.advance(1_000);
    expect(await live.all(ReplicaSet)).toEqual([]);
    expect(await live.all(Pod)).toEqual([]);
    expect(at(await live.one(Endpoints, "web"), "subsets") ?? []).toEqual([]);
  });
});

describe("a StatefulSet", () => {
  it("gets pods with numbers, again for each template", async () => {
    const live = await liveCluster([node("node-1"), workload({ kind: "StatefulSet", name: "db", replicas: 2 })]);
    expect((await live.all(Pod)).map(({ metadata }) => metadata.name)).toEqual(["db-0", "db-1"]);
    await live.apply(workload({ kind: "StatefulSet", name: "db", replicas: 1, image: "example.com/db:2" }));
    const pods = await live.all(Pod);
    expect(pods.map((pod) => [pod.metadata.name, at(pod, "spec.containers.0.image")])).toEqual([["db-0", "example.com/db:2"]]);
    expect((await live.one(StatefulSet, "db"))["status"]).toMatchObject({ replicas: 1, readyReplicas: 1 });
  });
});

describe("a DaemonSet", () => {
  it("gets a pod on each node, also on those that come later", async () => {
    const live = await liveCluster([node("node-1"), workload({ kind: "DaemonSet", name: "logs" })]);
    await live.apply(node("node-2"));
    expect((await live.all(Pod)).map((pod) => at(pod, "spec.nodeName")).sort()).toEqual(["node-1", "node-2"]);
    expect((await live.one(DaemonSet, "logs"))["status"]).toMatchObject({ desiredNumberScheduled: 2, numberReady: 2 });
    await live.cluster.delete(refOf(node("node-1")));
    await live.clock.advance(1_000);
    expect((await live.all(Pod)).map((pod) => at(pod, "spec.nodeName"))).toEqual(["node-2"]);
  });
});

describe("a Service", () => {
  it("has the addresses of the pods that it selects, with their zones", async () => {
    const live = await liveCluster([node("node-1"), service(), workload({ replicas: 2 }), workload({ name: "other" })]);
    const pods = await live.all(Pod);
    const addresses = pods.filter(({ metadata }) => metadata.labels?.["app"] === "web").map((pod) => at(pod, "status.podIP"));
    const [slice, ...others] = await live.all(EndpointSlice);
    expect(others).toEqual([]);
    const endpoints = at(slice, "endpoints") as readonly { readonly addresses: readonly string[] }[];
    expect(endpoints.flatMap(({ addresses }) => addresses).sort()).toEqual([...addresses].sort());
    expect(endpoints[0]).toMatchObject({ conditions: { ready: true }, nodeName: "node-1", zone: "us-east-1a", targetRef: { kind: "Pod" } });
    expect(at(slice, "ports")).toEqual([{ name: "http", port: 8080, protocol: "TCP" }]);
    expect(slice?.metadata.labels).toMatchObject({ "kubernetes.io/service-name": "web" });
    expect(at(await live.one(Endpoints, "web"), "subsets.0.addresses")).toHaveLength(2);
  });

  it("does not count pods that are not ready, unless it publishes them", async () => {
    const broken = workload({ annotations: { [READY_ANNOTATION]: "false" } });
    const live = await liveCluster([service(), broken]);
    const [slice] = await live.all(EndpointSlice);
    expect(at(slice, "endpoints.0.conditions.ready")).toBe(false);
    expect(at(await live.one(Endpoints, "web"), "subsets.0.notReadyAddresses")).toHaveLength(1);
    await live.apply(service("web", { publishNotReadyAddresses: true }));
    expect(at((await live.all(EndpointSlice))[0], "endpoints.0.conditions.ready")).toBe(true);
  });

  it("follows its selector, and leaves nothing behind", async () => {
    const live = await liveCluster([service(), workload(), workload({ name: "other" })]);
    await live.apply(service("web", { selector: { app: "other" } }));
    const [target] = (await live.all(Pod)).filter(({ metadata }) => metadata.labels?.["app"] === "other");
    expect(at((await live.all(EndpointSlice))[0], "endpoints.0.targetRef.name")).toBe(target?.metadata.name);
    await live.cluster.delete(refOf(service()));
    await live.clock.advance(1_000);
    expect(await live.all(EndpointSlice)).toEqual([]);
    expect(await live.all(Endpoints)).toEqual([]);
  });

  it("without a selector is left to others", async () => {
    const live = await liveCluster([{ ...service(), spec: { ports: [{ port: 80 }] } } as AnyResource]);
    expect(await live.all(EndpointSlice)).toEqual([]);
    expect(await live.all(Endpoints)).toEqual([]);
  });

  it("of more pods than a slice holds has several slices", async () => {
    const live = await liveCluster([service(), workload({ replicas: 150 })]);
    const sizes = (await live.all(EndpointSlice)).map((slice) => (at(slice, "endpoints") as readonly unknown[]).length);
    expect([...sizes].sort((a, b) => a - b)).toEqual([50, 100]);
  });

  it("of type LoadBalancer gets an address of its own, while it is one", async () => {
    const live = await liveCluster([service("web", { type: "LoadBalancer" }), service("shop", { type: "LoadBalancer" })]);
    const addresses = await Promise.all(
      ["web", "shop"].map(async (name) => at(await live.one(Service, name), "status.loadBalancer.ingress.0.ip")),
    );
    expect(new Set(addresses).size).toBe(2);
    expect(addresses[0]).toMatch(/^172\.19\.\d+\.\d+$/);
    await live.apply(service("web", { type: "ClusterIP" }));
    expect(at(await live.one(Service, "web"), "status.loadBalancer.ingress")).toBeUndefined();
  });
});

describe("Nodes and namespaces", () => {
  it("are ready, with addresses", async () => {
    const live = await liveCluster([node("node-1"), node("node-2")]);
    const nodes = await live.all(Node);
    expect(nodes.map((each) => at(each, "status.conditions.0.status"))).toEqual(["True", "True"]);
    expect(new Set(nodes.map((each) => at(each, "status.addresses.0.address"))).size).toBe(2);
  });

  it("take what is in them with them", async () => {
    const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } };
    const live = await liveCluster([namespace, workload({ namespace: "shop" })]);
    expect(await live.all(Pod, "shop")).toHaveLength(1);
    await live.cluster.delete(refOf(namespace));
    await live.clock.advance(2_000);
    expect(live.cluster.objects().filter(({ metadata }) => metadata.namespace === "shop")).toEqual([]);
    expect((await live.all(Namespace)).map(({ metadata }) => metadata.name)).not.toContain("shop");
  });
});

describe("the controllers", () => {
  it("catch up after the API server was offline, and after calls that failed", async () => {
    const live = await liveCluster([service()]);
    live.cluster.faults.fail({ code: "Conflict", times: 3, matches: ({ verb }) => verb === "create" });
    live.cluster.faults.fail({ code: "Unavailable", times: 5, afterWrite: true, matches: ({ verb }) => verb === "updateStatus" });
    await live.apply(workload({ replicas: 2 }));
    live.cluster.faults.reachable(false);
    await live.clock.advance(5_000);
    live.cluster.faults.reachable(true);
    live.cluster.faults.compact();
    await live.clock.advance(60_000);
    expect(await live.all(Pod)).toHaveLength(2);
    expect((await live.one(Deployment, "web"))["status"]).toMatchObject({ readyReplicas: 2 });
    expect(at((await live.all(EndpointSlice))[0], "endpoints")).toHaveLength(2);
  });

  it("find nothing to do when they start again", async () => {
    const first = await liveCluster([node("node-1"), service(), workload({ replicas: 2 })]);
    const version = async () => (await first.cluster.list(Pod)).resourceVersion;
    const before = await version();
    first.cluster.faults.reachable(false);
    await first.clock.advance(1_000);
    first.cluster.faults.heal();
    await first.clock.advance(60_000);
    expect(await version()).toBe(before);
  });
});

function isReady(pod: AnyResource): boolean {
  const conditions = at(pod, "status.conditions") as readonly { readonly type: string; readonly status: string }[];
  return conditions.some(({ type, status }) => type === "Ready" && status === "True");
}
