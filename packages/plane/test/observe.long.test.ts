import { KubernetesCluster, ServiceEntry, TrafficPolicy, VirtualService } from "@isthmus/api";
import { formatRef, type Resource, refOf } from "@isthmus/core";
import { type Cluster, ClusterError } from "@isthmus/ports";
import type { SimulatedCluster } from "@isthmus/simulator";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { interceptWrites } from "../src/leader/interceptWrites.ts";
import { bookinfoMesh, demoFleet, type Fleet, ours, type PublishedStatus, statusOf, timeoutPolicy, written } from "./fleet.ts";
import { eventually, quiet } from "./virtualTime.ts";

const namespace = "gloo-mesh";
const REVIEWS = { name: "reviews", namespace: "bookinfo" };

let fleet: Fleet;
/** Write calls of the agent of cluster-2, whether they succeeded or not. */
let calls: string[];
beforeEach(() => {
  fleet = demoFleet();
  calls = [];
});
afterEach(() => fleet.stop());

const first = () => fleet.clusters["cluster-1"] as SimulatedCluster;
const second = () => fleet.clusters["cluster-2"] as SimulatedCluster;

function registration(name: string, spec: object): Resource & { readonly spec: object } {
  return { apiVersion: KubernetesCluster.apiVersion, kind: KubernetesCluster.kind, metadata: { name, namespace }, spec };
}

/** Both clusters, the second one in some mode. */
async function start(spec: object): Promise<void> {
  await fleet.management.create(registration("cluster-1", {}));
  await fleet.management.create(registration("cluster-2", spec));
  fleet.startServer();
  fleet.startAgent("cluster-1");
  startSecond();
}

function startSecond(): void {
  fleet.startAgent("cluster-2", { over: recording });
}

function recording(cluster: Cluster): Cluster {
  return interceptWrites(cluster, (object, write) => {
    calls.push(formatRef("metadata" in object ? refOf(object) : object));
    return write();
  });
}

async function setMode(spec: object): Promise<void> {
  const current = await fleet.management.get(KubernetesCluster, { name: "cluster-2", namespace });
  await fleet.management.update({ ...current, spec } as Resource);
}

interface ClusterStatus extends PublishedStatus {
  readonly warnings?: readonly string[];
  readonly comparison?: {
    readonly mode?: string;
    readonly same?: number;
    readonly wouldCreate?: number;
    readonly wouldChange?: number;
    readonly wouldDelete?: number;
    readonly conflicts?: number;
    readonly examples?: readonly string[];
  };
}

async function clusterStatus(name = "cluster-2"): Promise<ClusterStatus> {
  return statusOf(fleet, registration(name, {}));
}

function condition(
  status: PublishedStatus,
  type: string,
): { readonly status: string; readonly reason?: string; readonly message?: string } {
  const found = (status.conditions ?? []).find((one) => one.type === type);
  if (found === undefined) throw new Error(`no condition ${type}`);
  return found;
}

async function acknowledged(mode: string): Promise<ClusterStatus> {
  return eventually(async () => {
    const status = await clusterStatus();
    expect(status.comparison?.mode).toBe(mode);
    return status;
  });
}

