import { KubernetesCluster } from "@isthmus/api";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createJoinToken } from "../src/identity/joinTokens.ts";
import { demoFleet, type Fleet, register, statusOf } from "./fleet.ts";
import { clock, eventually, quiet } from "./virtualTime.ts";

const MINUTE_MS = 60_000;

let fleet: Fleet;
beforeEach(() => {
  fleet = demoFleet();
});
afterEach(() => fleet.stop());

async function expiring(wanted = "CertificateExpiring"): Promise<unknown> {
  const { apiVersion, kind } = KubernetesCluster;
  const { conditions = [] } = await statusOf(fleet, { apiVersion, kind, metadata: { name: "cluster-1", namespace: "gloo-mesh" } });
  return conditions.find(({ type }) => type === wanted);
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

test("a join token that no agent uses shows in the status of its cluster by the passing of time alone, until there is another one", async () => {
  await register(fleet);
  fleet.startServer();
  const ofToken = () => expiring("JoinTokenExpiring");
  await eventually(async () => expect(await expiring("Connected")).toMatchObject({ status: "False" }));
  expect(await ofToken()).toBeUndefined();
  const createdAt = clock.now();
  const make = () =>
    createJoinToken(fleet.management, { namespace: "gloo-mesh", clock, clusterName: "cluster-1", lifetimeMs: 20 * MINUTE_MS });
  await make();
  await eventually(async () => expect(await ofToken()).toMatchObject({ status: "False", reason: "Valid" }));
  await quiet(createdAt + 14 * MINUTE_MS - clock.now());
  expect(await ofToken()).toMatchObject({ status: "False", reason: "Valid" });
  await quiet(2 * MINUTE_MS);
  await eventually(async () => expect(await ofToken()).toMatchObject({ status: "True", reason: "EndsSoon" }));
  await quiet(5 * MINUTE_MS);
  await eventually(async () => expect(await ofToken()).toMatchObject({ status: "True", reason: "Expired" }));
  await make();
  await eventually(async () => expect(await ofToken()).toMatchObject({ status: "False", reason: "Valid" }));
});
