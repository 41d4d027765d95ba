import { allKinds, type Secret } from "@isthmus/api";
import { createJoinToken, rotateSharedToken, secretsToJoin, systemClock } from "@isthmus/plane";
import { type SimulatedCluster, simulatedCluster } from "@isthmus/simulator";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { NAMESPACE, type Replicas, replicasOf, until } from "./harness/replicas.ts";

let plane: Replicas;
beforeEach(async () => {
  plane = await replicasOf();
});
afterEach(() => plane.stop());

/** What `meshctl cluster token create --manifest` prints. */
async function joinTokenManifest(clusterName: string): Promise<readonly Secret[]> {
  const place = { namespace: NAMESPACE, clock: systemClock };
  const { token } = await createJoinToken(plane.management, { ...place, clusterName, lifetimeMs: 60_000 });
  return secretsToJoin(plane.management, { namespace: NAMESPACE, agentNamespace: NAMESPACE, token });
}

/** What `meshctl cluster token shared` prints. */
const sharedManifest = () => secretsToJoin(plane.management, { namespace: NAMESPACE, agentNamespace: NAMESPACE });

/** A cluster in which nobody has done anything but what `kubectl apply` does with a manifest. */
async function freshCluster(name: string, manifest: readonly Secret[]): Promise<SimulatedCluster> {
  const cluster = simulatedCluster({ name, clock: systemClock, kinds: allKinds() });
  cluster.load([{ apiVersion: "v1", kind: "Namespace", metadata: { name: NAMESPACE } }]);
  for (const secret of manifest) await cluster.create(secret);
  return cluster;
}

describe("with what meshctl prints, in a fresh namespace, a cluster is let in", () => {
  test.each([
    ["a join token", () => joinTokenManifest("east")],
    ["the shared token", sharedManifest],
  ])("with %s", async (_, manifest) => {
    const replica = await plane.start();
    const cluster = await freshCluster("east", await manifest());
    const east = await plane.agent({ replica, clusterName: "east", cluster, bySecretsAlone: true });
    await until(east.isConnected, "east is connected");
  });
});

test("a shared token that is replaced lets no agent in any more, at once and on every replica, and cuts nobody off", async () => {
  const [one, two] = [await plane.start(), await plane.start()];
  const before = await sharedManifest();
  const old = one.kept.token;
  const east = await plane.agent({ replica: one, clusterName: "east" });
  await until(east.isConnected, "east is connected");
  await rotateSharedToken(plane.management, { namespace: NAMESPACE });
  await until(() => one.kept.token === two.kept.token && one.kept.token !== old, "both replicas go by the new one");
  for (const replica of [one, two]) {
    const stranger = await plane.agent({
      replica,
      clusterName: `new-at-${replica.name}`,
      cluster: await freshCluster(`new-at-${replica.name}`, before),
      bySecretsAlone: true,
    });
    await until(() => stranger.states.some((state) => state.startsWith("waiting")), "it is refused");
    expect(stranger.states.join()).toMatch(/the token is not valid/);
    await stranger.stop();
  }
  const again = await plane.agent({ replica: two, clusterName: "east", cluster: east.cluster });
  await until(again.isConnected, "the agent with a certificate needs no token");
  const north = await plane.agent({
    replica: two,
    clusterName: "north",
    cluster: await freshCluster("north", await sharedManifest()),
    bySecretsAlone: true,
  });
  await until(north.isConnected, "the new token lets new names in");
});
