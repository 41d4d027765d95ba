import { randomUUID } from "node:crypto";
import { KubernetesCluster, Secret } from "@isthmus/api";
import type { AnyResource } from "@isthmus/core";
import { createJoinToken, keepJoinTokens, REPLACE, REVOCATIONS, REVOKED_BEFORE, systemClock } from "@isthmus/plane";
import { memoryStore } from "@isthmus/store";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { cuttable } from "./harness/cuttable.ts";
import { NAMESPACE, type Replicas, replicasOf, until } from "./harness/replicas.ts";

const clock = systemClock;
const MINUTE = 60_000;

let plane: Replicas;
beforeEach(async () => {
  plane = await replicasOf();
});
afterEach(() => plane.stop());

const tokenFor = (clusterName: string, lifetimeMs = MINUTE) =>
  createJoinToken(plane.management, { namespace: NAMESPACE, clock, clusterName, lifetimeMs });

async function annotate(clusterName: string, annotations: Readonly<Record<string, string>>): Promise<void> {
  const found = await plane.management.get(KubernetesCluster, { name: clusterName, namespace: NAMESPACE });
  if (found === undefined) throw new Error(`there is no KubernetesCluster ${clusterName}`);
  const { managedFields: _, ...metadata } = found.metadata;
  await plane.management.update({ ...found, metadata: { ...metadata, annotations: { ...metadata.annotations, ...annotations } } });
}

const secondsAgo = (seconds: number) => new Date(Date.now() - seconds * 1000).toISOString();

describe("a join token", () => {
  test("lets its cluster in, once, and only its hash is kept", async () => {
    const replica = await plane.start();
    const { token } = await tokenFor("east");
    const [kept] = (await plane.management.list(Secret, { namespace: NAMESPACE })).items.filter(({ metadata }) =>
      metadata.name.startsWith("relay-join-token-"),
    );
    const secretPart = token.split(".").at(-1) ?? "";
    expect(kept && atob(kept.data?.["hash"] ?? "")).toMatch(/^[0-9a-f]{64}$/);
    expect(
      Object.values(kept?.data ?? {})
        .map(atob)
        .join(),
    ).not.toContain(secretPart);

    const east = await plane.agent({ replica, clusterName: "east", token });
    await until(east.isConnected, "east is connected");
    expect(await plane.management.get(Secret, { name: kept?.metadata.name ?? "", namespace: NAMESPACE })).toBeUndefined();

    const again = await plane.agent({ replica, clusterName: "east", token });
    await until(() => again.states.some((state) => state.startsWith("waiting")), "the second one waits");
    expect(again.states.join()).toMatch(/the token is not valid/);
    expect(plane.lines.join("\n")).not.toContain(secretPart);
  });

  test("of many that come at once, over two replicas, one is let in", async () => {
    await plane.start();
    const store = [
      keepJoinTokens(plane.management, { namespace: NAMESPACE, clock }),
      keepJoinTokens(plane.management, { namespace: NAMESPACE, clock }),
    ];
    const { token } = await tokenFor("east");
    const found = await Promise.all(Array.from({ length: 20 }, (_, i) => store[i % 2]?.find(token, "east")));
    const uses = await Promise.all(found.map((one) => (one !== undefined && !("problem" in one) ? one.use() : "not found")));
    expect(uses.filter((use) => use === true)).toHaveLength(1);
    expect(uses.filter((use) => use === false)).toHaveLength(19);
  });

  test("is for one cluster and one hour, and a wrong one learns nothing", async () => {
    const store = keepJoinTokens(plane.management, { namespace: NAMESPACE, clock });
    const { token } = await tokenFor("east");
    expect(await store.find(token, "west")).toEqual({ problem: "the join token is not for west" });
    expect(await store.find(`${token.slice(0, -1)}${token.endsWith("a") ? "b" : "a"}`, "east")).toBeUndefined();
    expect(await store.find(token.replace(/\.[a-z0-9]{12}\./, ".aaaaaaaaaaaa."), "east")).toBeUndefined();
    expect(await store.find("isthmus-join..", "east")).toBeUndefined();
    const later = keepJoinTokens(plane.management, { namespace: NAMESPACE, clock: { now: () => Date.now() + MINUTE } });
    expect(await later.find(token, "east")).toEqual({ problem: "the join token for east has expired: create a new one" });
    await expect(tokenFor("East_1")).rejects.toThrow(/is not a valid cluster name/);
    await expect(tokenFor("east", 25 * 60 * MINUTE)).rejects.toThrow(/at most 24h/);
  });

  test("is not lost to a registration that fails", async () => {
    const replica = await plane.start();
    const first = await plane.agent({ replica, clusterName: "east" });
    await until(first.isConnected, "east is connected");
    const { token } = await tokenFor("east");
    const other = await plane.agent({ replica, clusterName: "east", clusterUid: "another", token });
    await until(() => other.states.some((state) => state.startsWith("waiting")), "the other one waits");
    expect(other.states.join()).toMatch(/another cluster is registered as east/);
    const store = keepJoinTokens(plane.management, { namespace: NAMESPACE, clock });
    expect(await store.find(token, "east")).toHaveProperty("createdAt");
  });

  test("is not needed, but asked for, where Settings want clusters to be known", async () => {
    const replica = await plane.start();
    plane.management.load([
      {
        apiVersion: "settings.mesh.gloo.solo.io/v1",
        kind: "Settings",
        metadata: { name: "settings", namespace: NAMESPACE },
        spec: { relay: { registration: "KNOWN_CLUSTERS" } },
      } as AnyResource,
    ]);
    const stranger = await plane.agent({ replica, clusterName: "east" });
    await until(() => stranger.states.some((state) => state.startsWith("waiting")), "it waits");
    expect(stranger.states.join()).toMatch(
      /allow only known clusters to register: create a join token for it with "meshctl cluster token create --cluster east"/,
    );
    const { token } = await tokenFor("west");
    const west = await plane.agent({ replica, clusterName: "west", token });
    await until(west.isConnected, "west is connected");
  });
});

