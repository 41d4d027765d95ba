import { KubernetesCluster } from "@isthmus/api";
import type { AnyResource } from "@isthmus/core";
import { type Cluster, ClusterError, createJoinToken, REPLACE, REVOKED_BEFORE, systemClock } from "@isthmus/plane";
import type { SimulatedCluster } from "@isthmus/simulator";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type AgentOptions, NAMESPACE, type Replica, type Replicas, replicasOf, type TestAgent, until } from "./harness/replicas.ts";

let plane: Replicas;
beforeEach(async () => {
  plane = await replicasOf();
});
afterEach(() => plane.stop());

const { apiVersion, kind } = KubernetesCluster;
const NEEDS_JOIN_TOKEN = /meshctl cluster token create --cluster east/;

const tokenFor = async (clusterName: string) =>
  (await createJoinToken(plane.management, { namespace: NAMESPACE, clock: systemClock, clusterName, lifetimeMs: 60_000 })).token;

const registration = (name: string) => plane.management.get(KubernetesCluster, { name, namespace: NAMESPACE });

async function annotate(name: string, annotations: Readonly<Record<string, string>>): Promise<void> {
  const found = await registration(name);
  if (found === undefined) throw new Error(`there is no KubernetesCluster ${name}`);
  const { managedFields: _, ...metadata } = found.metadata;
  await plane.management.update({ ...found, metadata: { ...metadata, annotations: { ...metadata.annotations, ...annotations } } });
}

const deregister = (name: string) => plane.management.delete({ ...KubernetesCluster, name, namespace: NAMESPACE, clusterName: "" });

function settings(relay: Readonly<Record<string, string>>): void {
  const metadata = { name: "settings", namespace: NAMESPACE };
  plane.management.load([{ apiVersion: "settings.mesh.gloo.solo.io/v1", kind: "Settings", metadata, spec: { relay } } as AnyResource]);
}

/** A cluster registers, and its agent goes away again. Gives what the agent leaves behind in its cluster. */
async function joined(replica: Replica, clusterName: string, token?: string): Promise<SimulatedCluster> {
  const agent = await plane.agent({ replica, clusterName, ...(token === undefined ? {} : { token }) });
  await until(agent.isConnected, `${clusterName} is connected`);
  await agent.stop();
  return agent.cluster;
}

/** Tries to come in, and learns why not. */
async function refusal(options: AgentOptions): Promise<TestAgent> {
  const agent = await plane.agent(options);
  await until(() => agent.isConnected() || agent.states.some((state) => state.startsWith("waiting")), "it is let in or refused");
  expect(agent.isConnected()).toBe(false);
  await agent.stop();
  return agent;
}

