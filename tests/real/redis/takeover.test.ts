import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Secret, TrafficPolicy, VirtualMesh, VirtualService } from "@isthmus/api";
import type { Kind, TimedCondition } from "@isthmus/core";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { ManagementServer } from "../harness/apps.ts";
import { anyKind } from "../harness/clusters.ts";
import { describeReal } from "../harness/describeReal.ts";
import { applyAll } from "../harness/manifests.ts";
import { timeoutPolicy, virtualMesh } from "../harness/policies.ts";
import { type RealRedis, startRedis } from "../harness/redis.ts";
import { changesBetween, type Slice, startSlice, written } from "../harness/slice.ts";
import { type Switchboard, startSwitchboard } from "../harness/switchboard.ts";
import { waitFor } from "../harness/waitFor.ts";

const CLUSTERS = ["cluster-1", "cluster-2"] as const;

// One story on real API servers and a real Redis: each test continues where the one before it ended.
/** All at once: servers that write again between two of the entries would leave one that only a reader notices. */
const GARBAGE_EVERYWHERE = `
for _, key in ipairs(redis.call("keys", "*")) do
  if redis.call("type", key).ok == "hash" then
    for _, name in ipairs(redis.call("hkeys", key)) do redis.call("hset", key, name, "garbage") end
  end
end`;