describe("a revoked cluster", () => {
  test("is disconnected by every replica, and none lets it in, not with the shared token either", async () => {
    const [one, two] = [await plane.start(), await plane.start()];
    const first = await plane.agent({ replica: one, clusterName: "east" });
    await until(() => one.isConnected("east"), "east is connected");
    const second = await plane.agent({ replica: two, clusterName: "east", cluster: first.cluster });
    const healthy = await plane.agent({ replica: one, clusterName: "west" });
    await until(() => two.isConnected("east") && one.isConnected("west"), "all are connected");
    await annotate("east", { [REVOKED_BEFORE]: new Date().toISOString() });
    await until(() => !one.isConnected("east") && !two.isConnected("east"), "both streams are ended");
    await until(
      () => [first, second].every(({ states }) => states.some((state) => /waiting: east was revoked at/.test(state))),
      "the shared token is refused too",
    );
    expect([one.isConnected("east"), two.isConnected("east")]).toEqual([false, false]);
    expect(healthy.states.filter((state) => state.startsWith("waiting"))).toEqual([]);

    // A replica that starts later knows it too.
    const three = await plane.start();
    const third = await plane.agent({ replica: three, clusterName: "east", cluster: first.cluster });
    await until(() => third.states.some((state) => /east was revoked at/.test(state)), "the new replica refuses it");
    for (const agent of [first, second, third]) await agent.stop();

    const { token } = await tokenFor("east");
    const back = await plane.agent({ replica: two, clusterName: "east", cluster: first.cluster, token });
    await until(() => two.isConnected("east"), "a new join token lets it in again");
    await back.stop();
  });

  test("is disconnected and refused by a replica that cannot reach the management cluster, too", async () => {
    const store = memoryStore({ clock, id: randomUUID });
    const way = cuttable();
    const [near, cutOff] = [await plane.start({ store }), await plane.start({ store, over: way.over })];
    const east = await plane.agent({ replica: cutOff, clusterName: "east" });
    const west = await plane.agent({ replica: cutOff, clusterName: "west" });
    await until(() => cutOff.isConnected("east") && cutOff.isConnected("west"), "both are connected");
    await until(() => near.server.view.isComplete, "the other replica watches");
    way.cut();
    await annotate("east", { [REVOKED_BEFORE]: new Date().toISOString() });
    await until(() => !cutOff.isConnected("east"), "it is sent away");
    await until(() => east.states.filter((state) => state.startsWith("waiting")).length > 2, "it comes back, and is refused");
    expect(cutOff.isConnected("east")).toBe(false);
    expect(west.isConnected()).toBe(true);

    // By the management cluster's word alone it is let in again, as soon as that can be heard.
    await annotate("east", { [REVOKED_BEFORE]: secondsAgo(3_600) });
    await until(async () => (await store.record(REVOCATIONS, "east")) !== undefined, "it is in the store");
    way.mend();
    await until(() => cutOff.isConnected("east"), "it is let in again");
  });

  test("cannot come back with a join token from before", async () => {
    const replica = await plane.start();
    const east = await plane.agent({ replica, clusterName: "east" });
    await until(east.isConnected, "east is connected");
    await east.stop();
    const { token } = await tokenFor("east");
    await annotate("east", { [REVOKED_BEFORE]: new Date(Date.now() + 1_000).toISOString() });
    const back = await plane.agent({ replica, clusterName: "east", cluster: east.cluster, token });
    await until(() => back.states.some((state) => /east was revoked at/.test(state)), "it is refused");
  });

  test("stays revoked when the annotation cannot be read", async () => {
    const replica = await plane.start();
    const east = await plane.agent({ replica, clusterName: "east" });
    await until(east.isConnected, "east is connected");
    await annotate("east", { [REVOKED_BEFORE]: "yesterday" });
    await until(() => east.states.some((state) => /waiting: east was revoked/.test(state)), "it is refused");
  });

  test("in the setup without client certificates is refused by its name", async () => {
    const replica = await plane.start({ clientCertificates: false });
    const east = await plane.agent({ replica, clusterName: "east", clientCertificates: false });
    await until(east.isConnected, "east is connected");
    await annotate("east", { [REVOKED_BEFORE]: secondsAgo(0) });
    await until(() => east.states.some((state) => /waiting: east was revoked/.test(state)), "it is refused");
    expect(replica.isConnected("east")).toBe(false);
  });
});