describe("the shared token alone", () => {
  test("does not open a name that is registered, whatever UID is claimed; a join token does", async () => {
    const replica = await plane.start();
    await joined(replica, "east");
    const thief = await refusal({ replica, clusterName: "east" });
    expect(thief.states.join()).toMatch(NEEDS_JOIN_TOKEN);
    expect(await thief.credentials()).toBeUndefined();
    const other = await refusal({ replica, clusterName: "east", clusterUid: "uid-2" });
    expect(other.states.join()).toMatch(/another cluster is registered as east/);
    await joined(replica, "east", await tokenFor("east"));
  });

  test("does not open a name whose KubernetesCluster was deleted, on no replica", async () => {
    const replica = await plane.start();
    await joined(replica, "east");
    await deregister("east");
    await until(async () => (await replica.server.view.snapshot.of(KubernetesCluster)).size === 0, "the server knows");
    expect((await refusal({ replica, clusterName: "east" })).states.join()).toMatch(NEEDS_JOIN_TOKEN);
    // A replica that knew nothing of it.
    const next = await plane.start();
    expect((await refusal({ replica: next, clusterName: "east", clusterUid: "uid-2" })).states.join()).toMatch(NEEDS_JOIN_TOKEN);
    await joined(next, "east", await tokenFor("east"));
  });

  test("does not open a name that an older server registered, and that was deleted since", async () => {
    const metadata = { name: "east", namespace: NAMESPACE };
    plane.management.load([{ apiVersion, kind, metadata, spec: {}, status: { clusterUid: "uid-of-east" } } as AnyResource]);
    const replica = await plane.start();
    await until(async () => replica.server.view.snapshot.of(KubernetesCluster).size === 1, "the server knows");
    await until(() => plane.lines.some((line) => /stored .*names/.test(line)), "the name is remembered");
    await deregister("east");
    expect((await refusal({ replica, clusterName: "east" })).states.join()).toMatch(NEEDS_JOIN_TOKEN);
  });

  test("does not open a KubernetesCluster that was made beforehand: a join token does", async () => {
    plane.management.load([{ apiVersion, kind, metadata: { name: "east", namespace: NAMESPACE }, spec: {} } as AnyResource]);
    const replica = await plane.start();
    expect((await refusal({ replica, clusterName: "east" })).states.join()).toMatch(NEEDS_JOIN_TOKEN);
    await joined(replica, "east", await tokenFor("east"));
  });

  test("opens no new name either when nobody can say any more which names are new", async () => {
    const names = Array.from({ length: 5_000 }, (_, i) => [`name-${i}`, btoa(`uid-${i}`)] as const);
    const metadata = { name: "relay-registered-names-secret", namespace: NAMESPACE };
    plane.management.load([{ apiVersion: "v1", kind: "Secret", metadata, data: Object.fromEntries(names) } as AnyResource]);
    const replica = await plane.start();
    expect((await refusal({ replica, clusterName: "east" })).states.join()).toMatch(NEEDS_JOIN_TOKEN);
    await joined(replica, "east", await tokenFor("east"));
  });

  test("does not give a name away that may be replaced", async () => {
    const replica = await plane.start();
    await joined(replica, "east");
    await annotate("east", { [REPLACE]: "2026-01-01T00:00:00Z" });
    expect((await refusal({ replica, clusterName: "east", clusterUid: "uid-2" })).states.join()).toMatch(NEEDS_JOIN_TOKEN);
  });

  test("opens any name where Settings say so, and the log and the cluster's status warn of it", async () => {
    settings({ sharedToken: "ANY_NAME" });
    const replica = await plane.start();
    await joined(replica, "east");
    await joined(replica, "east");
    expect(plane.lines.join("\n")).toMatch(/warn .*east.*ANY_NAME/);
    await until(async () => {
      const conditions = (await registration("east"))?.status?.conditions ?? [];
      return conditions.some(({ type, status, reason }) => type === "NameProtected" && status === "False" && reason === "AnyName");
    }, "the status says so");
    settings({ sharedToken: "NEW_NAMES" });
    await until(
      async () => !((await registration("east"))?.status?.conditions ?? []).some(({ type }) => type === "NameProtected"),
      "the status says it no longer",
    );
    await refusal({ replica, clusterName: "east" });
  });
});

describe("a token that could be guessed", () => {
  const put = (token: string) => {
    const metadata = { name: "relay-identity-token-secret", namespace: NAMESPACE };
    plane.management.load([{ apiVersion: "v1", kind: "Secret", metadata, data: { token: btoa(token) } } as AnyResource]);
  };

  test("keeps the server from starting, wherever it is from; a short one is warned of", async () => {
    await expect(plane.start({ relayToken: "fifteen-letters" })).rejects.toThrow(/--relay-token has 15 characters, .* needs at least 16/);
    put("hunter2");
    await expect(plane.start()).rejects.toThrow(/key token of Secret gloo-mesh\/relay-identity-token-secret has 7 characters/);
    put("0123456789abcdef0123456789abcdef");
    await plane.start();
    expect(plane.lines.join("\n")).not.toMatch(/replace a token of fewer than/);
    await plane.start({ relayToken: "sixteen-letters!" });
    expect(plane.lines.join("\n")).toMatch(/warn the relay identity token has 16 characters/);
  });

  test("is not taken over by a server that runs", async () => {
    const replica = await plane.start();
    const before = replica.kept.token;
    put("hunter2");
    await until(() => plane.lines.some((line) => /has 7 characters.*the previous one is still used/.test(line)), "it says so");
    expect(replica.kept.token).toBe(before);
  });
});

