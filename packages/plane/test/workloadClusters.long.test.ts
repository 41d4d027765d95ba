import { Destination, Settings, TrafficPolicy, VirtualDestination, VirtualService } from "@isthmus/api";
import type { Resource } from "@isthmus/core";
import type { SimulatedCluster } from "@isthmus/simulator";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Leadership } from "../src/index.ts";
import { bookinfoMesh, demoFleet, type Fleet, register, statusOf, timeoutPolicy, written } from "./fleet.ts";
import { eventually, quiet } from "./virtualTime.ts";

let fleet: Fleet;
beforeEach(async () => {
  fleet = demoFleet();
  await register(fleet);
  fleet.startServer();
  fleet.startAgent("cluster-1");
  fleet.startAgent("cluster-2");
  await fleet.management.create({ ...settings, spec: { workloadClusterResources: { targets: "ANY_DESTINATION" } } } as Resource);
  await fleet.management.create(bookinfoMesh);
  await eventually(async () => expect((await statusOf(fleet, bookinfoMesh)).state).toBe("ACCEPTED"));
});
afterEach(() => fleet.stop());

const settings = { apiVersion: Settings.apiVersion, kind: Settings.kind, metadata: { name: "settings", namespace: "gloo-mesh" } };
const first = () => fleet.clusters["cluster-1"] as SimulatedCluster;
const second = () => fleet.clusters["cluster-2"] as SimulatedCluster;

async function timeouts(): Promise<readonly (string | undefined)[]> {
  const services = await Promise.all(
    [first(), second()].map((cluster) => cluster.get(VirtualService, { name: "reviews", namespace: "bookinfo" })),
  );
  return services.map((service) => service?.spec?.http?.[0]?.timeout);
}

function policyOf(requestTimeout: string): TrafficPolicy {
  return { ...timeoutPolicy, spec: { ...timeoutPolicy.spec, policy: { requestTimeout } } };
}

/** The status of a policy where it lives. */
async function answered(cluster: SimulatedCluster, policy: Resource = timeoutPolicy) {
  const { state, conditions = [], destinations = {} } = await statusOf({ management: cluster }, policy);
  return {
    state,
    isApplied: conditions.some(({ type, status }) => type === "Applied" && status === "True"),
    on: Object.keys(destinations),
  };
}

const EVERYWHERE = {
  state: "ACCEPTED",
  isApplied: true,
  on: ["reviews-bookinfo-cluster-1.gloo-mesh.", "reviews-bookinfo-cluster-2.gloo-mesh."],
};

