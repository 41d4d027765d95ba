import { Deployment, Destination, DestinationRule, Mesh, Service, ServiceEntry, VirtualService, Workload } from "@isthmus/api";
import type { Resource } from "@isthmus/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { bookinfoMesh, demoFleet, type Fleet, ours, register, statusOf, timeoutPolicy, written } from "./fleet.ts";
import { eventually, quiet } from "./virtualTime.ts";

const KUBERNETES_CLUSTER = { apiVersion: "multicluster.solo.io/v1alpha1", kind: "KubernetesCluster" };

let fleet: Fleet;
beforeEach(() => {
  fleet = demoFleet();
});
afterEach(() => fleet.stop());

const first = () => fleet.clusters["cluster-1"] as NonNullable<(typeof fleet.clusters)[string]>;
const second = () => fleet.clusters["cluster-2"] as NonNullable<(typeof fleet.clusters)[string]>;

async function federated(): Promise<void> {
  await register(fleet);
  fleet.startServer();
  fleet.startAgent("cluster-1");
  fleet.startAgent("cluster-2");
  await fleet.management.create(bookinfoMesh);
  await eventually(async () => expect(await isApplied(bookinfoMesh)).toBe(true));
}

async function isApplied(resource: Resource): Promise<boolean> {
  const { state, conditions = [] } = await statusOf(fleet, resource);
  return state === "ACCEPTED" && conditions.some(({ type, status }) => type === "Applied" && status === "True");
}

async function isPaused(name: string): Promise<boolean> {
  const { conditions = [] } = await statusOf(fleet, approved(name));
  return conditions.some(({ type, status }) => type === "DeletesPaused" && status === "True");
}

/** The registration of a cluster, with the approval of the deletes that are on hold. */
function approved(name: string): Resource {
  const annotations = { "isthmus.mesh/resume-deletes": "now" };
  return { ...KUBERNETES_CLUSTER, metadata: { name, namespace: "gloo-mesh", annotations } };
}

async function timeouts(): Promise<readonly (string | undefined)[]> {
  const services = await Promise.all(
    [first(), second()].map((cluster) => cluster.get(VirtualService, { name: "reviews", namespace: "bookinfo" })),
  );
  return services.map((service) => service?.spec?.http?.[0]?.timeout);
}

