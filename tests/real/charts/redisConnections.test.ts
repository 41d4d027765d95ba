import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Settings } from "@isthmus/api";
import { createRoot } from "@isthmus/certificates";
import type { AnyResource } from "@isthmus/core";
import type { Cluster } from "@isthmus/ports";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { clusterOf } from "../harness/clusters.ts";
import { describeReal } from "../harness/describeReal.ts";
import { type Fleet, startFleet } from "../harness/fleet.ts";
import { applyAll } from "../harness/manifests.ts";
import { type RealRedis, startRedis } from "../harness/redis.ts";
import { waitFor } from "../harness/waitFor.ts";
import { type InstalledProgram, isServing, startInstalled } from "./installedProgram.ts";
import { namespace, release, secret } from "./release.ts";

const USER = { name: "mesh", password: "s3cret-of-mesh" };
// As docs/operations/console.md says.
const READER = { name: "reader", password: "s3cret-of-reader" };
const READER_RIGHTS = ["~gloo-mesh:*", "&gloo-mesh:*", "-@all", "+@read", "+@connection", "+eval", "+evalsha", "+subscribe", "+info"];

// One after the other on the same API server and the same Redis: what differs is what the Secrets hold.
describeReal("an external Redis with TLS and a user of its own, as the chart connects to it", (components) => {
  let fleet: Fleet<"management">;
  let management: Cluster;
  let redis: RealRedis;
  let ca = "";
  const running: InstalledProgram[] = [];

  beforeAll(async () => {
    fleet = await startFleet(components, ["management"]);
    management = clusterOf(fleet.servers.management, "");
    redis = await startRedis(components.redis, join(fleet.directory, "redis"), { tls: true, password: "of-the-administrator", user: USER });
    ca = readFileSync(redis.caFile ?? "", "utf8");
    await release(target(), "gloo-mesh-crds");
    const external = { deployment: { enabled: false }, address: `127.0.0.1:${redis.settings.port}` };
    const secured = { auth: { enabled: true }, certs: { enabled: true, serverName: "localhost" } };
    redis.cli("acl", "setuser", READER.name, "on", `>${READER.password}`, ...READER_RIGHTS);
    await release(target(), "gloo-mesh-mgmt-server", {
      ...{ replicas: 2, serviceType: "ClusterIP", settings: { relay: { deleteBudget: { percent: 10 } } } },
      redis: { ...external, ...secured },
      glooUi: { redis: { authSecretName: "redis-reader" } },
    });
  });
  afterEach(async () => {
    await Promise.all(running.splice(0).map(({ program }) => program.stop()));
  });
  afterAll(async () => {
    await redis?.stop();
    await fleet?.stop();
  });

  function target() {
    return { components, server: fleet.servers.management, directory: fleet.directory };
  }

  async function startServer(pod: string): Promise<InstalledProgram> {
    const started = await startInstalled({
      server: fleet.servers.management,
      namespace,
      deployment: "gloo-mesh-mgmt-server",
      bin: "mgmt-server/bin/mgmt-server.js",
      pod,
      directory: fleet.directory,
      here: ([port]) => ["--host=127.0.0.1", `--port=${port}`],
    });
    running.push(started);
    await isServing(started, "/readyz");
    return started;
  }

  async function provide({ username = USER.name, password = USER.password, authority = ca }): Promise<void> {
    await applyAll(management, [secret("redis-auth-secrets", { username, password }), secret("redis-certs", { "ca.crt": authority })]);
  }

  /** A condition of the Settings, as `status: message`. */
  async function condition(type: string): Promise<string> {
    const { conditions = [] } = (await management.get(Settings, { name: "settings", namespace }))?.status ?? {};
    const found = conditions.find((each) => each.type === type);
    return `${found?.status}: ${found?.message}`;
  }

  it("is used by several servers: they share what they know", async () => {
    await provide({});
    const servers = [await startServer("good-0"), await startServer("good-1")];
    await waitFor("both to know of each other", async () => {
      const metrics = await Promise.all(servers.map(async ({ adminUrl }) => (await fetch(`${adminUrl}/metrics`)).text()));
      return metrics.every(
        (text) => /^gloo_mesh_store_replicas(?:{[^}]*})? 2$/m.test(text) && /^gloo_mesh_store_up(?:{[^}]*})? 1$/m.test(text),
      );
    });
    expect(Number(redis.cli("dbsize"))).toBeGreaterThan(2);
    await waitFor("the condition", async () => (await condition("StoreConnected")).startsWith("True: "));
    expect(await condition("StoreProtected")).toMatch(/^True: /);
    // The Redis of this test sets no limit.
    expect(await condition("StoreHasRoom")).toMatch(/^Unknown: .*maxmemory is 0/);
    expect(fleet.servers.management.planeRefusals()).toEqual([]);
  });

  it("is read by the console as a user who cannot write, once a server has made the key", async () => {
    const options = { server: fleet.servers.management, namespace, deployment: "gloo-mesh-ui", bin: "ui/bin/ui.js", pod: "ui" } as const;
    const start = () => startInstalled({ ...options, directory: fleet.directory, here: ([port]) => [`--port=${port}`] });
    await provide({});
    await applyAll(management, [secret("redis-reader", { username: READER.name, password: READER.password })]);
    const { apiVersion, kind } = secret("relay-store-key-secret", {});
    await management.delete({ apiVersion, kind, name: "relay-store-key-secret", namespace, clusterName: "" });
    await expect(start()).rejects.toThrow("volume relay-store-key: no Secret gloo-mesh/relay-store-key-secret");
    redis.cli("flushall");
    await startServer("for-ui");
    const ui = await start();
    running.push(ui);
    await isServing(ui, "/readyz");
    const stream = await fetch(`http://${ui.relayAddress}/api/v1/stream`);
    const events = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    // The Settings of the management cluster, as the server wrote them.
    await waitFor("what the server has written", async () => {
      text += (await events?.read())?.value ?? "";
      return text.includes('"kind":"Settings"');
    });
    await events?.cancel();
    expect(ui.program.output()).not.toMatch(/NOPERM|NOAUTH|WRONGPASS/);
  });

  it.each([
    ["wrong-password", { password: "wrong" }, "check REDIS_USERNAME and REDIS_PASSWORD"],
    ["wrong-authority", {}, "check the CA certificate of --redis-ca"],
  ])("%s: the server works from memory, and says why", async (pod, given, says) => {
    const other = (await createRoot({ commonName: "another", now: Date.now() })).certificate;
    await provide({ ...given, ...(pod === "wrong-authority" ? { authority: other } : {}) });
    const server = await startServer(pod);
    await waitFor(`a message (${server.program.log})`, () => server.program.output().includes(says));
    await waitFor("the condition", async () => {
      const told = await condition("StoreConnected");
      return told.startsWith("False: ") && told.includes(says);
    });
    expect(server.program.output()).not.toContain('"wrong"');
  });

  it("without its Secret the pod does not start, and says which key it lacks", async () => {
    const { apiVersion, kind } = secret("redis-certs", {}) as AnyResource;
    await management.delete({ apiVersion, kind, name: "redis-certs", namespace, clusterName: "" });
    await expect(startServer("absent")).rejects.toThrow("volume redis-certs: Secret gloo-mesh/redis-certs lacks ca.crt");
  });
});
