import { Destination, Pod, Service, Settings, Workload } from "@isthmus/api";
import { type AnyResource, emptyDelta, type Resource, refOf } from "@isthmus/core";
import type { SimulatedCluster } from "@isthmus/simulator";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { lastPods } from "../src/agent/lastPods.ts";
import { demoFleet, type Fleet, register } from "./fleet.ts";
import { clock, eventually, meanwhile, quiet } from "./virtualTime.ts";

const MINUTE = 60_000;
const WORKLOAD = { name: "kafka-bookinfo-cluster-1-strimzipodset", namespace: "gloo-mesh" };
const DESTINATION = { name: "kafka-bookinfo-cluster-1", namespace: "gloo-mesh" };

function podOf(name: string, owner = "kafka", namespace = "bookinfo"): AnyResource {
  const ownerReferences = [{ apiVersion: "core.strimzi.io/v1beta2", kind: "StrimziPodSet", name: owner, uid: owner, controller: true }];
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace, labels: { app: "kafka" }, ownerReferences },
    spec: {
      containers: [
        { name: "kafka", image: "kafka" },
        { name: "istio-proxy", image: "istio/proxyv2:1.27.0" },
      ],
    },
  };
}

const service: AnyResource = {
  apiVersion: "v1",
  kind: "Service",
  metadata: { name: "kafka", namespace: "bookinfo" },
  spec: { selector: { app: "kafka" }, ports: [{ name: "tcp", port: 9092 }] },
};

describe("the last pod of an operator's own kind", () => {
  let fleet: Fleet;
  let first: SimulatedCluster;
  beforeEach(async () => {
    fleet = demoFleet();
    await register(fleet);
    first = fleet.clusters["cluster-1"] as SimulatedCluster;
    await first.create(service);
    await first.create(podOf("kafka-0"));
    fleet.startServer();
    fleet.startAgent("cluster-1");
    await eventually(async () => expect(await uids()).toEqual([expect.any(String), expect.any(String)]));
  });
  afterEach(() => fleet.stop());

  const uids = async () => [
    (await fleet.management.get(Workload, WORKLOAD))?.metadata.uid,
    (await fleet.management.get(Destination, DESTINATION))?.metadata.uid,
  ];
  const podsKnown = () =>
    [...fleet.server().store.snapshot.of(Pod)].map(({ metadata }) => metadata.name).filter((name) => name.startsWith("kafka"));
  const remove = (name: string) =>
    first.delete({ apiVersion: "v1", kind: "Pod", name, namespace: "bookinfo", clusterName: "cluster-1" }, {});

  it("is evicted and comes back under another name: nothing is deleted, and the pod before is no longer reported", async () => {
    const before = await uids();
    await remove("kafka-0");
    await quiet(10 * MINUTE);
    expect(await uids()).toEqual(before);
    await first.create(podOf("kafka-1"));
    await eventually(() => expect(podsKnown()).toEqual(["kafka-1"]));
    await quiet(20 * MINUTE);
    expect([podsKnown(), await uids()]).toEqual([["kafka-1"], before]);
  });

  it("comes back under its own name, and goes again: the time begins again", async () => {
    const before = await uids();
    await remove("kafka-0");
    await quiet(10 * MINUTE);
    await first.create(podOf("kafka-0"));
    await quiet();
    await remove("kafka-0");
    await quiet(10 * MINUTE);
    expect(await uids()).toEqual(before);
    await quiet(6 * MINUTE);
    await eventually(async () => expect(await uids()).toEqual([undefined, undefined]));
    expect(podsKnown()).toEqual([]);
  });

  it("does not come back: its workload goes a quarter of an hour later", async () => {
    await remove("kafka-0");
    await quiet(14 * MINUTE);
    expect((await uids()).filter((uid) => uid === undefined)).toEqual([]);
    await quiet(2 * MINUTE);
    await eventually(async () => expect(await uids()).toEqual([undefined, undefined]));
  });

  it("is not kept beside others, nor where its Service is gone, and survives a restart of the server", async () => {
    await first.create(podOf("kafka-1"));
    await eventually(() => expect(podsKnown()).toEqual(["kafka-0", "kafka-1"]));
    await remove("kafka-1");
    await eventually(() => expect(podsKnown()).toEqual(["kafka-0"]));
    await remove("kafka-0");
    await quiet();
    await fleet.stopServer();
    fleet.startServer();
    await eventually(() => expect(podsKnown()).toEqual(["kafka-0"]));
    await first.delete(refOf({ ...service, metadata: { ...service.metadata, clusterName: "cluster-1" } }), {});
    await eventually(async () => expect((await uids())[1]).toBeUndefined());
    expect([...fleet.server().store.snapshot.of(Service)].map(({ metadata }) => metadata.name)).not.toContain("kafka");
  });

  it("of a namespace that discovery no longer looks into is not reported", async () => {
    await remove("kafka-0");
    await quiet();
    expect(podsKnown()).toEqual(["kafka-0"]);
    const spec = { discovery: { selectors: [{ matchLabels: { "kubernetes.io/metadata.name": "istio-system" } }] } };
    const { apiVersion, kind } = Settings;
    await fleet.management.create({ apiVersion, kind, metadata: { name: "settings", namespace: "gloo-mesh" }, spec } as Resource);
    await eventually(() => expect(podsKnown()).toEqual([]));
  });
});

