import { agentKinds, allKinds, contributedKinds, Destination, KubernetesCluster, Service, Settings } from "@isthmus/api";
import { kindKeyOf, type Resource } from "@isthmus/core";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { NAMESPACE, type Replica, type Replicas, replicasOf, type TestAgent, until } from "./harness/replicas.ts";

let plane: Replicas;
let replica: Replica;
beforeEach(async () => {
  plane = await replicasOf();
  replica = await plane.start();
});
afterEach(() => plane.stop());

const service = (name: string, clusterName: string): Resource =>
  ({ apiVersion: "v1", kind: "Service", metadata: { name, namespace: "shop", clusterName }, spec: { ports: [{ port: 80 }] } }) as Resource;

const heldOf = (clusterName: string) => [...replica.server.store.snapshotIn(clusterName).collections().keys()].sort();

async function connected(clusterName: string, kinds?: readonly string[]): Promise<TestAgent> {
  const agent = await plane.agent({ replica, clusterName, ...(kinds === undefined ? {} : { kinds }) });
  await until(agent.isConnected, `${clusterName} is connected`);
  return agent;
}

const figure = (name: string, labels: Readonly<Record<string, string>>) =>
  replica.link
    .metrics()
    .filter((metric) => metric.name === name && Object.entries(labels).every(([label, value]) => metric.labels[label] === value))
    .reduce((sum, { value }) => sum + value, 0);

describe("an agent", () => {
  test("is refused every kind but those that agents send and users contribute, and the refusals are counted", async () => {
    const kinds = allKinds().map(kindKeyOf);
    const agent = await connected("evil", kinds);
    const forged = allKinds().map(
      ({ apiVersion, kind }): Resource => ({ apiVersion, kind, metadata: { name: "forged", namespace: NAMESPACE, clusterName: "evil" } }),
    );
    agent.link.observe({ put: [...forged, service("cart", "evil")], remove: [] });
    await until(() => heldOf("evil").includes(kindKeyOf(Service)), "the Service is taken");
    const refused = [Destination, KubernetesCluster, Settings].map(kindKeyOf);
    const last = service("last", "evil");
    agent.link.observe({ put: [last], remove: [] });
    await until(() => [...replica.server.store.snapshotIn("evil").of(Service)].length === 3, "what came later is taken");
    expect(heldOf("evil")).toEqual([...agentKinds(), ...contributedKinds()].map(kindKeyOf).sort());
    for (const kindKey of refused) expect(heldOf("evil")).not.toContain(kindKey);
    expect(figure("relay_server_objects_refused_total", { cluster: "evil", reason: "Kind" })).toBe(
      allKinds().length - heldOf("evil").length,
    );
    expect(plane.lines.join("\n")).toMatch(/refused 1 objects that the agent of evil sent: agents do not report that kind/);
    expect(agent.states.at(-1)).toMatch(/^connected/);
  });

  test("with another UID than its certificate's is sent away", async () => {
    const agent = await plane.agent({ replica, clusterName: "evil", helloUid: "uid-of-victim" });
    await until(() => agent.states.some((state) => state.startsWith("waiting")), "it is sent away");
    expect(agent.states.join()).toMatch(/its certificate is for the cluster uid-of-evil/);
    expect(replica.isConnected("evil")).toBe(false);
    expect(replica.server.store.clusters.get("evil")).toBeUndefined();
  });
});