describeReal("two management servers as processes", (components) => {
  const directory = mkdtempSync(join(tmpdir(), "isthmus-takeover-"));
  let redis: RealRedis;
  let switchboard: Switchboard;
  let slice: Slice;
  let second: ManagementServer;

  beforeAll(async () => {
    redis = await startRedis(components.redis, directory, { persistent: true });
    const more = [`--redis-address=127.0.0.1:${redis.settings.port}`, "--leader-election"];
    slice = await startSlice(components, {
      replicas: ["one", "two"].map((name) => [...more, `--replica=${name}`]),
      relay: async ([address = ""]) => {
        switchboard = await startSwitchboard(address);
        return switchboard.address;
      },
    });
    second = slice.replicas[1] ?? slice.server;
  });
  afterAll(async () => {
    await slice?.stop();
    await switchboard?.stop();
    await redis?.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  /** The figures of a metric, by cluster. */
  async function figures({ adminUrl }: ManagementServer, name: string): Promise<Readonly<Record<string, string>>> {
    const text = await (await fetch(`${adminUrl}/metrics`)).text();
    const lines = [...text.matchAll(new RegExp(`^${name}\\{cluster="([^"]*)"\\} (.*)$`, "gm"))];
    return Object.fromEntries(lines.map(([, cluster = "", value = ""]) => [cluster, value]));
  }

  function inForce({ apiVersion, kind, plural }: Kind, name: string): Promise<true> {
    return waitFor(`${kind} ${name} to be applied`, async () => {
      const found = await slice.management.get(anyKind(apiVersion, kind, plural), { name, namespace: "gloo-mesh" });
      const status = (found?.["status"] ?? {}) as { readonly state?: string; readonly conditions?: readonly TimedCondition[] };
      const applied = status.conditions?.find(({ type }) => type === "Applied");
      expect([status.state, applied?.status, applied?.observedGeneration]).toEqual(["ACCEPTED", "True", found?.metadata.generation]);
      return true;
    });
  }

  const everything = () => Promise.all([slice.first, slice.second].map(written));
  const rest = () => new Promise((resolve) => setTimeout(resolve, 3_000));

  /** What is written once nothing is written any more: Bookinfo's pods take a while to be there. */
  function atRest(): ReturnType<typeof everything> {
    return waitFor("writes to come to rest", async () => {
      const before = await everything();
      await rest();
      const after = await everything();
      expect(after).toEqual(before);
      return after;
    });
  }

  async function expectNothingWrittenSince(before: Awaited<ReturnType<typeof everything>>): Promise<void> {
    await rest();
    const after = await everything();
    expect(CLUSTERS.flatMap((_, i) => changesBetween(before[i] ?? {}, after[i] ?? {}))).toEqual([]);
  }

  it("want the same in every cluster", async () => {
    await applyAll(slice.management, [virtualMesh()]);
    await inForce(VirtualMesh, "all");
    await waitFor("both servers to want the same", async () => {
      const digests = await figures(slice.server, "gloo_mesh_wanted_digest");
      expect(Object.keys(digests)).toEqual(expect.arrayContaining([...CLUSTERS]));
      expect(await figures(second, "gloo_mesh_wanted_digest")).toEqual(digests);
      return true;
    });
  });

  it("live on with garbage on Redis' channel and in its entries, write nothing because of it, and count it", async () => {
    const before = await atRest();
    const channel = redis.cli("--raw", "pubsub", "channels").split("\n")[0] ?? "";
    for (const message of ["garbage", "[[[", "null", `["written"]`, "[".repeat(50_000)]) redis.cli("publish", channel, message);
    redis.cli("eval", GARBAGE_EVERYWHERE, "0");
    await expectNothingWrittenSince(before);
    for (const { adminUrl } of slice.replicas) {
      const text = await (await fetch(`${adminUrl}/metrics`)).text();
      expect(Number(/^gloo_mesh_store_refused_total\{what="notice"\} (\d+)$/m.exec(text)?.[1])).toBeGreaterThanOrEqual(5);
      expect(text).toMatch(/^gloo_mesh_store_protected 0$/m);
    }
    // Those who have the agents write it again: the key is in a Secret, made by one of the two.
    await waitFor("the heads in Redis to be signed again", async () => {
      const heads = redis.cli("--raw", "hvals", redis.cli("--raw", "keys", "*:input:heads"));
      expect(heads.split("\n")).not.toContain("garbage");
      return true;
    });
    expect((await slice.management.get(Secret, { name: "relay-store-key-secret", namespace: "gloo-mesh" }))?.data).toHaveProperty("key");
  });

  it("take over from one that is killed, and write nothing for it", async () => {
    const before = await atRest();
    switchboard.to(second.relayAddress);
    const killed = Date.now();
    await slice.server.app.program.kill();
    await waitFor("all agents to be connected to the other server, and in sync", async () => {
      const connected = await figures(second, "relay_push_clients_connected");
      expect(CLUSTERS.map((name) => connected[name])).toEqual(["1", "1"]);
      const lag = await figures(second, "relay_server_lag_seconds");
      expect(CLUSTERS.map((name) => lag[name])).toEqual(["0", "0"]);
      return true;
    });
    console.log(`taken over after ${Date.now() - killed} ms`);
    await expectNothingWrittenSince(before);
    await applyAll(slice.management, [timeoutPolicy("reviews")]);
    await inForce(TrafficPolicy, "timeout-reviews");
    for (const cluster of [slice.first, slice.second]) {
      const service = await cluster.get(VirtualService, { name: "reviews", namespace: "bookinfo" });
      expect(service?.spec?.http?.[0]?.timeout).toBe("3s");
    }
  });

  it("keep what was accepted last where a policy and a VirtualMesh have become wrong, and write nothing for it", async () => {
    const before = await atRest();
    const [policy, mesh] = [timeoutPolicy("reviewz"), virtualMesh()];
    const nobody = { name: "nobody", namespace: "gloo-mesh" };
    const { meshes, ...rest } = mesh["spec"] as { readonly meshes: readonly object[] };
    await applyAll(slice.management, [
      { ...policy, metadata: timeoutPolicy("reviews").metadata },
      { ...mesh, spec: { ...rest, meshes: [...meshes.slice(1), nobody] } },
    ]);
    await waitFor("both to be answered", async () => {
      const found = [
        await slice.management.get(TrafficPolicy, { name: "timeout-reviews", namespace: "gloo-mesh" }),
        await slice.management.get(VirtualMesh, { name: "all", namespace: "gloo-mesh" }),
      ];
      expect(found.map((one) => one?.status?.observedGeneration)).toEqual(found.map((one) => one?.metadata.generation));
      expect(found.map((one) => one?.status?.state)).not.toContain("ACCEPTED");
      return true;
    });
    await expectNothingWrittenSince(before);
  });

  // Both are still wrong: what was accepted last is read from the objects themselves.
  it("know the fleet after Redis and the last server were killed", async () => {
    const before = await atRest();
    await Promise.all([redis.kill(), second.app.program.kill()]);
    await redis.start();
    await second.app.restart();
    await waitFor("all agents to be in sync again", async () => {
      const lag = await figures(second, "relay_server_lag_seconds");
      const connected = await figures(second, "relay_push_clients_connected");
      expect(CLUSTERS.map((name) => [connected[name], lag[name]])).toEqual(CLUSTERS.map(() => ["1", "0"]));
      return true;
    });
    await expectNothingWrittenSince(before);
  });
});
