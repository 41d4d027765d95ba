import { KubernetesCluster } from "@isthmus/api";
import { afterEach, beforeEach, expect, test } from "vitest";
import { demoFleet, type Fleet, register, statusOf } from "./fleet.ts";
import { clock, eventually, quiet } from "./virtualTime.ts";

const MINUTE_MS = 60_000;

let fleet: Fleet;
beforeEach(() => {
  fleet = demoFleet();
});
afterEach(() => fleet.stop());

async function expiring(): Promise<unknown> {
  const { apiVersion, kind } = KubernetesCluster;
  const { conditions = [] } = await statusOf(fleet, { apiVersion, kind, metadata: { name: "cluster-1", namespace: "gloo-mesh" } });
  return conditions.find(({ type }) => type === "CertificateExpiring");
}

test("a certificate that is not renewed shows in the status of its cluster by the passing of time alone", async () => {
  const issuedAt = clock.now();
  await register(fleet);
  fleet.startServer("server", { presented: { issuedAt, expiresAt: issuedAt + 20 * MINUTE_MS } });
  fleet.startAgent("cluster-1");
  await eventually(async () => expect(await expiring()).toMatchObject({ status: "False", reason: "RenewedInTime" }));
  await quiet(issuedAt + 14 * MINUTE_MS - clock.now());
  expect(await expiring()).toMatchObject({ status: "False" });
  await eventually(async () => expect(await expiring()).toMatchObject({ status: "True", reason: "RenewalOverdue" }));
});

test("without a certificate nothing is said of one", async () => {
  await register(fleet);
  fleet.startServer();
  fleet.startAgent("cluster-1");
  await eventually(() => expect(fleet.server().store.clusters.get("cluster-1")?.phase).toBe("synced"));
  await quiet();
  expect(await expiring()).toBeUndefined();
});
