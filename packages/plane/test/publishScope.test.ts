import { Destination, Mesh, Settings, Workload } from "@isthmus/api";
import type { Kind, Resource } from "@isthmus/core";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { bookinfoMesh, demoFleet, type Fleet, register, statusOf, timeoutPolicy, written } from "./fleet.ts";

let fleet: Fleet;
beforeEach(async () => {
  fleet = demoFleet();
  await register(fleet);
  fleet.startServer();
  fleet.startAgent("cluster-1");
  fleet.startAgent("cluster-2");
});
afterEach(() => fleet.stop());

const soon = { timeout: 20_000, interval: 20 };
/** Long enough for a wrong write to show: several rounds of the loops, whose pauses are 20 ms. */
const quiet = () => new Promise((resolve) => setTimeout(resolve, 500));

function settings(publish: string): Resource {
  const spec = { mtls: { istio: { tlsMode: "ISTIO_MUTUAL" } }, discovery: { publish } };
  return { apiVersion: Settings.apiVersion, kind: Settings.kind, metadata: { name: "settings", namespace: "gloo-mesh" }, spec } as Resource;
}

async function names(kind: Kind): Promise<readonly string[]> {
  return (await fleet.management.list(kind)).items.map(({ metadata }) => metadata.name).sort();
}

async function isApplied(resource: Resource): Promise<boolean> {
  const { conditions = [] } = await statusOf(fleet, resource);
  return conditions.some(({ type, status }) => type === "Applied" && status === "True");
}

it("publishes what is federated or targeted, and the workloads behind it, when the Settings say so", async () => {
  await vi.waitFor(async () => expect((await names(Destination)).length).toBeGreaterThan(7), soon);
  await fleet.management.create(settings("FEDERATED_OR_TARGETED"));
  await vi.waitFor(async () => expect([await names(Destination), await names(Workload)]).toEqual([[], []]), soon);
  expect(await names(Mesh)).toHaveLength(2);
  await fleet.management.create(timeoutPolicy);
  await vi.waitFor(
    async () => expect(await names(Destination)).toEqual(["reviews-bookinfo-cluster-1", "reviews-bookinfo-cluster-2"]),
    soon,
  );
  await vi.waitFor(async () => expect((await names(Workload)).length).toBeGreaterThan(0), soon);
  expect((await names(Workload)).every((name) => name.startsWith("reviews-"))).toBe(true);
  const because = fleet.server().removals.entries.filter(({ evidence }) => evidence?.inputs[0]?.kind === Settings.kind);
  expect(because.length).toBeGreaterThan(7);
});

it("publishes nothing with NONE, and after a restart writes nothing before every cluster has been heard", async () => {
  await fleet.management.create(bookinfoMesh);
  await vi.waitFor(async () => expect(await isApplied(bookinfoMesh)).toBe(true), soon);
  await fleet.management.create(settings("NONE"));
  await vi.waitFor(async () => expect([await names(Mesh), await names(Destination), await names(Workload)]).toEqual([[], [], []]), soon);
  const clusters = Object.values(fleet.clusters);
  const before = clusters.map(written);
  await fleet.stopAgent("cluster-2");
  await fleet.stopServer();
  fleet.startServer();
  const isWaiting = () => fleet.log.warnings.some((message) => message.startsWith("nothing is written until cluster-2"));
  await vi.waitFor(() => expect(isWaiting()).toBe(true), soon);
  await quiet();
  expect(clusters.map(written)).toEqual(before);
  fleet.startAgent("cluster-2");
  await vi.waitFor(() => expect(fleet.server().world?.networking.size ?? 0).toBeGreaterThan(0), soon);
  await quiet();
  expect(clusters.map(written)).toEqual(before);
});
