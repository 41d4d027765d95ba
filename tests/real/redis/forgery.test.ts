import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Service } from "@isthmus/api";
import type { Log } from "@isthmus/core";
import type { Store, StoredText, StoreNotice, StorePartition, StoreVersion } from "@isthmus/ports";
import { hashOf, hexOf, plus, ZERO } from "@isthmus/relay/session";
import { readFleet, redisStore, type StoreKeys } from "@isthmus/store";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { describeReal } from "../harness/describeReal.ts";
import { type RealRedis, startRedis } from "../harness/redis.ts";
import { bookinfoMesh, entriesOf, type SimulatedFleet, simulatedFleet, written } from "./simulatedFleet.ts";

const nothing = () => undefined;
const silent: Log = { debug: nothing, info: nothing, warn: nothing, error: nothing };
const soon = { timeout: 60_000, interval: 50 };
const quiet = (ms = 1_000) => new Promise((resolve) => setTimeout(resolve, ms));
const partition = { section: "input", clusterName: "a" } as const;

// Anyone who may write to Redis, and to nothing else: with redis-cli, on the entries of servers that run.
describeReal("who writes to Redis", ({ redis: command }) => {
  let directory: string;
  let redis: RealRedis;
  let fleet: SimulatedFleet;
  let lines: string[];
  const stores: Store[] = [];
  const refused = new Map<string, number>();
  const crashes: unknown[] = [];
  const crash = (error: unknown) => void crashes.push(error);

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), "isthmus-forgery-"));
    redis = await startRedis(command, directory);
    fleet = simulatedFleet(silent);
    lines = [];
    refused.clear();
    crashes.length = 0;
    process.on("uncaughtException", crash);
  });
  afterEach(async () => {
    process.off("uncaughtException", crash);
    await fleet.stop();
    await Promise.all(stores.splice(0).map((store) => store.close()));
    await redis.stop();
    rmSync(directory, { recursive: true });
    expect(crashes).toEqual([]);
  });

  async function connect(given: StoreKeys = { key: Buffer.alloc(32, "the plane's") }, now = Date.now): Promise<Store> {
    const error = (_: object, line: string) => void lines.push(line);
    // No time is promised here, and a busy machine takes seconds to look through what is too large.
    const store = redisStore(
      { ...redis.settings, timeoutMs: soon.timeout },
      {
        keys: async () => given,
        refused: (what) => refused.set(what, (refused.get(what) ?? 0) + 1),
        now,
        log: { ...silent, error },
      },
    );
    stores.push(store);
    await vi.waitFor(() => store.overview("input"), soon);
    return store;
  }

  /** The one key that ends like this. */
  function keyOf(end: string): string {
    return (
      redis
        .cli("--raw", "--scan")
        .split("\n")
        .find((key) => key.endsWith(end)) ?? end
    );
  }

  const channel = () => redis.cli("--raw", "pubsub", "channels").split("\n")[0] ?? "";
  const get = (end: string, field: string) => redis.cli("--raw", "hget", keyOf(end), field);
  const set = (end: string, field: string, value: string) => redis.cli("hset", keyOf(end), field, value);

  async function write(
    store: Store,
    texts: Readonly<Record<string, string>>,
    { at = partition as StorePartition, sequence = 1 } = {},
  ): Promise<StoreVersion> {
    const fence = await store.raiseFence(`input/${at.clusterName}`, "one");
    const base = (await store.head(at))?.version;
    const put = Object.entries(texts).map(([key, text]) => ({ kindKey: "/Service", key, text }));
    const kinds = { "/Service": { count: put.length, digest: "00" } };
    const delta = { erase: [], put, remove: [] };
    expect(await store.write({ partition: at, fence, base, sequence, delta, complete: true, kinds, meta: {} })).toBe("written");
    return { fence: fence.number, sequence };
  }

  async function loaded(store: Store, at: StorePartition = partition): Promise<readonly string[]> {
    const found: StoredText[] = [];
    for await (const page of store.load(at, "/Service")) found.push(...page);
    return found.map(({ key, text }) => `${key} ${text}`).sort();
  }

  async function listen(store: Store): Promise<{ readonly heard: readonly StoreNotice[]; stop(): void }> {
    const heard: StoreNotice[] = [];
    const stop = new AbortController();
    store.subscribe((notice) => heard.push(notice), stop.signal);
    await vi.waitFor(() => expect(heard).toHaveLength(1), soon);
    return { heard, stop: () => stop.abort() };
  }

  it("crashes nobody with whatever is on the channel, and is heard by nobody", async () => {
    const store = await connect();
    const { heard, stop } = await listen(store);
    const messages = [
      "",
      "garbage",
      "null",
      "{}",
      "[[[[",
      `${"[".repeat(50_000)}${"]".repeat(50_000)}`,
      `["written"]`,
      `["written","input/a","9","input","a","","9.1","{","x","all","1e9","1e9","1e9"]`,
      `["cleared","input/a","9007199254740991","input","a"]`,
      `["raised","input/a","9007199254740991","evil"]`,
      "A".repeat(22),
      `${"A".repeat(22)}999999999999:x`,
    ];
    for (const message of messages) redis.cli("publish", channel(), message);
    await vi.waitFor(() => expect(refused.get("notice")).toBe(messages.length), soon);
    expect(heard).toEqual([{ type: "missed" }]);
    expect(lines).toHaveLength(1);
    await write(store, { web: "{}" });
    await vi.waitFor(() => expect(heard.at(-1)?.type).toBe("written"), soon);
    stop();
  });

  it("cannot send a notice of ours once more", async () => {
    const store = await connect();
    const { heard, stop } = await listen(store);
    const recorded = await recordMessages(command, redis, channel());
    await store.putRecord("revocations", "a", "1");
    await write(store, { web: "{}" });
    await vi.waitFor(() => expect(recorded.messages()).toHaveLength(3), soon);
    // Who records them may have them before the one that they are for: each is heard once, after what was missed at the beginning.
    const before = 1 + recorded.messages().length;
    await vi.waitFor(() => expect(heard).toHaveLength(before), soon);
    for (const message of recorded.messages()) redis.cli("publish", channel(), message);
    await vi.waitFor(() => expect(refused.get("notice")).toBe(3), soon);
    expect(heard).toHaveLength(before);
    recorded.stop();
    stop();
  });

  it("cannot change, add or move an object, a head, a version or a record: each counts as absent", async () => {
    const store = await connect();
    await write(store, { web: `{"said":1}`, db: `{"said":2}` });
    await write(store, { other: `{"said":3}` }, { at: { section: "input", clusterName: "b" } });
    const [web, db] = ["web", "db"].map((key) => get(":input:objects:a:/Service", key));
    set(":input:objects:a:/Service", "web", (web ?? "").replace("1", "666"));
    set(":input:objects:a:/Service", "new", `{"said":666}`);
    set(":input:objects:a:/Service", "moved", db ?? "");
    set(":input:objects:a:/Service", "huge", "x".repeat(100_000));
    redis.cli("hset", `${keyOf(":input:objects:a:/Service").replace("/Service", "")}/Secret`, "db", db ?? "");
    expect(await loaded(store)).toEqual([`db {"said":2}`]);

    await store.putRecord("revocations", "a", "1");
    const record = redis.cli("--raw", "get", keyOf(":record:revocations:a"));
    redis.cli("set", keyOf(":record:revocations:a").replace(/a$/, "b"), record);
    redis.cli("sadd", keyOf(":records:revocations"), "b");
    redis.cli("set", keyOf(":record:revocations:a"), record.replace(/1$/, "0"));
    expect([...(await store.records("revocations"))]).toEqual([]);
    expect(await store.exchangeRecord("revocations", "a", { from: undefined, to: "1" })).toBe(true);
    expect(await store.record("revocations", "a")).toBe("1");

    const head = get(":input:heads", "a");
    set(":input:heads", "a", head.replace('"complete":true', '"complete":false'));
    expect(await store.head(partition)).toBeUndefined();
    set(":input:heads", "a", get(":input:heads", "b"));
    expect(await store.head(partition)).toBeUndefined();
    set(":input:versions", "a", "9007199254740991.9");
    expect((await store.overview("input")).versions.has("a")).toBe(false);
    expect([...refused.keys()].sort()).toEqual(["head", "object", "record", "version"]);

    // The one who has the right to write puts it in order.
    await write(store, { web: `{"said":1}` }, { sequence: 2 });
    expect((await store.head(partition))?.complete).toBe(true);
  });

  it("has nobody read what is larger than servers write", async () => {
    const store = await connect();
    await write(store, { web: "{}", db: "{}" });
    await store.putRecord("revocations", "a", "1");
    const fill = (bytes: number, field: string, ...keys: string[]) => {
      for (const key of keys)
        redis.cli("eval", "redis.call('HSET', KEYS[1], ARGV[1], string.rep('x', ARGV[2]))", "1", key, field, String(bytes));
    };
    fill(64 * 1_024 * 1_024, "db", keyOf(":input:objects:a:/Service"));
    for (let i = 0; i < 12; i++) fill(3 * 1_024 * 1_024, `pad-${i}`, keyOf(":input:objects:a:/Service"));
    fill(64 * 1_024 * 1_024, "a", keyOf(":input:heads"));
    fill(64 * 1_024 * 1_024, "b", keyOf(":input:versions"));
    fill(64 * 1_024 * 1_024, "input/a", keyOf(":fences"));
    redis.cli("eval", "redis.call('SET', KEYS[1], string.rep('x', 67108864))", "1", keyOf(":record:revocations:a"));
    redis.cli("eval", "redis.call('SET', KEYS[1], string.rep('x', 67108864))", "1", keyOf("2:id"));
    const before = Number(/total_net_output_bytes:(\d+)/.exec(redis.cli("info", "stats"))?.[1]);
    expect(await loaded(store)).toEqual(["web {}"]);
    expect(await store.head(partition)).toBeUndefined();
    expect([...(await store.overview("input")).versions.keys()]).toEqual(["a"]);
    expect(await store.record("revocations", "a")).toBeUndefined();
    expect([...(await store.records("revocations"))]).toEqual([]);
    const sent = Number(/total_net_output_bytes:(\d+)/.exec(redis.cli("info", "stats"))?.[1]) - before;
    expect(sent).toBeLessThan(48 * 1_024 * 1_024);
    expect((await store.raiseFence("input/a", "two")).number).toBeLessThan(Date.now() + 60_000);
  });

  it("as a server of the older format neither disturbs this one nor is disturbed", async () => {
    const old = { "gloo-mesh:fences": "input/a", "gloo-mesh:input:versions": "a", "gloo-mesh:input:heads": "a" };
    for (const [key, field] of Object.entries(old)) redis.cli("hset", key, field, "7.1");
    redis.cli("hset", "gloo-mesh:input:objects:a:/Service", "web", "{}");
    const store = await connect();
    const { heard, stop } = await listen(store);
    expect((await store.overview("input")).versions.size).toBe(0);
    expect(await loaded(store)).toEqual([]);
    redis.cli("publish", "gloo-mesh:changes", "of the older format");
    await write(store, { web: `{"said":1}` });
    await vi.waitFor(() => expect(heard.at(-1)?.type).toBe("written"), soon);
    expect([...refused]).toEqual([]);
    for (const [key, field] of Object.entries(old)) expect(redis.cli("--raw", "hget", key, field)).toBe("7.1");
    expect(redis.cli("--raw", "hgetall", "gloo-mesh:input:objects:a:/Service")).toBe("web\n{}");
    stop();
  });

  it("cannot take an object away or put an old one back, unnoticed by a reader", async () => {
    const server = fleet;
    server.startServer("a", { store: await connect() });
    server.route("cluster-1", "a");
    server.startAgent("cluster-1");
    const reader = await connect();
    const services = async () => {
      const cluster = (await readFleet(reader, "input")).find(({ clusterName }) => clusterName === "cluster-1");
      const found: string[] = [];
      for await (const page of cluster?.objects("/Service") ?? []) found.push(...page.map(({ metadata }) => metadata.name));
      return found;
    };
    await vi.waitFor(async () => expect(await services()).toContain("details"), soon);
    const [objects, name] = [keyOf(":input:objects:cluster-1:/Service"), "details.bookinfo.cluster-1"];
    const signed = redis.cli("--raw", "hget", objects, name);
    expect(signed).toContain("details");
    await fleet.cluster("cluster-1").delete({ ...Service, name: "details", namespace: "bookinfo", clusterName: "cluster-1" });
    await vi.waitFor(async () => expect(await services()).not.toContain("details"), soon);
    await fleet.stopAgent("cluster-1");
    await fleet.stopServer("a");
    const before = await services();
    redis.cli("hset", objects, name, signed);
    await expect(services()).rejects.toThrow(/do not match the head in the store/);
    redis.cli("hdel", objects, name);
    expect(await services()).toEqual(before);
    redis.cli("hdel", objects, redis.cli("--raw", "hkeys", objects).split("\n")[0] ?? "");
    await expect(services()).rejects.toThrow(/do not match the head in the store/);
  });

  it("cannot raise a fence that servers take for theirs, nor keep them from writing", async () => {
    const store = await connect();
    const first = await write(store, { web: "{}" });
    for (const forged of ["9007199254740991", "1e308", "garbage", "inf", "-1", "x".repeat(100_000)]) {
      set(":fences", "input/a", forged);
      const fence = await store.raiseFence("input/a", "two");
      expect(fence.number).toBeLessThan(Date.now() + 60_000);
      expect(fence.number).toBeGreaterThanOrEqual(first.fence);
    }
    const fence = await store.raiseFence("input/a", "two");
    set(":fences", "input/a", "9007199254740991");
    const delta = { erase: [], put: [], remove: [] };
    const next = { partition, fence, base: first, sequence: 1, delta, complete: true, kinds: {}, meta: {} };
    expect(await store.write(next)).toBe("written");
    redis.cli("del", keyOf(":fences"));
    redis.cli("set", keyOf(":fences"), "of another type");
    redis.cli("del", keyOf(":input:heads"));
    redis.cli("set", keyOf(":input:heads"), "of another type");
    expect(await store.write({ ...next, base: { fence: fence.number, sequence: 1 }, sequence: 2 })).toBe("written");
    redis.cli("del", keyOf(":input:versions"));
    redis.cli("set", keyOf(":input:versions"), "of another type");
    expect(await store.write({ ...next, base: { fence: fence.number, sequence: 2 }, sequence: 3 })).toBe("changed");
    expect(await store.write({ ...next, base: undefined, sequence: 4 })).toBe("written");
  });

  it("configures no mesh with a forged input, and what is forged is written again by the server that has the agent", async () => {
    const owner = await connect();
    fleet.startServer("a", { store: owner });
    fleet.startServer("b", { store: await connect(), leadership: { isLeader: false, fence: 1, onChange: () => () => undefined } });
    fleet.route("cluster-1", "a");
    fleet.route("cluster-2", "a");
    fleet.startAgent("cluster-1");
    fleet.startAgent("cluster-2");
    await fleet.management.create(bookinfoMesh);
    await vi.waitFor(() => expect(entriesOf(fleet.cluster("cluster-1"))).toContain("reviews.bookinfo.svc.cluster-2.global"), soon);
    await vi.waitFor(() => expect(fleet.server("b").store.clusters.get("cluster-2")?.phase).toBe("synced"), soon);
    await quiet();
    const before = written(fleet.cluster("cluster-1"));
    await fleet.stopAgent("cluster-2");
    await fleet.stopServer("b");
    await quiet();
    forgeService();

    // It starts with nothing but Redis to learn from, and cluster-1's agent comes to it.
    fleet.startServer("c", { store: await connect() });
    fleet.route("cluster-1", "c");
    await fleet.stopAgent("cluster-1");
    fleet.startAgent("cluster-1");
    await vi.waitFor(
      () => expect(fleet.server("c").store.clusters.get("cluster-1")).toMatchObject({ phase: "synced", isServed: true }),
      soon,
    );
    await vi.waitFor(() => expect(fleet.server("c").store.clusters.get("cluster-2")?.phase).toBe("stale"), soon);
    await quiet(2_000);
    expect(entriesOf(fleet.cluster("cluster-1")).filter((name) => name.includes("evil"))).toEqual([]);
    expect(written(fleet.cluster("cluster-1"))).toEqual(before);
    expect(JSON.stringify([...fleet.server("c").store.snapshot.of(Service)])).not.toContain("evil");
    expect(await loaded(owner, { section: "input", clusterName: "cluster-2" })).not.toContain("evil");
    expect(redis.cli("--raw", "hvals", keyOf(":input:objects:cluster-2:/Service"))).not.toContain("evil");
  });

  it("shows no insight that it has changed, added, taken away or moved, and the leader writes them again", async () => {
    const follower = { isLeader: false, fence: 1, onChange: () => () => undefined };
    fleet.startServer("a", { store: await connect() });
    fleet.route("cluster-1", "a");
    fleet.startAgent("cluster-1");
    const everywhere = { apiVersion: "networking.istio.io/v1", kind: "VirtualService", spec: { hosts: ["reviews"] } };
    for (const name of ["one", "two"])
      await fleet.cluster("cluster-1").create({ ...everywhere, metadata: { name, namespace: "bookinfo" } } as never);
    const told = async (server: string) =>
      [...((await fleet.server(server).insights())?.objects ?? [])]
        .filter(({ object }) => object.kind === "VirtualService")
        .map(({ object, insights }) => `${object.name} ${insights.map(({ insight }) => insight.message).join()}`);
    await vi.waitFor(async () => expect(await told("a")).toHaveLength(2), soon);
    const right = await told("a");
    const kind = ":insights:objects::networking.istio.io/VirtualService";
    await vi.waitFor(() => expect(get(kind, "two.bookinfo.cluster-1")).toContain("BP0001"), soon);
    const [one, two] = ["one", "two"].map((name) => get(kind, `${name}.bookinfo.cluster-1`));
    const forgeries: readonly (() => unknown)[] = [
      () => set(kind, "one.bookinfo.cluster-1", (one ?? "").replace("BP0001", "BP0009")),
      () => redis.cli("hdel", keyOf(kind), "one.bookinfo.cluster-1"),
      () => set(kind, "three.bookinfo.cluster-1", one ?? ""),
      () => set(kind, "one.bookinfo.cluster-1", two ?? ""),
    ];
    for (const [i, forge] of forgeries.entries()) {
      forge();
      const name = `reader-${i}`;
      fleet.startServer(name, { store: await connect(), leadership: follower });
      const seen = new Set<string>();
      await vi.waitFor(async () => {
        const now = await told(name);
        seen.add(now.join("; "));
        expect(now).toEqual(right);
      }, soon);
      // Absent, or as it was found: nothing else is ever shown.
      expect(["", right.join("; ")]).toEqual(expect.arrayContaining([...seen]));
      await fleet.stopServer(name);
    }
  });

  /** A Service of cluster-2 under a new name, with a head that says so as far as one without the key can. */
  function forgeService(): void {
    const key = keyOf(":input:objects:cluster-2:/Service");
    const name = redis
      .cli("--raw", "hkeys", key)
      .split("\n")
      .find((field) => field.startsWith("reviews."));
    redis.cli("hset", key, name ?? "", redis.cli("--raw", "hget", key, name ?? "").replaceAll(`"app":"reviews"`, `"app":"evil"`));
    const forged = redis.cli("--raw", "hget", key, name ?? "").replaceAll("reviews", "evil");
    redis.cli("hset", key, (name ?? "").replace("reviews", "evil"), forged);
    const flat = redis.cli("--raw", "hgetall", key).split("\n");
    let [count, sum] = [0, ZERO];
    for (let i = 0; i + 1 < flat.length; i += 2) {
      const text = flat[i + 1] ?? "";
      [count, sum] = [count + 1, plus(sum, hashOf(flat[i] ?? "", text.slice(text.indexOf("{"))))];
    }
    const head = get(":input:heads", "cluster-2");
    const said = JSON.stringify({ count, digest: hexOf(sum) });
    set(":input:heads", "cluster-2", head.replace(/("\/Service":)\{[^}]*\}/, `$1${said}`));
  }

  it("cannot restore an older state of a cluster for a server that knows a newer one", async () => {
    fleet.startServer("a", { store: await connect() });
    fleet.startServer("b", { store: await connect(), leadership: { isLeader: false, fence: 1, onChange: () => () => undefined } });
    fleet.route("cluster-2", "a");
    fleet.startAgent("cluster-2");
    const services = () => [...fleet.server("b").store.snapshot.of(Service)].map(({ metadata }) => metadata.name);
    await vi.waitFor(() => expect(services()).toContain("reviews"), soon);
    await quiet();
    const keys = redis
      .cli("--raw", "--scan")
      .split("\n")
      .filter((key) => key.includes("input") && redis.cli("type", key) === "hash");
    for (const key of keys) redis.cli("copy", key, `backup ${key}`);
    await fleet.cluster("cluster-2").delete({ ...Service, name: "reviews", namespace: "bookinfo", clusterName: "cluster-2" });
    await vi.waitFor(() => expect(services()).not.toContain("reviews"), soon);
    await fleet.stopAgent("cluster-2");
    await quiet();
    await fleet.stopServer("a");
    for (const key of keys) redis.cli("copy", `backup ${key}`, key, "replace");
    await quiet(7_000);
    expect(services()).not.toContain("reviews");
  });

  it("cannot end a revocation, nor make one", async () => {
    const store = await connect();
    await store.putRecord("revocations", "a", "1000");
    const older = redis.cli("--raw", "get", keyOf(":record:revocations:a"));
    redis.cli("set", keyOf(":record:revocations:a"), older.replace(/1000$/, "1"));
    expect(await store.record("revocations", "a")).toBeUndefined();
    redis.cli("set", `${keyOf(":record:revocations:a").replace(/a$/, "")}victim`, "8640000000000000");
    redis.cli("sadd", keyOf(":records:revocations"), "victim");
    expect([...(await store.records("revocations")).keys()]).toEqual([]);
  });

  it("cannot make a record last longer than its writer said, apart from what clocks may differ", async () => {
    let time = Date.now();
    const store = await connect(undefined, () => time);
    await store.putRecord("tokens", "a", "once", { ttlMs: 60_000 });
    redis.cli("persist", keyOf(":record:tokens:a"));
    time += 60_000 + 600_000 - 1;
    expect(await store.record("tokens", "a")).toBe("once");
    time += 1;
    expect(await store.record("tokens", "a")).toBeUndefined();
    expect([...(await store.records("tokens"))]).toEqual([]);
    expect(await store.exchangeRecord("tokens", "a", { from: "once", to: "again" })).toBe(false);
    expect(await store.putRecord("tokens", "a", "new", { ifAbsent: true })).toBe(true);
    expect([...refused]).toEqual([]);
  });

  it("finds nothing in a Redis that is not used, as the key cannot be read; it is used once that can", async () => {
    let answers = false;
    const key = Buffer.alloc(32, "late");
    const keys = async () => (answers ? { key } : Promise.reject(new Error("Secret relay-store-key-secret cannot be read")));
    const store = redisStore(redis.settings, { keys, log: silent });
    stores.push(store);
    let missed = 0;
    store.subscribe(() => missed++, new AbortController().signal);
    // What was not read is not absent: each of them fails.
    for (const call of [
      () => store.overview("input"),
      () => store.head(partition),
      () => store.record("a", "b"),
      () => store.records("a"),
      () => store.putRecord("a", "b", "c"),
      () => store.putRecord("a", "b", "c", { ifAbsent: true }),
      () => store.removeRecord("a", "b"),
      () => store.exchangeRecord("a", "b", { from: "c", to: undefined }),
    ])
      await expect(call()).rejects.toThrow(/is not used: Secret relay-store-key-secret cannot be read/);
    expect(redis.cli("--raw", "--scan")).toBe("");
    answers = true;
    await vi.waitFor(() => store.overview("input"), soon);
    await vi.waitFor(() => expect(missed).toBe(1), soon);
  });

  it("has nothing from a key that is not the plane's, and a key that follows another is accepted with it", async () => {
    const [old, next] = [Buffer.alloc(32, "old"), Buffer.alloc(32, "next")];
    await write(await connect({ key: old }), { web: "{}" });
    expect(await loaded(await connect({ key: next }))).toEqual([]);
    expect(await loaded(await connect({ key: next, previous: old }))).toEqual(["web {}"]);
    expect((await (await connect({ key: next, previous: old })).head(partition))?.complete).toBe(true);
  });
});

/** What is published from now on. */
async function recordMessages(
  command: string,
  redis: RealRedis,
  channel: string,
): Promise<{ messages(): readonly string[]; stop(): void }> {
  const { spawn } = await import("node:child_process");
  const cli = spawn("redis-cli", ["-p", String(redis.settings.port), "--raw", "subscribe", channel], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  expect(command).not.toBe("");
  let text = "";
  cli.stdout.setEncoding("utf8").on("data", (more: string) => {
    text += more;
  });
  await vi.waitFor(() => expect(text).toContain("subscribe\n"), soon);
  return {
    messages: () =>
      text
        .split(`message\n${channel}\n`)
        .slice(1)
        .map((message) => message.replace(/\n$/, "")),
    stop: () => void cli.kill(),
  };
}