describe("a UID", () => {
  test("that is registered under another name is refused, with a join token too, until that is gone", async () => {
    const replica = await plane.start();
    await joined(replica, "east");
    const clusterUid = "uid-of-east";
    expect((await refusal({ replica, clusterName: "west", clusterUid })).states.join()).toMatch(/is registered as east/);
    const token = await tokenFor("west");
    expect((await refusal({ replica, clusterName: "west", clusterUid, token })).states.join()).toMatch(/is registered as east/);
    await deregister("east");
    const again = await refusal({ replica, clusterName: "west", clusterUid });
    expect(again.states.join()).toMatch(/meshctl cluster token create --cluster west/);
    const west = await plane.agent({ replica, clusterName: "west", clusterUid, token });
    await until(west.isConnected, "the join token lets it in under its new name");
  });

  test("of a revoked cluster opens no other name", async () => {
    const replica = await plane.start();
    await joined(replica, "east");
    await annotate("east", { [REVOKED_BEFORE]: new Date().toISOString() });
    await refusal({ replica, clusterName: "west", clusterUid: "uid-of-east" });
  });
});

describe("an agent", () => {
  test("that starts again needs no token", async () => {
    const replica = await plane.start();
    const cluster = await joined(replica, "east");
    const again = await plane.agent({ replica, clusterName: "east", cluster, token: "none-at-all" });
    await until(again.isConnected, "it is connected");
  });

  test("whose certificate has expired comes back by its key and the shared token, and nobody else does by either", async () => {
    const replica = await plane.start({ lifetimes: { agent: 2_000 } });
    const cluster = await joined(replica, "east");
    const revoked = await joined(replica, "west");
    await annotate("west", { [REVOKED_BEFORE]: new Date(Date.now() + 1_000).toISOString() });
    await systemClock.sleep(2_500);
    await refusal({ replica, clusterName: "east" });
    await refusal({ replica, clusterName: "east", cluster, token: "none-at-all" });
    const again = await plane.agent({ replica, clusterName: "east", cluster });
    await until(again.isConnected, "it is connected");
    await again.stop();
    // Not once it is revoked.
    expect((await refusal({ replica, clusterName: "west", cluster: revoked })).states.join()).toMatch(/west was revoked at/);
  });

  test("that is recorded and then not answered gets its certificate with the next try, for the same key", async () => {
    let failures = 0;
    // The last write of a registration fails, when the name has been given away.
    const over = (cluster: Cluster): Cluster => ({
      ...cluster,
      async create(resource, signal) {
        if (resource.metadata.name === "relay-registered-names-secret" && failures++ === 0)
          throw new ClusterError("Unavailable", "the API server cannot be reached");
        return cluster.create(resource, signal);
      },
    });
    const replica = await plane.start({ over });
    const agent = await plane.agent({ replica, clusterName: "east" });
    await until(agent.isConnected, "it is connected");
    expect(failures).toBeGreaterThan(0);
    expect(agent.states.some((state) => state.startsWith("waiting"))).toBe(true);
  });
});

describe("somebody who guesses tokens", () => {
  test("waits longer and longer, and nobody else does: neither others of the address, nor who has the name", async () => {
    const replica = await plane.start();
    const guesser = await plane.agent({ replica, clusterName: "east", token: "isthmus-join.aaaaaaaaaaaa.guess" });
    await until(() => guesser.states.some((state) => /too many wrong tokens/.test(state)), "it is throttled");
    await joined(replica, "west");
    await joined(replica, "east", await tokenFor("east"));
  });
});

describe("without client certificates", () => {
  test("a UID must be the one that is registered, and a name that was deleted stays shut until a person opens it", async () => {
    const replica = await plane.start({ clientCertificates: false });
    const tokenOnly = { replica, clusterName: "east", clientCertificates: false };
    const east = await plane.agent(tokenOnly);
    await until(east.isConnected, "east is connected");
    await east.stop();
    const again = await plane.agent(tokenOnly);
    await until(again.isConnected, "east is connected again");
    await again.stop();
    await refusal({ ...tokenOnly, clusterUid: "uid-2" });
    await refusal({ ...tokenOnly, clusterName: "west", clusterUid: "uid-of-east" });
    await deregister("east");
    expect((await refusal(tokenOnly)).states.join()).toMatch(/create the KubernetesCluster east/);
    await plane.management.create({ apiVersion, kind, metadata: { name: "east", namespace: NAMESPACE }, spec: {} } as AnyResource);
    const opened = await plane.agent(tokenOnly);
    await until(opened.isConnected, "east is connected once more");
  });
});