describe("the slice, from clusters to clusters", () => {
  it("discovers both clusters, federates them, and reports on the user's VirtualMesh", async () => {
    await federated();
    const discovered = async (kind: typeof Mesh | typeof Workload | typeof Destination) =>
      (await fleet.management.list(kind as typeof Mesh)).items.map(({ metadata }) => metadata.name);
    expect(await discovered(Mesh)).toEqual(["istiod-istio-system-cluster-1", "istiod-istio-system-cluster-2"]);
    expect(await discovered(Workload)).toContain("reviews-v1-bookinfo-cluster-1-deployment");
    expect(await discovered(Destination)).toContain("reviews-bookinfo-cluster-2");
    expect(await ours(first(), ServiceEntry)).toContain("reviews.bookinfo.svc.cluster-2.global.istio-system");
    expect(await ours(second(), ServiceEntry)).toContain("productpage.bookinfo.svc.cluster-1.global.istio-system");
    const entry = await first().get(ServiceEntry, { name: "reviews.bookinfo.svc.cluster-2.global", namespace: "istio-system" });
    expect(entry?.spec?.addresses).toEqual(["255.51.210.11"]);
    expect(entry?.spec?.endpoints?.length).toBeGreaterThan(0);
  });

  it("applies a TrafficPolicy in both clusters, and undoes exactly what came from it", async () => {
    await federated();
    const before = { services: await ours(first(), VirtualService), rules: await ours(first(), DestinationRule) };
    await fleet.management.create(timeoutPolicy);
    await eventually(async () => expect(await timeouts()).toEqual(["2s", "2s"]));
    await eventually(async () => expect(await isApplied(timeoutPolicy)).toBe(true));

    await fleet.management.delete({
      apiVersion: timeoutPolicy.apiVersion,
      kind: timeoutPolicy.kind,
      name: "timeout",
      namespace: "bookinfo",
      clusterName: "",
    });
    await eventually(async () => expect(await timeouts()).toEqual([undefined, undefined]));
    await eventually(async () => expect(await ours(first(), VirtualService)).toEqual(before.services));
    expect(await ours(first(), DestinationRule)).toEqual(before.rules);
  });

  it("says no more of a VirtualMesh in the statuses of a Destination and a Mesh that it has left", async () => {
    await federated();
    const namespace = "gloo-mesh";
    const said = async () => {
      const destination = await fleet.management.get(Destination, { name: "details-bookinfo-cluster-1", namespace });
      const mesh = await fleet.management.get(Mesh, { name: "istiod-istio-system-cluster-1", namespace });
      const { appliedVirtualMesh, appliedEastWestIngressGateways = [] } = mesh?.status ?? {};
      return [
        destination?.status?.appliedFederation?.federatedHostname,
        appliedVirtualMesh?.ref?.name,
        appliedEastWestIngressGateways.length,
      ];
    };
    await eventually(async () => expect(await said()).toEqual(["details.bookinfo.svc.cluster-1.global", "bookinfo", 1]));
    await fleet.management.delete({ ...bookinfoMesh, ...bookinfoMesh.metadata, namespace, clusterName: "" });
    await eventually(async () => expect(await said()).toEqual([undefined, undefined, 0]));
  });

  it("removes what came from a service that is deleted, and nothing else", async () => {
    await federated();
    const before = await ours(second(), ServiceEntry);
    expect(before).toContain("details.bookinfo.svc.cluster-1.global.istio-system");
    await first().delete({
      apiVersion: Service.apiVersion,
      kind: Service.kind,
      name: "details",
      namespace: "bookinfo",
      clusterName: "cluster-1",
    });
    await eventually(async () =>
      expect(await ours(second(), ServiceEntry)).toEqual(before.filter((name) => !name.startsWith("details.bookinfo.svc.cluster-1."))),
    );
    expect(await fleet.management.get(Destination, { name: "details-bookinfo-cluster-1", namespace: "gloo-mesh" })).toBeUndefined();
  });

  it("puts no delete on hold for what never came to a cluster, once the agent can read it again", async () => {
    await federated();
    const before = await ours(first(), ServiceEntry);
    const { ports, selector } = (await second().get(Service, { name: "reviews", namespace: "bookinfo" }))?.spec ?? {};
    const many = Array.from({ length: 40 }, (_, index) => ({ name: `reviews-${index}`, namespace: "bookinfo" }));
    fleet.network().cut("cluster-1");
    first().faults.reachable(false);
    for (const metadata of many)
      await second().create({ apiVersion: Service.apiVersion, kind: Service.kind, metadata, spec: { ports, selector } } as Resource);
    const destination = { name: "reviews-39-bookinfo-cluster-2", namespace: "gloo-mesh" };
    await eventually(async () => expect(await fleet.management.get(Destination, destination)).toBeDefined());
    for (const name of many)
      await second().delete({ apiVersion: Service.apiVersion, kind: Service.kind, clusterName: "cluster-2", ...name });
    await eventually(async () => expect(await fleet.management.get(Destination, destination)).toBeUndefined());
    fleet.network().heal("cluster-1");
    // Of what it cannot read the agent does not know that it never came.
    await eventually(async () => expect(await isPaused("cluster-1")).toBe(true));
    first().faults.reachable(true);
    await eventually(async () => expect(await isPaused("cluster-1")).toBe(false));
    expect(await ours(first(), ServiceEntry)).toEqual(before);
  });

  it("says on a policy that it names an unknown service, and changes nothing else", async () => {
    await federated();
    const before = [...written(first()), ...written(second())];
    const lost: Resource = {
      ...timeoutPolicy,
      metadata: { name: "lost", namespace: "bookinfo" },
      spec: {
        destinationSelector: [{ kubeServiceRefs: { services: [{ name: "nowhere", namespace: "bookinfo", clusterName: "cluster-1" }] } }],
        policy: { requestTimeout: "1s" },
      },
    } as Resource;
    await fleet.management.create(lost);
    await eventually(async () => expect((await statusOf(fleet, lost)).state).toBe("INVALID"));
    expect((await statusOf(fleet, lost)).errors?.join()).toMatch(/service bookinfo\/nowhere in cluster-1 not found/);
    expect([...written(first()), ...written(second())]).toEqual(before);
  });

  it("says on a VirtualMesh that it names an unknown mesh, and leaves the good one in force", async () => {
    await federated();
    const before = [...written(first()), ...written(second())];
    const lost: Resource = {
      ...bookinfoMesh,
      metadata: { name: "lost", namespace: "gloo-mesh" },
      spec: { meshes: [{ name: "istiod-istio-system-cluster-9", namespace: "gloo-mesh" }] },
    } as Resource;
    await fleet.management.create(lost);
    await eventually(async () => expect((await statusOf(fleet, lost)).state).toBe("INVALID"));
    expect((await statusOf(fleet, lost)).errors?.join()).toMatch(/istiod-istio-system-cluster-9/);
    expect(await isApplied(bookinfoMesh)).toBe(true);
    expect([...written(first()), ...written(second())]).toEqual(before);
  });

  it("leaves out a malformed Deployment, names it in the log, and continues with the rest", async () => {
    first().load([
      {
        apiVersion: "apps/v1",
        kind: "Deployment",
        metadata: { name: "broken", namespace: "bookinfo" },
        spec: { template: "none" },
      } as Resource,
    ]);
    await federated();
    expect(fleet.log.warnings.join("\n")).toMatch(/Deployment bookinfo\/broken in cluster-1: spec\.template/);
    expect(await ours(second(), ServiceEntry)).toContain("reviews.bookinfo.svc.cluster-1.global.istio-system");
    expect((await first().list(Deployment)).malformed).toHaveLength(1);
  });

  it("leaves a user's object alone that has the name of one of ours, and says so on the VirtualMesh", async () => {
    const theirs: Resource = {
      apiVersion: "networking.istio.io/v1",
      kind: "ServiceEntry",
      metadata: { name: "reviews.bookinfo.svc.cluster-2.global", namespace: "istio-system" },
      spec: { hosts: ["theirs.example"], ports: [{ number: 80, name: "http", protocol: "HTTP" }], resolution: "NONE" },
    } as Resource;
    await first().create(theirs);
    await register(fleet);
    fleet.startServer();
    fleet.startAgent("cluster-1");
    fleet.startAgent("cluster-2");
    await fleet.management.create(bookinfoMesh);
    await eventually(async () => expect((await statusOf(fleet, bookinfoMesh)).state).toBe("FAILED"));
    const { destinations = {} } = await statusOf(fleet, bookinfoMesh);
    expect(destinations["reviews-bookinfo-cluster-2.gloo-mesh."]?.errors?.join()).toMatch(
      /reviews\.bookinfo\.svc\.cluster-2\.global.*is not managed by us/,
    );
    const entry = await first().get(ServiceEntry, { name: "reviews.bookinfo.svc.cluster-2.global", namespace: "istio-system" });
    expect(entry?.spec?.hosts).toEqual(["theirs.example"]);
    expect(entry?.metadata.labels).toBeUndefined();
  });
});