describe("an observed cluster", () => {
  it("is discovered, translated and compared, and nothing is written to it", async () => {
    await second().create({
      apiVersion: "networking.istio.io/v1",
      kind: "VirtualService",
      metadata: REVIEWS,
      spec: { hosts: ["x.example"] },
    } as Resource);
    await start({ mode: "observe" });
    await second().create(timeoutPolicy);
    await fleet.management.create(timeoutPolicy);
    await fleet.management.create(bookinfoMesh);
    await eventually(async () => expect((await clusterStatus()).comparison?.wouldCreate).toBeGreaterThan(0));
    await quiet();
    const status = await clusterStatus();
    expect(calls).toEqual([]);
    expect(written(second())).toEqual([]);
    expect(status.comparison).toMatchObject({ mode: "observe", wouldChange: 0, wouldDelete: 0, conflicts: 1 });
    expect(status.comparison?.examples?.[0]).toMatch(/^VirtualService bookinfo\/reviews.*: exists, managed by .*, and differs: spec\./);
    expect(condition(status, "WritesPaused")).toMatchObject({ status: "True", reason: "Observed" });
    expect(condition(status, "Lagging")).toMatchObject({ status: "False" });
    expect(await ours(first(), VirtualService)).toContain("reviews.bookinfo");
    const pending = [...fleet.server().pendingIn("cluster-2")].map(({ code }) => code);
    expect(new Set(pending)).toEqual(new Set(["WouldCreate", "WouldConflict"]));
  });

  it("is named by the statuses of what users ask there, which is not an error", async () => {
    await start({ mode: "observe" });
    await fleet.management.create(timeoutPolicy);
    const status = await eventually(async () => {
      const now = await statusOf(fleet, timeoutPolicy);
      expect(condition(now, "Applied")).toMatchObject({ reason: "Observed" });
      return now;
    });
    expect(status.state).toBe("ACCEPTED");
    expect(condition(status, "Applied").message).toBe(
      "1 of 2 objects applied; 1 object would be written in cluster cluster-2, which is observed",
    );
    expect(condition(status, "Delivered").status).toBe("True");
  });

  it("does not take part in what other clusters are sent, and the VirtualMesh says so", async () => {
    await start({ mode: "observe" });
    await fleet.management.create(bookinfoMesh);
    await eventually(async () => expect((await clusterStatus()).comparison?.wouldCreate).toBeGreaterThan(0));
    const status = (await statusOf(fleet, bookinfoMesh)) as PublishedStatus & { readonly warnings?: readonly string[] };
    expect(status.warnings?.join()).toContain("which is observed, so its services are not federated to other clusters");
    expect((await ours(first(), ServiceEntry)).filter((name) => name.includes("cluster-2.global"))).toEqual([]);
    await setMode({});
    await eventually(async () => expect((await ours(first(), ServiceEntry)).some((name) => name.includes("cluster-2.global"))).toBe(true));
    await eventually(async () => expect((await ours(second(), ServiceEntry)).some((name) => name.includes("cluster-1.global"))).toBe(true));
    await eventually(async () => expect((await clusterStatus()).comparison).toBeUndefined());
  });

  it("is switched over object by object, and then at once", async () => {
    await start({ mode: "observe" });
    await fleet.management.create(timeoutPolicy);
    await fleet.management.create(bookinfoMesh);
    await eventually(async () => expect((await clusterStatus()).comparison?.wouldCreate).toBeGreaterThan(1));
    await setMode({ mode: "observe", managedObjects: [{ kind: "VirtualService", ...REVIEWS }] });
    await eventually(async () => expect(written(second())).toHaveLength(1));
    await quiet();
    expect(written(second())[0]).toContain("VirtualService reviews.bookinfo");
    expect(new Set(calls)).toEqual(new Set(["VirtualService bookinfo/reviews in cluster-2"]));
    // Drift of what is managed is reverted, and of nothing else.
    await second().delete({
      ...refOf({ apiVersion: VirtualService.apiVersion, kind: "VirtualService", metadata: REVIEWS }),
      clusterName: "",
    });
    await eventually(async () => expect(written(second())).toHaveLength(1));
    await setMode({ mode: "manage" });
    await eventually(async () => expect((await ours(second(), ServiceEntry)).length).toBeGreaterThan(0));
    await eventually(async () => expect(condition(await statusOf(fleet, timeoutPolicy), "Applied").status).toBe("True"));
    expect((await clusterStatus()).conditions?.some(({ type }) => type === "WritesPaused")).toBe(false);
  });

  it("names no object by an entry that is incomplete or has an unknown member", async () => {
    await start({
      mode: "observe",
      managedObjects: [
        { kind: "*", namespace: "*" },
        { kind: "*", namespace: "*", name: "*", only: "reviews" },
      ],
    });
    await fleet.management.create(timeoutPolicy);
    await eventually(async () => expect((await clusterStatus()).comparison?.wouldCreate).toBeGreaterThan(0));
    await quiet();
    expect(calls).toEqual([]);
    const warnings = (await clusterStatus()).warnings?.join("\n");
    expect(warnings).toContain("spec.managedObjects[0]: name is missing");
    expect(warnings).toContain("spec.managedObjects[1].only");
  });
});

