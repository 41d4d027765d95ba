import { ConfigMap, Destination, Namespace, Pod, Service, ServiceEntry, Settings } from "@isthmus/api";
import type { Resource } from "@isthmus/core";
import type { SimulatedCluster } from "@isthmus/simulator";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { bookinfoMesh, demoFleet, type Fleet, ours, register, statusOf } from "./fleet.ts";
import { eventually } from "./virtualTime.ts";

let fleet: Fleet;
beforeEach(async () => {
  fleet = demoFleet();
  await register(fleet);
  await write({ relay: { deleteBudget: { percent: 0, objects: 1 } } });
  fleet.startServer();
  fleet.startAgent("cluster-1");
  fleet.startAgent("cluster-2");
  await fleet.management.create(bookinfoMesh);
  await eventually(async () => expect(await ours(second(), ServiceEntry)).toContain(REVIEWS));
});
afterEach(() => fleet.stop());

const first = () => fleet.clusters["cluster-1"] as SimulatedCluster;
const second = () => fleet.clusters["cluster-2"] as SimulatedCluster;
const REVIEWS = "reviews.bookinfo.svc.cluster-1.global.istio-system";

/** The Settings, as a user writes them. */
async function write(spec: Settings["spec"]): Promise<void> {
  const settings: Settings = {
    apiVersion: Settings.apiVersion,
    kind: Settings.kind,
    metadata: { name: "settings", namespace: "gloo-mesh" },
    ...(spec === undefined ? {} : { spec }),
  };
  const found = await fleet.management.get(Settings, { name: "settings", namespace: "gloo-mesh" });
  if (found === undefined) await fleet.management.create(settings);
  else await fleet.management.update({ ...found, ...settings, metadata: found.metadata });
}

/** What the server holds of a namespace in a cluster. */
function held(namespace: string, clusterName = "cluster-1"): number {
  const { snapshot } = fleet.server().store;
  const isThere = ({ metadata }: Resource) => metadata.namespace === namespace && metadata.clusterName === clusterName;
  return [...snapshot.of(Service), ...snapshot.of(Pod)].filter(isThere).length;
}

/** Held-back removals, of which the KubernetesClusters tell. */
async function paused(): Promise<readonly string[]> {
  const clusters = ["cluster-1", "cluster-2"].map((name) => ({
    apiVersion: "multicluster.solo.io/v1alpha1",
    kind: "KubernetesCluster",
    metadata: { name, namespace: "gloo-mesh" },
  }));
  const statuses = await Promise.all(clusters.map((cluster) => statusOf(fleet, cluster)));
  return statuses.flatMap(({ conditions = [] }) =>
    conditions.filter(({ type, status }) => type === "DeletesPaused" && status === "True").map(({ type }) => type),
  );
}

const ELSEWHERE = { matchLabels: { "kubernetes.io/metadata.name": "istio-system" } };

describe("discovery selectors", () => {
  it("of the Settings keep a namespace from being reported; what it was made into goes, however much that is, and comes back", async () => {
    expect(held("bookinfo")).toBeGreaterThan(0);
    const budget = { relay: { deleteBudget: { percent: 0, objects: 1 } } };
    await write({ ...budget, discovery: { selectors: [ELSEWHERE] } });
    await eventually(() => expect(held("bookinfo")).toBe(0));
    expect(held("istio-system")).toBeGreaterThan(0);
    await eventually(async () => expect(await ours(second(), ServiceEntry)).not.toContain(REVIEWS));
    expect(await paused()).toEqual([]);
    await write(budget);
    await eventually(async () => expect(await ours(second(), ServiceEntry)).toContain(REVIEWS));
    expect(held("bookinfo")).toBeGreaterThan(0);
  });

  it("of a mesh do the same for its cluster", async () => {
    const found = await first().get(ConfigMap, { name: "istio", namespace: "istio-system" });
    if (found === undefined) throw new Error("the demo has no mesh configuration");
    const mesh = `${found.data?.["mesh"] ?? ""}\ndiscoverySelectors:\n- matchLabels:\n    discover: "yes"\n`;
    await first().update({ ...found, data: { ...found.data, mesh } } as Resource);
    await eventually(() => expect(held("bookinfo")).toBe(0));
    expect(held("bookinfo", "cluster-2")).toBeGreaterThan(0);
    await eventually(async () => expect(await ours(second(), ServiceEntry)).not.toContain(REVIEWS));
    expect(await paused()).toEqual([]);

    const namespace = await first().get(Namespace, { name: "bookinfo", namespace: "" });
    if (namespace === undefined) throw new Error("the demo has no namespace bookinfo");
    await first().update({ ...namespace, metadata: { ...namespace.metadata, labels: { ...namespace.metadata.labels, discover: "yes" } } });
    await eventually(async () => expect(await ours(second(), ServiceEntry)).toContain(REVIEWS));
  });

  it("that hide everything because namespaces are not seen any more are no edit: the deletes wait", async () => {
    const found = await first().get(ConfigMap, { name: "istio", namespace: "istio-system" });
    const namespace = await first().get(Namespace, { name: "bookinfo", namespace: "" });
    if (found === undefined || namespace === undefined) throw new Error("the demo lacks something");
    await first().update({ ...namespace, metadata: { ...namespace.metadata, labels: { ...namespace.metadata.labels, discover: "yes" } } });
    const mesh = `${found.data?.["mesh"] ?? ""}\ndiscoverySelectors:\n- matchLabels:\n    discover: "yes"\n`;
    await first().update({ ...found, data: { ...found.data, mesh } } as Resource);
    await eventually(async () => expect((await fleet.management.list(Destination)).items.length).toBeGreaterThan(0));
    // As after an API server that has forgotten them: the services are there.
    await first().delete({ apiVersion: "v1", kind: "Namespace", name: "bookinfo", namespace: "", clusterName: "cluster-1" });
    await eventually(async () => expect(await paused()).not.toEqual([]));
    expect(await ours(second(), ServiceEntry)).toContain(REVIEWS);
  });
});