describe("restarts", () => {
  it("a killed agent takes nothing away; started again it catches up", async () => {
    await federated();
    const before = [...written(first()), ...written(second())];
    await fleet.stopAgent("cluster-2");
    await quiet();
    expect([...written(first()), ...written(second())]).toEqual(before);

    await fleet.management.create(timeoutPolicy);
    await eventually(async () => expect((await timeouts())[0]).toBe("2s"));
    expect((await timeouts())[1]).toBeUndefined();
    expect(await isApplied(timeoutPolicy)).toBe(false);

    fleet.startAgent("cluster-2");
    await eventually(async () => expect(await timeouts()).toEqual(["2s", "2s"]));
    await eventually(async () => expect(await isApplied(timeoutPolicy)).toBe(true));
  });

  it("a server that starts again writes nothing that was not desired before", async () => {
    await federated();
    await fleet.management.create(timeoutPolicy);
    await eventually(async () => expect(await isApplied(timeoutPolicy)).toBe(true));
    const before = [...written(first()), ...written(second())];
    await fleet.stopServer();
    fleet.startServer();
    await eventually(() => expect([...fleet.server().store.clusters.values()].filter(({ phase }) => phase === "synced")).toHaveLength(2));
    await quiet();
    expect([...written(first()), ...written(second())]).toEqual(before);
  });

  it("a server that starts again says nothing new in the management cluster but of the clusters", async () => {
    await federated();
    await fleet.management.create(timeoutPolicy);
    await eventually(async () => expect(await isApplied(timeoutPolicy)).toBe(true));
    const versions = () =>
      fleet.management
        .objects()
        .filter(({ kind }) => kind !== "KubernetesCluster")
        .map(({ kind, metadata }) => `${kind} ${metadata.name} ${metadata.resourceVersion ?? ""}`);
    await eventually(async () => {
      const before = versions();
      await quiet();
      expect(versions()).toEqual(before);
    });
    const before = versions();
    await fleet.stopServer();
    fleet.startServer();
    await eventually(() => expect([...fleet.server().store.clusters.values()].filter(({ phase }) => phase === "synced")).toHaveLength(2));
    await quiet();
    expect(versions()).toEqual(before);
  });

  it("a server that starts again while a cluster is offline takes nothing of it from the others", async () => {
    await federated();
    const before = [...written(first()), ...written(second())];
    await fleet.stopAgent("cluster-2");
    await fleet.stopServer();
    fleet.startServer();
    await eventually(() => expect(fleet.server().store.clusters.get("cluster-1")?.phase).toBe("synced"));
    await quiet();
    expect([...written(first()), ...written(second())]).toEqual(before);
    expect(await fleet.management.get(Mesh, { name: "istiod-istio-system-cluster-2", namespace: "gloo-mesh" })).toBeDefined();

    // What a user changes meanwhile is in force where it can be.
    await fleet.management.create(timeoutPolicy);
    await eventually(async () => expect((await timeouts())[0]).toBe("2s"));
    fleet.startAgent("cluster-2");
    await eventually(async () => expect(await timeouts()).toEqual(["2s", "2s"]));
  });

  it("a policy that was deleted while a server without a store was down is undone when somebody approves, and only that", async () => {
    await federated();
    const before = await ours(second(), VirtualService);
    await fleet.management.create(timeoutPolicy);
    await eventually(async () => expect(await timeouts()).toEqual(["2s", "2s"]));
    const entries = await ours(second(), ServiceEntry);
    await fleet.stopServer();
    await fleet.management.delete({
      apiVersion: timeoutPolicy.apiVersion,
      kind: timeoutPolicy.kind,
      name: "timeout",
      namespace: "bookinfo",
      clusterName: "",
    });
    fleet.startServer();
    for (const name of ["cluster-1", "cluster-2"]) {
      await eventually(async () => expect(await isPaused(name)).toBe(true));
      expect(await timeouts()).toContain("2s");
      await fleet.management.apply(approved(name), { fieldManager: "operator", force: true });
    }
    await eventually(async () => expect(await timeouts()).toEqual([undefined, undefined]));
    expect(await ours(second(), VirtualService)).toEqual(before);
    expect(await ours(second(), ServiceEntry)).toEqual(entries);
  });

  it("a cluster whose registration is deleted is forgotten by the others", async () => {
    await federated();
    await fleet.stopAgent("cluster-2");
    await fleet.management.delete({
      apiVersion: "multicluster.solo.io/v1alpha1",
      kind: "KubernetesCluster",
      name: "cluster-2",
      namespace: "gloo-mesh",
      clusterName: "",
    });
    await eventually(async () => expect((await ours(first(), ServiceEntry)).filter((name) => name.includes("cluster-2"))).toEqual([]));
    // Published behind what clusters are sent.
    const meshes = async () => (await fleet.management.list(Mesh)).items.map(({ metadata }) => metadata.name);
    await eventually(async () => expect(await meshes()).toEqual(["istiod-istio-system-cluster-1"]));
  });
});
