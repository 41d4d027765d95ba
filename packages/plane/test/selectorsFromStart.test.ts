import { ConfigMap, Destination, Service, ServiceEntry, Settings } from "@isthmus/api";
import type { Resource } from "@isthmus/core";
import type { SimulatedCluster } from "@isthmus/simulator";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { bookinfoMesh, demoFleet, type Fleet, ours, register, written } from "./fleet.ts";
import { eventually, quiet } from "./virtualTime.ts";

let fleet: Fleet;
let stop: AbortController;
/** Every Destination that was ever published, whatever became of it. */
let published: Set<string>;
beforeEach(async () => {
  fleet = demoFleet();
  stop = new AbortController();
  published = new Set();
  await register(fleet);
  await fleet.management.create(bookinfoMesh);
  void recordPublished();
});
afterEach(async () => {
  stop.abort(new Error("the test is over"));
  await fleet.stop();
});

const first = () => fleet.clusters["cluster-1"] as SimulatedCluster;
const second = () => fleet.clusters["cluster-2"] as SimulatedCluster;

async function recordPublished(): Promise<void> {
  const { resourceVersion } = await fleet.management.list(Destination);
  try {
    for await (const event of fleet.management.watch(Destination, resourceVersion, {}, stop.signal)) {
      if (event.type === "put") published.add(event.resource.metadata.name);
    }
  } catch (error) {
    if (!stop.signal.aborted) throw error;
  }
}

async function select(namespaces: string): Promise<void> {
  const { apiVersion, kind } = Settings;
  const spec = { discovery: { selectors: [{ matchLabels: { "kubernetes.io/metadata.name": namespaces } }] } };
  await fleet.management.create({ apiVersion, kind, metadata: { name: "settings", namespace: "gloo-mesh" }, spec } as Resource);
}

async function start(): Promise<void> {
  fleet.startServer();
  fleet.startAgent("cluster-1");
  fleet.startAgent("cluster-2");
  for (const name of ["cluster-1", "cluster-2"]) {
    await eventually(() => expect(fleet.server().store.clusters.get(name)?.phase).toBe("synced"));
  }
}

const reported = (clusterName: string) =>
  [...fleet.server().store.snapshot.of(Service)].filter(
    ({ metadata }) => metadata.clusterName === clusterName && metadata.namespace === "bookinfo",
  );

describe("discovery selectors that are there from the very start", () => {
  it("of the Settings hold for the first report: what they hide is never discovered", async () => {
    await select("istio-system");
    await start();
    await eventually(() => expect(published).toContain("istio-ingressgateway-istio-system-cluster-1"));
    await quiet();
    expect([...reported("cluster-1"), ...reported("cluster-2")]).toEqual([]);
    expect([...published].filter((name) => name.includes("bookinfo"))).toEqual([]);
  });

  it("of a mesh hold for the first report of its cluster, and for no other", async () => {
    const found = await first().get(ConfigMap, { name: "istio", namespace: "istio-system" });
    if (found === undefined) throw new Error("the demo has no mesh configuration");
    const mesh = `${found.data?.["mesh"] ?? ""}\ndiscoverySelectors:\n- matchLabels:\n    discover: "yes"\n`;
    await first().update({ ...found, data: { ...found.data, mesh } } as Resource);
    await start();
    await eventually(() => expect(published).toContain("reviews-bookinfo-cluster-2"));
    await quiet();
    expect(reported("cluster-1")).toEqual([]);
    expect([...published].filter((name) => name.endsWith("bookinfo-cluster-1"))).toEqual([]);
  });

  it("hold over a restart of server and agents: nothing comes, and nothing goes", async () => {
    await select("bookinfo");
    await start();
    await eventually(async () => expect(await ours(second(), ServiceEntry)).not.toEqual([]));
    await quiet();
    const before = [first(), second()].flatMap(written);
    const discovered = [...published].sort();
    await fleet.stopServer();
    for (const name of ["cluster-1", "cluster-2"]) await fleet.stopAgent(name);
    await start();
    await quiet();
    expect([first(), second()].flatMap(written)).toEqual(before);
    expect([...published].sort()).toEqual(discovered);
  });
});