describe("a frozen cluster", () => {
  async function frozen(): Promise<void> {
    await start({});
    await fleet.management.create(timeoutPolicy);
    await fleet.management.create(bookinfoMesh);
    await eventually(async () => expect((await ours(first(), ServiceEntry)).some((name) => name.includes("cluster-2.global"))).toBe(true));
    await eventually(async () => expect(condition(await statusOf(fleet, timeoutPolicy), "Applied").status).toBe("True"));
    await quiet();
    await setMode({ mode: "freeze" });
    await acknowledged("freeze");
    calls.length = 0;
  }

  it("stays as it is: nothing is changed, reverted or deleted there, and what others have of it stays", async () => {
    await frozen();
    const [here, there] = [written(second()), written(first())];
    await fleet.management.delete(refOf(timeoutPolicy));
    await eventually(async () => expect((await clusterStatus()).comparison?.wouldDelete).toBe(2));
    const [entry] = (await second().list(ServiceEntry)).items;
    if (entry === undefined) throw new Error("nothing is federated");
    await second().delete(refOf(entry));
    await eventually(async () => expect((await clusterStatus()).comparison?.wouldCreate).toBe(1));
    await quiet();
    expect(calls).toEqual([]);
    expect(written(second())).toEqual(here.filter((line) => !line.includes(entry.metadata.name)));
    expect(written(first()).filter((line) => line.includes("ServiceEntry"))).toEqual(there.filter((line) => line.includes("ServiceEntry")));
    expect(condition(await clusterStatus(), "WritesPaused")).toMatchObject({ status: "True", reason: "Frozen" });
    await setMode({});
    await eventually(async () => expect(await ours(second(), VirtualService)).toEqual([]));
    await eventually(async () =>
      expect(await ours(second(), ServiceEntry)).toContain(`${entry.metadata.name}.${entry.metadata.namespace}`),
    );
  });

  it("says nothing that was never written is to be deleted, and does not write it later", async () => {
    await frozen();
    const policy = {
      ...timeoutPolicy,
      metadata: { ...timeoutPolicy.metadata, name: "other" },
      spec: {
        ...timeoutPolicy.spec,
        destinationSelector: [{ kubeServiceMatcher: { namespaces: ["bookinfo"], labels: { app: "ratings" } } }],
      },
    };
    const before = await ours(second(), VirtualService);
    await fleet.management.create(policy);
    await eventually(async () => expect((await clusterStatus()).comparison?.wouldCreate).toBe(2));
    await fleet.management.delete(refOf(policy));
    await eventually(async () => expect((await clusterStatus()).comparison).toMatchObject({ wouldCreate: 0, wouldDelete: 0 }));
    await setMode({});
    await quiet();
    expect(await ours(second(), VirtualService)).toEqual(before);
  });

  it("is frozen after a restart of its agent and of the server, before either knows it", async () => {
    await frozen();
    const before = written(second());
    await fleet.stopAgent("cluster-2");
    await fleet.stopServer();
    await fleet.management.delete(refOf(timeoutPolicy));
    fleet.startServer();
    startSecond();
    await eventually(async () => expect((await clusterStatus()).comparison?.wouldDelete).toBeGreaterThan(0));
    await quiet();
    expect(calls).toEqual([]);
    expect(written(second())).toEqual(before);
  });

  it("keeps its mode when its registration is deleted", async () => {
    await frozen();
    const before = written(second());
    await fleet.management.delete(refOf(registration("cluster-2", {})));
    await quiet(60_000);
    expect(calls).toEqual([]);
    expect(written(second())).toEqual(before);
  });

  it("is what a word means that nobody knows", async () => {
    await start({ mode: "obsrve" });
    await fleet.management.create(timeoutPolicy);
    const status = await acknowledged("freeze");
    await quiet();
    expect(calls).toEqual([]);
    expect(status.warnings?.join()).toContain("spec.mode: obsrve is not a mode");
  });
});

describe("statuses of what users ask in a cluster that is not managed", () => {
  it("are written when it is managed, and not before", async () => {
    await start({ mode: "observe" });
    await second().create(timeoutPolicy);
    await eventually(async () => expect((await clusterStatus()).comparison?.wouldCreate).toBeGreaterThan(0));
    await quiet();
    expect(await second().get(TrafficPolicy, timeoutPolicy.metadata as { name: string; namespace: string })).not.toHaveProperty("status");
    await setMode({});
    await eventually(async () => expect(await statusOf({ management: second() }, timeoutPolicy)).toMatchObject({ state: "ACCEPTED" }));
  });
});

describe("an agent without write permissions", () => {
  it("can observe: no request is refused", async () => {
    await fleet.management.create(registration("cluster-1", {}));
    await fleet.management.create(registration("cluster-2", { mode: "observe" }));
    fleet.startServer();
    const refusing = (cluster: Cluster) =>
      interceptWrites(recording(cluster), () => Promise.reject(new ClusterError("Forbidden", "no permission to write")));
    fleet.startAgent("cluster-2", { over: refusing });
    await fleet.management.create(timeoutPolicy);
    await acknowledged("observe");
    await quiet();
    expect(calls).toEqual([]);
    expect(fleet.log.warnings.filter((line) => line.includes("no permission"))).toEqual([]);
  });
});