describe("a TrafficPolicy of a workload cluster", () => {
  it("is as old as before after a restart without a store: nothing is written", async () => {
    await fleet.management.update({ ...settings, spec: {} } as Resource);
    await first().create(timeoutPolicy);
    await eventually(async () => expect(await timeouts()).toEqual(["2s", undefined]));
    const published = () => fleet.management.get(Destination, { name: "reviews-bookinfo-cluster-1", namespace: "gloo-mesh" });
    await eventually(async () => expect((await published())?.status?.appliedTrafficPolicies?.[0]?.firstSeen).toBeDefined());
    await quiet();
    const before = await published();
    await fleet.stopServer();
    fleet.startServer();
    await eventually(async () => expect(fleet.server().store.clusters.get("cluster-1")?.phase).toBe("synced"));
    await quiet();
    expect((await published())?.metadata.resourceVersion).toBe(before?.metadata.resourceVersion);
  });

  it("takes effect in every cluster, and has its status where it lives", async () => {
    await first().create(timeoutPolicy);
    await eventually(async () => expect(await timeouts()).toEqual(["2s", "2s"]));
    await eventually(async () => expect(await answered(first())).toEqual(EVERYWHERE));
    expect(await fleet.management.get(TrafficPolicy, { name: "timeout", namespace: "bookinfo" })).toBeUndefined();
    await first().delete({ ...timeoutPolicy, name: "timeout", namespace: "bookinfo", clusterName: "cluster-1" });
    await eventually(async () => expect(await timeouts()).toEqual([undefined, undefined]));
  });

  it("has its status restored when somebody changes it", async () => {
    await first().create(timeoutPolicy);
    await eventually(async () => expect(await answered(first())).toEqual(EVERYWHERE));
    const found = await first().get(TrafficPolicy, { name: "timeout", namespace: "bookinfo" });
    if (found === undefined) throw new Error("the policy is gone");
    await first().updateStatus({ ...found, status: { state: "FAILED" } });
    await eventually(async () => expect(await answered(first())).toEqual(EVERYWHERE));
  });

  it("is another than one of the same name elsewhere, and comes after that of the management cluster, however old it is", async () => {
    await first().create(policyOf("3s"));
    await eventually(async () => expect(await timeouts()).toEqual(["3s", "3s"]));
    await fleet.management.create(policyOf("5s"));
    await eventually(async () => expect(await timeouts()).toEqual(["5s", "5s"]));
    await eventually(async () => expect((await answered(first())).state).toBe("INVALID"));
    expect((await statusOf(fleet, timeoutPolicy)).state).toBe("ACCEPTED");
  });

  it("is limited to its own cluster unless the Settings say otherwise, and back", async () => {
    await first().create(timeoutPolicy);
    await eventually(async () => expect(await timeouts()).toEqual(["2s", "2s"]));
    await fleet.management.delete({ ...settings, name: "settings", namespace: "gloo-mesh", clusterName: "" });
    await eventually(async () => expect(await timeouts()).toEqual(["2s", undefined]));
    // It names no cluster, and so means what it may.
    const atHome = { state: "ACCEPTED", isApplied: true, on: ["reviews-bookinfo-cluster-1.gloo-mesh."] };
    await eventually(async () => expect(await answered(first())).toEqual(atHome));
    expect(JSON.stringify(await statusOf({ management: first() }, timeoutPolicy))).not.toContain("cluster-2");
    await fleet.management.create({ ...settings, spec: { workloadClusterResources: { targets: "ANY_DESTINATION" } } } as Resource);
    await eventually(async () => expect(await answered(first())).toEqual(EVERYWHERE));
  });

  it("stays in force while its agent is offline, and is reported again by another one", async () => {
    await first().create(timeoutPolicy);
    await eventually(async () => expect(await answered(first())).toEqual(EVERYWHERE));
    const before = written(second());
    await fleet.stopAgent("cluster-1");
    await quiet();
    expect(written(second())).toEqual(before);
    fleet.startAgent("cluster-1");
    await first().delete({ ...timeoutPolicy, name: "timeout", namespace: "bookinfo", clusterName: "cluster-1" });
    await eventually(async () => expect(await timeouts()).toEqual([undefined, undefined]));
  });

  it("stays in force over a restart of the server while its cluster is silent", async () => {
    await first().create(timeoutPolicy);
    await eventually(async () => expect(await answered(first())).toEqual(EVERYWHERE));
    const published = {
      apiVersion: "discovery.mesh.gloo.solo.io/v1",
      kind: "Destination",
      metadata: { name: "reviews-bookinfo-cluster-2", namespace: "gloo-mesh" },
    };
    await eventually(async () => expect(JSON.stringify(await statusOf(fleet, published))).toContain("requestTimeout"));
    await fleet.stopServer();
    await fleet.stopAgent("cluster-1");
    const before = written(second());
    fleet.startServer();
    await eventually(() => expect(fleet.server().store.clusters.get("cluster-2")?.phase).toBe("synced"));
    await quiet();
    expect(written(second())).toEqual(before);
    fleet.startAgent("cluster-1");
    await eventually(() => expect(fleet.server().store.clusters.get("cluster-1")?.phase).toBe("synced"));
    await quiet();
    expect(written(second())).toEqual(before);
    await first().delete({ ...timeoutPolicy, name: "timeout", namespace: "bookinfo", clusterName: "cluster-1" });
    await eventually(async () => expect(await timeouts()).toEqual([undefined, undefined]));
  });

  it("stays in force with the VirtualDestination of its cluster that it sends traffic to, over such a restart", async () => {
    const carts = { name: "carts", namespace: "bookinfo" };
    const place = { apiVersion: VirtualDestination.apiVersion, kind: VirtualDestination.kind, metadata: carts };
    await first().create({ ...place, spec: { hostname: "carts.first", port: { number: 9080, protocol: "http" } } } as Resource);
    // The same name in the management cluster is another one, and not to be taken for it.
    await fleet.management.create({
      ...place,
      spec: { hostname: "carts.management", port: { number: 9080, protocol: "http" } },
    } as Resource);
    const shift = { destinations: [{ virtualDestination: carts, weight: 100 }] };
    await first().create({ ...timeoutPolicy, spec: { ...timeoutPolicy.spec, policy: { trafficShift: shift } } } as TrafficPolicy);
    const hosts = async () =>
      (await second().get(VirtualService, { name: "reviews", namespace: "bookinfo" }))?.spec?.http?.[0]?.route?.map(
        ({ destination }) => destination?.host,
      );
    await eventually(async () => expect(await hosts()).toEqual(["carts.first"]));
    const published = {
      apiVersion: "discovery.mesh.gloo.solo.io/v1",
      kind: "Destination",
      metadata: { name: "reviews-bookinfo-cluster-2", namespace: "gloo-mesh" },
    };
    await eventually(async () => expect(JSON.stringify(await statusOf(fleet, published))).toContain("carts.first"));
    await fleet.stopServer();
    await fleet.stopAgent("cluster-1");
    const before = written(second());
    fleet.startServer();
    await eventually(() => expect(fleet.server().store.clusters.get("cluster-2")?.phase).toBe("synced"));
    await quiet();
    expect(written(second())).toEqual(before);
    fleet.startAgent("cluster-1");
    await first().delete({ ...timeoutPolicy, name: "timeout", namespace: "bookinfo", clusterName: "cluster-1" });
    await eventually(async () => expect(await hosts()).not.toEqual(["carts.first"]));
  });

  /** As an older CRD, which checks less, lets it in. */
  const policy = { requestTimeout: 5, retries: { attempts: "x" }, requestTimout: "3s" };
  const malformed = { ...timeoutPolicy, spec: { policy } } as unknown as Resource;
  const stored = () =>
    first().object({ apiVersion: timeoutPolicy.apiVersion, kind: timeoutPolicy.kind, name: "timeout", namespace: "bookinfo" });
  const INVALID = {
    state: "INVALID",
    errors: [
      /spec\.policy\.requestTimeout: 5 is not a duration such as "5s"/,
      /spec\.policy\.retries\.attempts: must be an integer, is "x"/,
      /spec\.policy\.requestTimout: unknown field \(did you mean requestTimeout\?\)/,
    ].map((error) => expect.stringMatching(error)),
  };

  it("that cannot be understood is marked where it lives, with all of its mistakes and what would be right: once, and no longer than it lasts", async () => {
    first().load([malformed]);
    await eventually(() => expect(stored()?.["status"]).toMatchObject(INVALID));
    const before = stored();
    await fleet.stopAgent("cluster-1");
    fleet.startAgent("cluster-1");
    await eventually(() => expect(fleet.agent("cluster-1").view.malformed.size).toBe(1));
    await quiet();
    expect(stored()).toEqual(before);
    await first().update({ ...timeoutPolicy, metadata: before?.metadata ?? timeoutPolicy.metadata });
    await eventually(async () => expect(await answered(first())).toEqual(EVERYWHERE));
  });

  it("that cannot be understood is marked by a replica that comes to lead when it has seen it already", async () => {
    await fleet.stopAgent("cluster-1");
    const lead = switchable();
    fleet.startAgent("cluster-1", { leadership: lead });
    first().load([malformed]);
    await eventually(() => expect(fleet.agent("cluster-1").view.malformed.size).toBe(1));
    await quiet();
    expect(stored()?.["status"]).toBeUndefined();
    lead.begin();
    await eventually(() => expect(stored()?.["status"]).toMatchObject(INVALID));
  });

  it("is not in force while it cannot be understood", async () => {
    await first().create(timeoutPolicy);
    await eventually(async () => expect(await answered(first())).toEqual(EVERYWHERE));
    first().load([{ ...timeoutPolicy, spec: { policy: { requestTimeout: 5 } } } as unknown as Resource]);
    await eventually(async () => expect(await timeouts()).toEqual([undefined, undefined]));
    expect(fleet.log.warnings.join("\n")).toMatch(
      /TrafficPolicy bookinfo\/timeout in cluster-1: spec\.policy\.requestTimeout: .*it is not in force/,
    );
  });
});

describe("the settings of the plane", () => {
  it("reach the agents: so many deletes may go at once as they say", async () => {
    const spec = { relay: { deleteBudget: { percent: 0, objects: 1 } } };
    await fleet.management.delete({ ...settings, name: "settings", namespace: "gloo-mesh", clusterName: "" });
    await fleet.management.create({ ...settings, spec } as Resource);
    await eventually(() => expect(fleet.agent("cluster-2").settings.deleteLimits).toEqual({ percent: 0, objects: 1 }));
  });
});

/** A replica that does not lead until the test says so. */
function switchable(): Leadership & { begin(): void } {
  const listeners = new Set<(isLeader: boolean) => void>();
  let isLeader = false;
  return {
    get isLeader() {
      return isLeader;
    },
    get fence() {
      return isLeader ? 1 : 0;
    },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    begin() {
      isLeader = true;
      for (const listener of [...listeners]) listener(true);
    },
  };
}
