import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Settings } from "@isthmus/api";
import type { Log, Resource } from "@isthmus/core";
import type { Store, StoreError, StoreWrite } from "@isthmus/ports";
import { redisStore } from "@isthmus/store";
import { afterAll, afterEach, beforeEach, expect, it, vi } from "vitest";
import { describeReal } from "../harness/describeReal.ts";
import { type RealRedis, startRedis } from "../harness/redis.ts";
import { simulatedFleet } from "./simulatedFleet.ts";

const nothing = () => undefined;
const log: Log = { debug: nothing, info: nothing, warn: nothing, error: nothing };
const keys = async () => ({ key: Buffer.alloc(32, "of-a-test") });
const soon = { timeout: 60_000, interval: 50 };
const MEBIBYTE = 1024 * 1024;

describeReal("a real Redis at its memory limit", ({ redis: command }) => {
  const directory = mkdtempSync(join(tmpdir(), "isthmus-full-"));
  afterAll(() => rmSync(directory, { recursive: true }));
  let count = 0;
  let redis: RealRedis;
  let store: Store;
  let sequence = 0;
  beforeEach(async () => {
    redis = await startRedis(command, join(directory, String(++count)), { password: "admin", user: { name: "mesh", password: "mesh" } });
    store = redisStore(redis.settings, { log, keys });
    await vi.waitFor(() => store.overview("input"), soon);
  });
  afterEach(async () => {
    await store.close();
    await redis.stop();
  });

  /** Lets Redis take so many bytes more than it has. */
  function leave(bytes: number): void {
    redis.cli("config", "set", "maxmemory", String(Number(/used_memory:(\d+)/.exec(redis.cli("info", "memory"))?.[1]) + bytes));
  }

  async function write(clusterName: string, change: Partial<StoreWrite>): Promise<unknown> {
    const partition = { section: "input", clusterName } as const;
    const [head, fence] = await Promise.all([store.head(partition), store.raiseFence(`input/${clusterName}`, "a")]);
    const delta = { erase: [], put: [], remove: [] };
    return store.write({
      partition,
      fence,
      base: head?.version,
      sequence: ++sequence,
      delta,
      complete: true,
      kinds: {},
      meta: {},
      ...change,
    });
  }
  const puts = (key: string, bytes = MEBIBYTE) => ({
    erase: [],
    put: [{ kindKey: "v1/Service", key, text: `"${"x".repeat(bytes)}"` }],
    remove: [],
  });
  const refusal = (change: Promise<unknown>) =>
    change.then(
      () => undefined,
      (error: StoreError) => error,
    );

  const keysOf = (clusterName: string) => keysIn(clusterName, "v1/Service");
  async function keysIn(clusterName: string, kindKey: string): Promise<readonly string[]> {
    const found: string[] = [];
    for await (const page of store.load({ section: "input", clusterName }, kindKey)) found.push(...page.map(({ key }) => key));
    return found.sort();
  }

  it("refuses objects, and changes nothing of what it refuses, in those words", async () => {
    await write("large", { delta: puts("a") });
    const before = await store.head({ section: "input", clusterName: "large" });
    leave(-MEBIBYTE / 2);
    const error = await refusal(
      write("large", { delta: { ...puts("b"), erase: ["v1/Service"], remove: [{ kindKey: "v1/Service", key: "a" }] } }),
    );
    expect(error).toMatchObject({ isFull: true });
    expect(error?.message).toMatch(/^Redis at 127\.0\.0\.1:\d+: it has reached its memory limit \(maxmemory\) and refuses to write$/);
    expect(await keysOf("large")).toEqual(["a"]);
    expect(await store.head({ section: "input", clusterName: "large" })).toEqual(before);
  });

  it("takes what is small, so that one cluster's objects keep nobody else from revoking, leading, following and leaving", async () => {
    await write("large", { delta: puts("a") });
    await store.putRecord("replicas", "a", "1", { ttlMs: 60_000 });
    leave(-MEBIBYTE / 2);
    expect(await refusal(write("large", { delta: puts("b") }))).toMatchObject({ isFull: true });

    await store.putRecord("replicas", "a", "2", { ttlMs: 60_000 });
    expect(await store.putRecord("revocations", "other", "1", { ifAbsent: true })).toBe(true);
    expect(await store.exchangeRecord("revocations", "other", { from: "1", to: "2" })).toBe(true);
    expect([...(await store.records("replicas"))]).toEqual([["a", "2"]]);
    expect((await store.overview("input")).versions.has("large")).toBe(true);
    expect((await store.raiseFence("lead", "b")).number).toBeGreaterThan(0);
    expect(await write("other", { meta: { servedBy: "b" } })).toBe("written");
    expect((await store.head({ section: "input", clusterName: "other" }))?.meta).toEqual({ servedBy: "b" });
    // What makes room is taken, too; then objects are.
    expect(await write("large", { delta: { erase: [], put: [], remove: [{ kindKey: "v1/Service", key: "a" }] } })).toBe("written");
    expect(await write("other", { delta: puts("c", 1_000) })).toBe("written");
  });

  it("says how much of its memory is used, and what it does at its limit", async () => {
    redis.cli("config", "set", "maxmemory", String(64 * MEBIBYTE));
    expect(await store.capacity?.()).toEqual({ usedBytes: expect.any(Number), limitBytes: 64 * MEBIBYTE });
    await write("large", { delta: puts("a", 8 * MEBIBYTE) });
    expect(await store.capacity?.()).toMatchObject({ usedBytes: expect.toSatisfy((bytes: number) => bytes > 8 * MEBIBYTE) });
    redis.cli("config", "set", "maxmemory-policy", "allkeys-lru");
    expect(await store.capacity?.()).toMatchObject({ limitBytes: 64 * MEBIBYTE, evictionPolicy: "allkeys-lru" });
    redis.cli("config", "set", "maxmemory", "0");
    expect(await store.capacity?.()).toEqual({ usedBytes: expect.any(Number) });
  });

  it("is reported to users, with whose state is not written, while other clusters go on and a revocation reaches the others", async () => {
    const fleet = simulatedFleet(log);
    try {
      await fleet.management.create({
        apiVersion: Settings.apiVersion,
        kind: Settings.kind,
        metadata: { name: "settings", namespace: "gloo-mesh" },
      });
      fleet.startServer("a", { store });
      for (const name of ["cluster-1", "cluster-2"]) {
        fleet.route(name, "a");
        fleet.startAgent(name);
      }
      const isWhole = async (name: string) => (await store.head({ section: "input", clusterName: name }))?.complete === true;
      await vi.waitFor(async () => expect([await isWhole("cluster-1"), await isWhole("cluster-2")]).toEqual([true, true]), soon);
      const said = async (condition: string) => {
        const { status } = (await fleet.management.get(Settings, { name: "settings", namespace: "gloo-mesh" })) ?? {};
        const found = status?.conditions?.find(({ type }) => type === condition);
        return `${found?.status} ${found?.reason}: ${found?.message}`;
      };
      const room = () => said("StoreHasRoom");
      await vi.waitFor(async () => expect(await room()).toMatch(/^Unknown NoLimit/), soon);
      leave(-1);
      const large = {
        apiVersion: "v1",
        kind: "Service",
        metadata: { name: "large", namespace: "bookinfo", annotations: { a: "x".repeat(100_000) } },
        spec: { ports: [{ port: 80 }] },
      };
      await fleet.cluster("cluster-1").create(large as Resource);
      await vi.waitFor(async () => expect(await room()).toMatch(/^False Full: Redis is full .*what is reported of cluster-1\b/), soon);
      expect(await room()).not.toContain("cluster-2");
      expect(await said("StoreConnected")).toMatch(/^True /);
      await store.putRecord("revocations", "cluster-9", "1");
      expect(await store.record("revocations", "cluster-9")).toBe("1");
      leave(64 * MEBIBYTE);
      await vi.waitFor(async () => expect(await room()).toMatch(/^True HasRoom/), soon);
      expect(await keysIn("cluster-1", "/Service")).toContain("large.bookinfo.cluster-1");
    } finally {
      await fleet.stop();
    }
  });

  it("that does not permit the question is not known", async () => {
    redis.cli("acl", "setuser", "mesh", "-info");
    expect(await store.capacity?.()).toEqual({ unknown: expect.stringContaining("+info") });
    expect(await store.putRecord("replicas", "a", "1")).toBe(true);
  });
});