describe("last pods that are kept", () => {
  const stop = new AbortController();
  const gone = new Set<string>();
  const start = () =>
    lastPods({ scope: () => () => true, isGone: (namespace) => gone.has(namespace), due: () => undefined, clock }, stop.signal);
  const refsOf = (pods: readonly Resource[]) => ({ put: [], remove: pods.map(refOf) });

  it("are a hundred in a namespace, whatever controllers a tenant makes up there, and are none of another's", () => {
    const filter = start();
    const many = Array.from({ length: 300 }, (_, i) => podOf(`made-up-${i}`, `made-up-${i}`, "tenant"));
    const other = podOf("kafka-0");
    filter.filtered({ put: [...many, other], remove: [] });
    expect(filter.filtered(refsOf(many)).remove).toHaveLength(200);
    expect(filter.filtered(refsOf([other])).remove).toEqual([]);
    gone.add("tenant");
    expect(filter.filtered(emptyDelta).remove).toHaveLength(100);
    // Its pods may be known to be gone after it.
    filter.filtered({ put: many, remove: [] });
    expect(filter.filtered(refsOf(many)).remove).toHaveLength(300);
    gone.clear();
    // There is room again.
    filter.filtered({ put: many, remove: [] });
    expect(filter.filtered(refsOf(many)).remove).toHaveLength(200);
  });

  it("are not removed once a pod of that name is there again, whatever made it", async () => {
    const filter = start();
    const [first, again] = [podOf("broker-0", "broker"), podOf("broker-0", "another")];
    const plain = { ...again, metadata: { ...again.metadata, ownerReferences: [] } };
    for (const next of [again, plain]) {
      filter.filtered({ put: [first], remove: [] });
      expect(filter.filtered(refsOf([first])).remove).toEqual([]);
      expect(filter.filtered({ put: [next], remove: [] })).toEqual({ put: [next], remove: [] });
      // The controller before makes another one.
      expect(filter.filtered({ put: [podOf("broker-1", "broker")], remove: [] }).remove).toEqual([]);
      await quiet(16 * MINUTE);
      expect(filter.filtered(emptyDelta).remove).toEqual([]);
      filter.filtered(refsOf([podOf("broker-1", "broker"), next]));
      await quiet(16 * MINUTE);
      filter.filtered(emptyDelta);
    }
  });

  it("wait for nothing once the agent stops", async () => {
    const filter = start();
    filter.filtered({ put: [podOf("kafka-0")], remove: [] });
    filter.filtered(refsOf([podOf("kafka-0")]));
    stop.abort(new Error("the test is over"));
    await meanwhile(Promise.resolve());
    expect(filter.filtered(emptyDelta)).toEqual(emptyDelta);
  });
});
