import { Destination, Mesh, Settings, Workload } from "@isthmus/api";
import type { Kind, Resource } from "@isthmus/core";
import { afterEach, beforeEach, expect, it } from "vitest";
import { bookinfoMesh, demoFleet, type Fleet, register, statusOf, timeoutPolicy, written } from "./fleet.ts";
import { eventually, quiet } from "./virtualTime.ts";

let fleet: Fleet;
beforeEach(async () => {
  fleet = demoFleet();
  await register(fleet);
  fleet.startServer();
  fleet.startAgent("cluster-1");
  fleet.startAgent("cluster-2");
});
afterEach(() => fleet.stop());

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
  await eventually(async () => expect((await names(Destination)).length).toBeGreaterThan(7));
  await fleet.management.create(settings("FEDERATED_OR_TARGETED"));
  await eventually(async () => expect([await names(Destination), await names(Workload)]).toEqual([[], []]));
  expect(await names(Mesh)).toHaveLength(2);
  await fleet.management.create(timeoutPolicy);
  await eventually(async () => expect(await names(Destination)).toEqual(["reviews-bookinfo-cluster-1", "reviews-bookinfo-cluster-2"]));
  await eventually(async () => expect((await names(Workload)).length).toBeGreaterThan(0));
  expect((await names(Workload)).every((name) => name.startsWith("reviews-"))).toBe(true);
  const because = fleet.server().removals.entries.filter(({ evidence }) => evidence?.inputs[0]?.kind === Settings.kind);
  expect(because.length).toBeGreaterThan(7);
});

it("publishes nothing with NONE, and after a restart writes nothing before every cluster has been heard", async () => {
  await fleet.management.create(bookinfoMesh);
  await eventually(async () => expect(await isApplied(bookinfoMesh)).toBe(true));
  await fleet.management.create(settings("NONE"));
  await eventually(async () => expect([await names(Mesh), await names(Destination), await names(Workload)]).toEqual([[], [], []]));
  const clusters = Object.values(fleet.clusters);
  const before = clusters.map(written);
  await fleet.stopAgent("cluster-2");
  await fleet.stopServer();
  fleet.startServer();
  const isWaiting = () => fleet.log.warnings.some((message) => message.startsWith("nothing is written until the agents of cluster-2"));
  await eventually(() => expect(isWaiting()).toBe(true));
  await quiet();
  expect(clusters.map(written)).toEqual(before);
  fleet.startAgent("cluster-2");
  await eventually(() => expect(fleet.server().translation?.networking.size ?? 0).toBeGreaterThan(0));
  await quiet();
  expect(clusters.map(written)).toEqual(before);
});
