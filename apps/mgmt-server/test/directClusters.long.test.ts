import { KubernetesCluster, TrafficPolicy, VirtualService } from "@isthmus/api";
import type { Resource } from "@isthmus/core";
import type { Cluster, Leadership } from "@isthmus/plane";
import type { SimulatedCluster } from "@isthmus/simulator";
import { afterEach, describe, expect, it } from "vitest";
import { serverAdminPages } from "../src/adminPages.ts";
import { type DirectFleet, namespace, register, SETTLING_MS, startDirectFleet } from "./directFleet.ts";

let fleet: DirectFleet;
afterEach(() => fleet.stop());

const first = () => fleet.clusters["cluster-1"] as SimulatedCluster;
const second = () => fleet.clusters["cluster-2"] as SimulatedCluster;
const policyRef = { apiVersion: TrafficPolicy.apiVersion, kind: TrafficPolicy.kind, name: "timeout", namespace: "bookinfo" };
const policy = (requestTimeout: unknown = "2s"): Resource =>
  ({
    apiVersion: TrafficPolicy.apiVersion,
    kind: TrafficPolicy.kind,
    metadata: { name: "timeout", namespace: "bookinfo" },
    spec: { destinationSelector: [{ kubeServiceMatcher: { labels: { app: "reviews" } } }], policy: { requestTimeout } },
  }) as Resource;

async function timeoutIn(cluster: Cluster): Promise<string | undefined> {
  return (await cluster.get(VirtualService, { name: "reviews", namespace: "bookinfo" }))?.spec?.http?.[0]?.timeout;
}

async function connection(name: string): Promise<object | undefined> {
  const found = await fleet.management.get(KubernetesCluster, { name, namespace });
  return found?.status?.conditions?.find(({ type }) => type === "Connected");
}

/** What a person reads on the admin port. */
function evidence(): readonly { readonly step: string; readonly object: { readonly kind: string; readonly clusterName: string } }[] {
  const page = [...(serverAdminPages(fleet.server)["/evidence"]?.(new URLSearchParams()) ?? [])].join("");
  return JSON.parse(page).items;
}

describe("a cluster that the server connects to", () => {
  it("is discovered, and gets what users ask for in the management cluster", async () => {
    fleet = await startDirectFleet();
    await register(fleet, "cluster-1");
    expect(await connection("cluster-1")).toMatchObject({ status: "True" });
    await fleet.management.create(policy());
    await fleet.clock.advance(SETTLING_MS);
    expect(await timeoutIn(first())).toBe("2s");
    expect(await timeoutIn(second())).toBeUndefined();
  });

  it("has its removals on the admin port: why they were ordered, and that they were done", async () => {
    fleet = await startDirectFleet();
    await register(fleet, "cluster-1");
    await fleet.management.create(policy());
    await fleet.clock.advance(SETTLING_MS);
    await fleet.management.delete({ ...policyRef, clusterName: "" });
    await fleet.clock.advance(SETTLING_MS);
    expect(await timeoutIn(first())).toBeUndefined();
    const inputs = [expect.objectContaining({ kind: "TrafficPolicy", name: "timeout" })];
    const object = expect.objectContaining({ kind: "VirtualService", name: "reviews", clusterName: "cluster-1" });
    expect(evidence()).toEqual(
      ["Ordered", "Removed"].map((step) => expect.objectContaining({ step, object, evidence: expect.objectContaining({ inputs }) })),
    );
  });

  it("is listed again after ten minutes, and what no watch reported of is known then", async () => {
    fleet = await startDirectFleet({ over: deaf });
    await register(fleet, "cluster-1");
    await fleet.management.create(policy());
    await first().delete({ apiVersion: "v1", kind: "Service", name: "reviews", namespace: "bookinfo", clusterName: "cluster-1" });
    await fleet.clock.advance(9 * 60_000);
    expect(await timeoutIn(first())).toBe("2s");
    await fleet.clock.advance(60_000);
    expect(await timeoutIn(first())).toBeUndefined();
  });

  it("is refused when its kubeconfig leads to another one than is registered", async () => {
    fleet = await startDirectFleet();
    await register(fleet, "cluster-1");
    await fleet.management.create(policy());
    const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "cluster-1", namespace } };
    await fleet.management.update({ ...secret, type: "solo.io/kubeconfig", data: { kubeconfig: btoa("cluster-2") } } as Resource);
    await fleet.clock.advance(SETTLING_MS);
    expect(await connection("cluster-1")).toMatchObject({
      status: "False",
      reason: "CannotConnect",
      message: expect.stringContaining("connects to a different cluster"),
    });
    expect(await timeoutIn(second())).toBeUndefined();
  });

  it("has a policy of its own that nobody understands marked as INVALID, with its field and what would be right", async () => {
    fleet = await startDirectFleet();
    first().load([policy(5)]);
    await register(fleet, "cluster-1");
    const status = first().object(policyRef)?.["status"] as { readonly state?: string; readonly errors?: readonly string[] };
    expect(status.state).toBe("INVALID");
    expect(status.errors?.join()).toMatch(/spec\.policy\.requestTimeout.*such as "5s"/);
    expect(await timeoutIn(first())).toBeUndefined();
  });

  it("is left alone by a replica that does not lead, and by one that leads no more", async () => {
    const lead = switchable();
    fleet = await startDirectFleet({ leadership: lead.leadership });
    await register(fleet, "cluster-1");
    expect(fleet.connected).toEqual([]);
    lead.is(true);
    await fleet.clock.advance(SETTLING_MS);
    expect(fleet.connected).toEqual(["cluster-1"]);
    lead.is(false);
    await fleet.clock.advance(SETTLING_MS);
    await fleet.management.create(policy());
    await fleet.clock.advance(SETTLING_MS);
    expect(await timeoutIn(first())).toBeUndefined();
  });
});

