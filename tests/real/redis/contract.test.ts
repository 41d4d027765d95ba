import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Log } from "@isthmus/core";
import { type Store, StoreError, type StoreWriteOutcome } from "@isthmus/ports";
import { redisStore } from "@isthmus/store";
import { storeContract } from "@isthmus/testing";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { describeReal } from "../harness/describeReal.ts";
import { type RealRedis, type RedisVariant, startRedis } from "../harness/redis.ts";

const lines: string[] = [];
const note = (fields: object, message: string) => void lines.push(`${JSON.stringify(fields)} ${message}`);
const log: Log = { debug: note, info: note, warn: note, error: note };
const keys = async () => ({ key: Buffer.alloc(32, "of-a-test") });
const soon = { timeout: 60_000, interval: 50 };

async function reached(store: Store): Promise<Store> {
  await vi.waitFor(() => store.overview("input"), soon);
  return store;
}

describeReal("a real Redis", ({ redis: command }) => {
  const directory = mkdtempSync(join(tmpdir(), "isthmus-redis-"));
  afterAll(() => rmSync(directory, { recursive: true }));
  let count = 0;
  const start = (variant?: RedisVariant) => startRedis(command, join(directory, String(++count)), variant);

  const variants: Readonly<Record<string, RedisVariant>> = {
    "the store in Redis": {},
    "the store in Redis with a password": { password: "pass word'\"" },
    "the store in Redis over TLS, for a user of its own": {
      tls: true,
      password: "admin",
      user: { name: "mesh", password: "s3cret-of-mesh" },
    },
  };
  for (const [name, variant] of Object.entries(variants)) {
    storeContract(name, async () => {
      const redis = await start(variant);
      const [store, other] = [redisStore(redis.settings, { log, keys }), redisStore(redis.settings, { log, keys })];
      await Promise.all([reached(store), reached(other)]);
      return {
        store,
        other,
        async stop() {
          await Promise.all([store.close(), other.close()]);
          await redis.stop();
        },
      };
    });
  }

  it("is sent each script once, and runs it by its hash then, also when it has lost it", async () => {
    const redis = await start();
    const store = await reached(redisStore(redis.settings, { log, keys }));
    const sent = () => Number(/cmdstat_eval:calls=(\d+)/.exec(redis.cli("info", "commandstats"))?.[1] ?? 0);
    const before = sent();
    for (let i = 0; i < 5; i++) await store.putRecord("tokens", "x", String(i));
    expect(sent()).toBe(before + 1);
    redis.cli("script", "flush");
    for (let i = 0; i < 5; i++) await store.putRecord("tokens", "x", String(i));
    expect(sent()).toBe(before + 2);
    await store.close();
    await redis.stop();
  });

  describe("that fails", () => {
    let redis: RealRedis;
    let store: Store;
    beforeAll(async () => {
      redis = await start({ persistent: true, password: "hunter2-canary" });
      store = await reached(redisStore({ ...redis.settings, timeoutMs: 300 }, { log, keys }));
    });
    afterAll(async () => {
      await store.close();
      await redis.stop();
    });

    async function write(clusterName: string): Promise<StoreWriteOutcome> {
      const partition = { section: "input", clusterName } as const;
      const fence = await store.raiseFence(`input/${clusterName}`, "one");
      const base = (await store.head(partition))?.version;
      const put = [{ kindKey: "/Service", key: "web.shop.a", text: "{}" }];
      return store.write({
        partition,
        fence,
        base,
        sequence: 1,
        delta: { erase: [], put, remove: [] },
        complete: true,
        kinds: {},
        meta: {},
      });
    }

    it("keeps what it holds through a restart, and tells that notices were missed", async () => {
      await write("kept");
      const { id } = await store.overview("input");
      const fence = await store.raiseFence("kept", "one");
      let missed = 0;
      const stop = new AbortController();
      store.subscribe(({ type }) => {
        if (type === "missed") missed++;
      }, stop.signal);
      await vi.waitFor(() => expect(missed).toBe(1), soon);
      await redis.stop();
      await expect(store.overview("input")).rejects.toThrow(StoreError);
      await redis.start();
      await reached(store);
      await vi.waitFor(() => expect(missed).toBe(2), soon);
      expect((await store.overview("input")).id).toBe(id);
      expect((await store.overview("input")).versions.has("kept")).toBe(true);
      expect((await store.raiseFence("kept", "two")).number).toBeGreaterThan(fence.number);
      stop.abort();
    });

    it("gives another id and still higher fences when it was emptied", async () => {
      const { id } = await store.overview("input");
      const fence = await store.raiseFence("emptied", "one");
      redis.cli("FLUSHALL");
      const after = await store.overview("input");
      expect(after.id).not.toBe(id);
      expect(after.versions.size).toBe(0);
      expect((await store.raiseFence("emptied", "two")).number).toBeGreaterThan(fence.number);
      await redis.restartEmpty();
      await reached(store);
      expect((await store.overview("input")).id).not.toBe(after.id);
      expect((await store.raiseFence("emptied", "two")).number).toBeGreaterThan(fence.number);
    });

    it("rejects in time when it is slow, and continues afterwards", async () => {
      redis.cli("CLIENT", "PAUSE", "1500", "ALL");
      await expect(store.overview("input")).rejects.toThrow(StoreError);
      await expect(write("slow")).rejects.toThrow(StoreError);
      await vi.waitFor(async () => expect(await write("slow")).toBe("written"), soon);
    });

    it("never tells its password, nor when it is wrong", async () => {
      const wrong = redisStore({ ...redis.settings, password: "wrong-canary" }, { log, keys });
      const said = await wrong.overview("input").catch(String);
      await vi.waitFor(() => expect(lines.join("\n")).toMatch(/WRONGPASS/), soon);
      await wrong.close();
      expect(lines.join("\n") + said).not.toMatch(/canary|s3cret-of-mesh|pass word/);
    });
  });
});