describe("a name", () => {
  test("goes to another cluster when an operator says so, once, and the old one's certificate is worth nothing then", async () => {
    const replica = await plane.start();
    const old = await plane.agent({ replica, clusterName: "east" });
    await until(old.isConnected, "the old cluster is connected");
    const refused = await plane.agent({ replica, clusterName: "east", clusterUid: "uid-2" });
    await until(() => refused.states.some((state) => /meshctl cluster replace east/.test(state)), "the new one is refused");
    await refused.stop();

    await annotate("east", { [REPLACE]: "2026-01-01T00:00:00Z" });
    const { token } = await tokenFor("east");
    const next = await plane.agent({ replica, clusterName: "east", clusterUid: "uid-2", token });
    await until(next.isConnected, "the new one has the name");
    await until(() => old.states.some((state) => /waiting: another cluster is registered as east/.test(state)), "the old one is refused");
    await old.stop();
    await until(next.isConnected, "the new one is connected");
    const third = await plane.agent({ replica, clusterName: "east", clusterUid: "uid-3" });
    await until(() => third.states.some((state) => /another cluster is registered as east/.test(state)), "it was for one only");
  });

  test("that is deregistered is disconnected, and its certificate opens nothing", async () => {
    const replica = await plane.start();
    const east = await plane.agent({ replica, clusterName: "east" });
    await until(() => replica.isConnected("east"), "east is connected");
    await plane.management.delete({ ...KubernetesCluster, name: "east", namespace: NAMESPACE, clusterName: "" });
    await until(() => east.states.some((state) => /waiting: east is no longer registered/.test(state)), "it is refused");
    expect(replica.isConnected("east")).toBe(false);
    expect(await plane.management.get(KubernetesCluster, { name: "east", namespace: NAMESPACE })).toBeUndefined();
  });
});