describe("the management cluster as a workload cluster", () => {
  const read = () => [...fleet.server.store.snapshot.of(TrafficPolicy)].map(({ metadata }) => metadata.clusterName);

  it("in single-cluster mode is registered and written, and its users' policies are read once", async () => {
    fleet = await startDirectFleet({ own: "home" });
    await fleet.management.create(policy());
    await fleet.clock.advance(SETTLING_MS);
    expect(await connection("home")).toMatchObject({ status: "True" });
    expect(await timeoutIn(fleet.management)).toBe("2s");
    expect(read()).toEqual([]);
    expect((await fleet.management.get(TrafficPolicy, policyRef))?.status?.state).toBe("ACCEPTED");
  });

  it("is managed beside another one that the server connects to", async () => {
    fleet = await startDirectFleet({ own: "home" });
    await register(fleet, "cluster-2");
    await fleet.management.create(policy());
    await fleet.clock.advance(SETTLING_MS);
    expect(await timeoutIn(fleet.management)).toBe("2s");
    expect(await timeoutIn(second())).toBe("2s");
    expect(await timeoutIn(first())).toBeUndefined();
  });
});

/** A cluster whose watches of services are accepted and tell of nothing, as behind a proxy that lost them. */
function deaf(cluster: Cluster): Cluster {
  return {
    ...cluster,
    async *watch(kind, resourceVersion, options, signal) {
      if (kind.kind !== "Service") yield* cluster.watch(kind, resourceVersion, options, signal);
      else {
        yield { type: "bookmark", resourceVersion };
        await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason), { once: true }));
      }
    },
  };
}

/** A lead that goes where the test says. */
function switchable(): { readonly leadership: Leadership; is(isLeader: boolean): void } {
  const listeners = new Set<(isLeader: boolean) => void>();
  let now = false;
  let fence = 0;
  return {
    leadership: {
      get isLeader() {
        return now;
      },
      get fence() {
        return fence;
      },
      onChange(listener) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    },
    is(isLeader) {
      now = isLeader;
      fence++;
      for (const listener of [...listeners]) listener(isLeader);
    },
  };
}
